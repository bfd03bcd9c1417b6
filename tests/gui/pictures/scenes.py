"""The scenes of the README's pictures, by name: what is set up, and which widget the picture is of."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from PySide6.QtWidgets import QApplication, QWidget

from app.gui.widgets.theme import apply_theme
from app.session.control import Style, ToolChoice
from tests.gui.helpers import until
from tests.gui.pictures.stage import OLLAMA, Stage, keep_talk, stage
from tests.gui.pictures.talks import heat_pump, heat_pump_again, leaves, measured, side_by_side, trouble
from tests.gui.pictures.timeline import talk as swap

LEAVES = {"provider": "anthropic", "anthropic_model": "claude-haiku-4-5", "frontend": "kame"}
GEMMA = {"provider": "ollama", "ollama_model": "gemma3:4b", "ollama_url": OLLAMA}


@dataclass(frozen=True)
class Scene:
    """`play` brings the window into the scene, and returns what is to be seen of it. `size`: the window's, in px."""

    name: str
    play: Callable[[Stage], Awaitable[QWidget]]
    size: tuple[int, int] = (1280, 860)
    dark: bool = False
    settings: dict[str, object] = field(default_factory=dict)
    forget: str = ""

    @asynccontextmanager
    async def played(self, *, dark: bool | None = None, percent: int = 100) -> AsyncIterator[QWidget]:
        """What is to be seen, in its own colours or in these, with letters of so many per cent."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme = "dark" if (self.dark if dark is None else dark) else "light"
        apply_theme(app, theme, percent)  # as the app itself does before there is a window
        values = {**self.settings, "theme": theme, "font_scale": percent}
        async with stage(self.size, forget=self.forget, **values) as set_up:
            widget = await self.play(set_up)
            await set_up.rest()
            yield widget


async def _talk(stage: Stage) -> QWidget:
    stage.entitle("Why leaves turn red")
    stage.tell(leaves())
    return stage.window


async def _quiet(stage: Stage) -> QWidget:
    stage.window.oracle.set_quiet(True)
    return await _talk(stage)


async def _side_by_side(stage: Stage) -> QWidget:
    stage.entitle("Days until March")
    stage.window.dialogs.conversation_set.emit(
        Style("", None, "short"), ToolChoice(("calculator", "clock")), 0.25, False
    )
    stage.tell(side_by_side(10.2))
    return stage.window


async def _swap(stage: Stage) -> QWidget:
    stage.tell([event for event in swap() if event.at <= 13.6])
    stage.window.timeline.view.zoom(0.62)
    return stage.window.timeline


async def _trouble(stage: Stage) -> QWidget:
    stage.entitle("Bread without kneading")
    stage.tell(trouble())
    return stage.window


async def _conversations(stage: Stage) -> QWidget:
    window, title = stage.window, "How a heat pump works"
    keep_talk(stage.history, title, heat_pump())
    window.conversations.opened.emit(title)
    await until(lambda: len(stage.factory.sessions) == 2 and window.manager.session is not None)
    await until(lambda: window.state.talk.phase == "running")
    stage.tell(heat_pump_again())
    window.conversations.search.setText("pump")
    await until(lambda: sum(row.view is not None for row in window.conversations.list.rows) == 3)
    return window


async def _latency(stage: Stage) -> QWidget:
    stage.tell(measured())
    stage.window.latency.open()
    assert stage.window.latency.panel is not None
    return stage.window.latency.panel


async def _settings(stage: Stage) -> QWidget:
    stage.window.panels.open_settings("echo_cancellation")
    assert stage.window.panels.settings is not None
    return stage.window.panels.settings


async def _first_run(stage: Stage) -> QWidget:
    run = stage.window.panels.first_run
    assert run is not None
    await until(run.next_button.isEnabled)
    return run


async def _first_voice(stage: Stage) -> QWidget:
    run = await _first_run(stage)
    await stage.rest()
    stage.window.panels.first_run.next_button.click()
    return run


SCENES = (
    Scene("talk", _talk, settings=LEAVES, forget="Why leaves turn red"),
    Scene("talk-dark", _talk, dark=True, settings=LEAVES, forget="Why leaves turn red"),
    Scene("quiet", _quiet, settings=LEAVES, forget="Why leaves turn red"),
    Scene("side-by-side", _side_by_side, (1440, 860), settings=LEAVES),
    Scene("swap", _swap, (1280, 980)),
    Scene("conversations", _conversations, settings=GEMMA),
    Scene("trouble", _trouble, settings=GEMMA, forget="Bread without kneading"),
    Scene("latency", _latency, settings=LEAVES),
    Scene("settings", _settings, settings=LEAVES),
    Scene("first-run", _first_run, settings={"first_run_done": False}),
    Scene("first-run-voice", _first_voice, settings={"first_run_done": False}),
    Scene("small", _talk, (900, 600), settings=LEAVES, forget="Why leaves turn red"),
    Scene("large", _talk, (2560, 1440), settings=LEAVES, forget="Why leaves turn red"),
)
