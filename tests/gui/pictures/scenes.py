"""The scenes of the README's pictures: how each is set up, and which widget it shows."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from unittest.mock import patch

from PySide6.QtWidgets import QApplication, QWidget

from app.conversation.events import ConsentAsked, LevelMeasured
from app.demo.base import DemoOrder
from app.gui.demo.course import Step
from app.gui.design.theme import apply_theme
from app.session.control import Style, ToolChoice
from tests.gui.helpers import until
from tests.gui.pictures.scripted_window import NOW, OLLAMA, ScriptedWindow, add_session, scripted_window
from tests.gui.pictures.scripts import heat_pump, heat_pump_again, leaves, measured, side_by_side, trouble
from tests.gui.pictures.timeline import talk as swap
from tests.support.demo_talk import ScriptedDemoService

LEAVES = {"provider": "anthropic", "anthropic_model": "claude-haiku-4-5", "frontend": "kame"}
GEMMA = {"provider": "ollama", "ollama_model": "gemma3:4b", "ollama_url": OLLAMA}


@dataclass(frozen=True)
class Scene:
    """`play` sets the scene up and returns the widget to show. `size`: the window's, in pixels."""

    name: str
    play: Callable[[ScriptedWindow], Awaitable[QWidget]]
    size: tuple[int, int] = (1280, 860)
    dark: bool = False
    settings: dict[str, object] = field(default_factory=dict)
    forget: str = ""
    first: bool = False

    @asynccontextmanager
    async def opened(
        self, *, dark: bool | None = None, percent: int = 100, size: tuple[int, int] | None = None
    ) -> AsyncIterator[QWidget]:
        """Opens the scene in its own theme and size or the given ones; `percent` is the size of text."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme = "dark" if (self.dark if dark is None else dark) else "light"
        apply_theme(app, theme, percent)  # as the app itself does before there is a window
        values = {**self.settings, "theme": theme, "font_scale": percent}
        async with scripted_window(size or self.size, forget=self.forget, first=self.first, **values) as scripted:
            widget = await self.play(scripted)
            await scripted.settle()
            yield widget


async def _talk(scripted: ScriptedWindow) -> QWidget:
    scripted.window.panes.show_oracle()
    scripted.set_title("Why leaves turn red")
    scripted.play(leaves())
    return scripted.window


async def _thoughts(scripted: ScriptedWindow) -> QWidget:
    scripted.window.oracle.header.earlier.setChecked(True)
    scripted.window.oracle.header.details.setChecked(True)
    return await _talk(scripted)


async def _consent(scripted: ScriptedWindow) -> QWidget:
    mail = {"to": "anna@example.org", "subject": "Leaves", "text": "They turn red.\nSee you on Sunday,\nJo"}
    scripted.play([*leaves(), ConsentAsked(30.0, 9, 1, ("mail__send_message",), (json.dumps(mail),), ("changes",))])
    return scripted.window


async def _empty(scripted: ScriptedWindow) -> QWidget:
    return scripted.window


async def _models(scripted: ScriptedWindow) -> QWidget:
    await _talk(scripted)
    scripted.window.top_bar.pill.click()
    return scripted.window


async def _devices(scripted: ScriptedWindow) -> QWidget:
    await _talk(scripted)
    scripted.window.dock.devices_button.click()
    return scripted.window


async def _side_by_side(scripted: ScriptedWindow) -> QWidget:
    scripted.set_title("Days until March")
    scripted.window.dialogs.conversation_set.emit(
        Style("", None, "short"), ToolChoice(("calculator", "clock")), 0.25, False
    )
    scripted.play(side_by_side(10.2))
    return scripted.window


async def _swap(scripted: ScriptedWindow) -> QWidget:
    scripted.window.panes.inspector_action.setChecked(True)
    scripted.play([event for event in swap() if event.at <= 13.6])
    scripted.window.inspector.timeline.view.zoom(0.62)
    return scripted.window.inspector.timeline


async def _trouble(scripted: ScriptedWindow) -> QWidget:
    scripted.set_title("Bread without kneading")
    scripted.play(trouble())
    return scripted.window


async def _conversations(scripted: ScriptedWindow) -> QWidget:
    window, title = scripted.window, "How a heat pump works"
    add_session(scripted.history, title, heat_pump())
    window.conversations.opened.emit(title)
    await until(lambda: len(scripted.factory.sessions) == 2 and window.manager.session is not None)
    await until(lambda: window.model.talk.phase == "running")
    scripted.play(heat_pump_again())
    window.conversations.search.setText("pump")
    await until(lambda: sum(row.view is not None for row in window.conversations.list.rows) == 3)
    return window


async def _latency(scripted: ScriptedWindow) -> QWidget:
    scripted.play(measured())
    window = scripted.window
    window.inspector.open_latency()
    window.panes.rows.setSizes([window.height() // 2, window.height() // 2])
    return window


def _settings_at(key: str) -> Callable[[ScriptedWindow], Awaitable[QWidget]]:
    async def play(scripted: ScriptedWindow) -> QWidget:
        scripted.window.panels.open_settings(key)
        assert scripted.window.panels.settings is not None
        return scripted.window.panels.settings

    return play


async def _palette(scripted: ScriptedWindow) -> QWidget:
    await _talk(scripted)
    scripted.window.quick.palette.open()
    return scripted.window


async def _keys(scripted: ScriptedWindow) -> QWidget:
    scripted.window.quick.open_sheet()
    assert scripted.window.quick.sheet is not None
    return scripted.window.quick.sheet


async def _about(scripted: ScriptedWindow) -> QWidget:
    scripted.window.panels.open_about()
    assert scripted.window.panels.about is not None
    return scripted.window.panels.about


async def _inspector(scripted: ScriptedWindow) -> QWidget:
    scripted.window.panes.inspector_action.setChecked(True)
    return await _talk(scripted)


async def _mini(scripted: ScriptedWindow) -> QWidget:
    await _talk(scripted)
    scripted.window.mini_mode.toggle()
    assert scripted.window.mini_mode.mini is not None
    return scripted.window.mini_mode.mini


def _demo_at(step: Step, seconds: float) -> Callable[[ScriptedWindow], Awaitable[QWidget]]:
    """The demo, so many seconds after this step began."""

    async def play(scripted: ScriptedWindow) -> QWidget:
        demo, clock = scripted.window.demo, scripted.clock
        assert demo is not None
        service = demo._service
        assert isinstance(service, ScriptedDemoService)
        with patch("app.demo.record.SETTLE_SECONDS", 0.0):
            await service.ship()
            demo.clock = clock
            demo.begin(DemoOrder(full=False, aloud=False))
            course = demo.course
            assert course is not None and demo.screen is not None
            demo.screen.resize(scripted.window.size())
            await until(lambda: len(course.pairs) == len(service.questions))
            course.pairs = [replace(pair, began=NOW.timestamp()) for pair in course.pairs]
            for _ in range(20):
                if course.step == step:
                    break
                course.next()
                await asyncio.sleep(0.001)
            for _ in range(round(seconds / 0.04)):
                clock.now += 0.04
                course.tick()
            course._timer.stop()
            course.tick()
            return demo.screen

    return play


async def _first_use(scripted: ScriptedWindow) -> QWidget:
    start = scripted.window.first_start
    assert start is not None and start.cards is not None
    await scripted.settle()
    for frame in range(20):
        scripted.play([LevelMeasured(0.08 * frame, -22.0, -120.0, 0.0, False)])
    return scripted.window


async def _compare(scripted: ScriptedWindow) -> QWidget:
    scripted.window.commands["compare"].trigger()
    question = scripted.window.dialogs.question
    assert question is not None
    await scripted.settle()
    return question


def _models_at(place: str) -> Callable[[ScriptedWindow], Awaitable[QWidget]]:
    async def play(scripted: ScriptedWindow) -> QWidget:
        scripted.window.dialogs.open_models(place)
        dialog = scripted.window.dialogs.models
        machine = dialog.machine
        if place == "machine":
            await until(lambda: machine is not None and machine.view is not None)
        await scripted.settle()
        return dialog

    return play


SCENES = (
    Scene("talk", _talk, settings=LEAVES, forget="Why leaves turn red"),
    Scene("talk-dark", _talk, dark=True, settings=LEAVES, forget="Why leaves turn red"),
    Scene("consent", _consent, (900, 600), settings=LEAVES),
    Scene("empty", _empty, settings=LEAVES),
    Scene("models", _models, settings=LEAVES, forget="Why leaves turn red"),
    Scene("devices", _devices, settings=LEAVES, forget="Why leaves turn red"),
    Scene("thoughts", _thoughts, settings=LEAVES, forget="Why leaves turn red"),
    Scene("side-by-side", _side_by_side, (1440, 860), settings=LEAVES),
    Scene("swap", _swap, (1280, 980)),
    Scene("conversations", _conversations, settings=GEMMA),
    Scene("trouble", _trouble, settings=GEMMA, forget="Bread without kneading"),
    Scene("latency", _latency, settings=LEAVES),
    Scene("settings", _settings_at("echo_cancellation"), settings=LEAVES),
    Scene("settings-general", _settings_at("theme"), settings=LEAVES),
    Scene("settings-voice", _settings_at("voice"), settings=LEAVES),
    Scene("settings-models", _settings_at("persona"), settings=LEAVES),
    Scene("settings-privacy", _settings_at("keep_history"), settings=LEAVES),
    Scene("settings-advanced", _settings_at("precision"), settings=LEAVES),
    Scene("palette", _palette, settings=LEAVES, forget="Why leaves turn red"),
    Scene("keys", _keys, settings=LEAVES),
    Scene("about", _about, settings=LEAVES),
    Scene("inspector", _inspector, settings=LEAVES, forget="Why leaves turn red"),
    Scene("mini", _mini, (360, 156), settings=LEAVES, forget="Why leaves turn red"),
    Scene("demo-start", _demo_at("start", 3.0), settings=GEMMA),
    Scene("demo", _demo_at("watch", 4.4), settings=GEMMA),
    Scene("demo-ask", _demo_at("ask", 1.0), settings=GEMMA),
    Scene("demo-figures", _demo_at("figures", 1.0), settings=GEMMA),
    Scene("first-use", _first_use, (1100, 720), first=True),
    Scene("models-here", _models_at("embedded")),
    Scene("models-server", _models_at("anthropic")),
    Scene("models-machine", _models_at("machine")),
    Scene("compare", _compare, settings=LEAVES, forget="Why leaves turn red"),
    Scene("small", _talk, (900, 600), settings=LEAVES, forget="Why leaves turn red"),
    Scene("large", _talk, (2560, 1440), settings=LEAVES, forget="Why leaves turn red"),
)


def scene(name: str) -> Scene:
    """Returns the scene with this name."""
    return next(scene for scene in SCENES if scene.name == name)
