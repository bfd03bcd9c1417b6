"""The real window with fake services and a scripted conversation at a fixed time, for the README's pictures.

Nothing moves by itself: the clocks are fixed, no pointer is over the window, and no caret blinks.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QTime
from PySide6.QtWidgets import QApplication

from app.conversation import events as e
from app.demo.base import DemoBackend, DemoQuestion
from app.gui.controllers.context import WindowServices
from app.gui.state.choice import WindowChoices
from app.gui.window.main_window import MainWindow
from app.history.base import ConversationView, Setup
from app.research.window import ManualClock
from app.services.machine_service import FrontEndFit, MachineFinding, MachineView
from app.services.model_service import ModelKind, ModelState, ModelView, VoiceView
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory, FakeLog
from tests.gui.fakes import (
    PROVIDERS,
    FakeBackendService,
    FakeFactory,
    FakeMachine,
    FakePrices,
    FakeServers,
    FakeSoundService,
)
from tests.gui.helpers import WELCOMED, until
from tests.support.demo_talk import QUESTIONS, ScriptedDemoService, Voice

NOW = datetime(2026, 11, 21, 18, 20)
SIZE = 16 * 10**9
MODELS = ("gemma3:4b", "qwen3:8b")
OLLAMA = "http://127.0.0.1:11434"

_KEPT = (
    (1.2, "Why leaves turn red", 4, ("claude-haiku-4-5",), True),
    (4.0, "A soup from what is left", 11, ("gemma3:4b",), False),
    (9.5, "How a heat pump works", 2, ("gemma3:4b",), True),
    (27.0, "Packing list for Lisbon, with two children", 18, ("gpt-4.1-mini",), False),
    (31.0, "Bread without kneading", 6, ("gemma3:4b",), False),
    (52.0, "First words in Georgian", 23, ("gpt-4.1-mini", "claude-haiku-4-5"), True),
    (77.0, "Names for a grey cat", 9, ("gemma3:4b",), False),
    (101.0, "What the tax form means on page three", 7, ("claude-haiku-4-5",), False),
    (170.0, "The pump in the cellar hums", 5, ("gemma3:4b",), False),
    (230.0, "A speech for Grandmother's eightieth", 14, ("claude-haiku-4-5",), False),
    (390.0, "Stars over the garden in August", 8, ("gemma3:4b",), True),
    (560.0, "Which bicycle for a short rider", 12, ("gpt-4.1-mini",), False),
)
"""Hours ago, title, turns, models, whether the sound was kept."""
_PINNED = "A soup from what is left"

_TEXTS = {
    "How a heat pump works": "How does a heat pump warm a house in winter? It pumps heat from the cold air outside.",
    "The pump in the cellar hums": "Why does the pump in the cellar hum at night, and is that a fault?",
    "Which bicycle for a short rider": "Which bicycle suits a short rider, and do I need a pump for its tyres?",
}


def history_of_a_year() -> FakeHistory:
    """A history with a dozen conversations."""
    now = NOW.timestamp()
    views = [
        ConversationView(
            title,
            title,
            created=now - 3600 * hours - 900,
            changed=now - 3600 * hours,
            turns=turns,
            backends=backends,
            sound=sound,
            setup=Setup(BackendChoice("ollama", "gemma3:4b", OLLAMA)),
        )
        for hours, title, turns, backends, sound in _KEPT
    ]
    filed = {"Packing list for Lisbon, with two children": "Journeys", "First words in Georgian": "Journeys"}
    views = [replace(view, folder=filed.get(view.key, ""), pinned=view.key == _PINNED) for view in views]
    service = FakeHistory(*views, now=now)
    service.texts.update(_TEXTS)
    return service


def add_session(history: FakeHistory, key: str, events: Iterable[e.Event]) -> None:
    """Adds a session to a conversation in the history."""
    log = FakeLog()
    log.events = list(events)
    history.logs[key] = [log]


def _fits() -> tuple[FrontEndFit, ...]:
    rows = [FrontEndFit("cascade", "", True, "It runs on the processor, and is here already.")]
    for name in ("kame", "moshi"):
        rows += [
            FrontEndFit(name, "bf16", False, "In bf16 it takes 18 GB of the card, of which 15 GB are free.", SIZE),
            FrontEndFit(
                name, "int8", True, "Takes 11 GB of the card, and remembers 4 minutes of a conversation.", SIZE
            ),
            FrontEndFit(name, "int4", True, "Takes 8 GB of the card, and remembers 4 minutes of a conversation.", SIZE),
        ]
    return tuple(rows)


MACHINE = MachineView(
    (
        MachineFinding("card", "good", "NVIDIA GeForce RTX 4080, 16 GB, of which 15 GB are free."),
        MachineFinding("processor", "good", "12 cores, 32 GB of memory."),
        MachineFinding("disk", "good", "212 GB are free."),
        MachineFinding("microphone", "good", "Desk microphone, and 1 more."),
        MachineFinding("loudspeaker", "good", "Headphones."),
        MachineFinding("ollama", "good", "Ollama runs, with gemma3:4b, and 2 more."),
        MachineFinding("keys", "fair", "No key for a provider in the cloud; none is needed."),
    ),
    _fits(),
    "16 GB card: KAME in int8, once its weights (16 GB) are here. Its model is gemma3:4b, by Ollama.",
    "kame",
    "int8",
    BackendChoice("ollama", "gemma3:4b", OLLAMA),
)


def demo_service() -> ScriptedDemoService:
    """The demo's service: the cascade is heard 2.4 s after the question, the tandem after 0.3 s."""
    words = "The sky is blue because air scatters blue light more than red light"
    thoughts = ("You ask why the sky", "The sky looks blue because of the")
    return ScriptedDemoService(
        tuple(DemoBackend(BackendChoice("ollama", name, OLLAMA), f"Ollama: {name}") for name in MODELS),
        cascade=Voice(2.4, words),
        tandem=Voice(0.32, words, thoughts),
        questions=(
            DemoQuestion("Why is the sky blue?", np.full(round(1.6 * 24_000), 0.1, np.float32), 1.6),
            *QUESTIONS[1:],
        ),
    )


def _model(key: str, kind: ModelKind, label: str, size: float, state: ModelState, **more: object) -> ModelView:
    languages = ("en", "de") if kind == "tts" else ("*",)
    return ModelView(key, kind, label, languages, round(size * 1e9), "Apache-2.0", state, **more)  # type: ignore[arg-type]


CATALOGUE = (
    _model(
        "smollm2-135m",
        "llm",
        "SmolLM2 135M",
        0.15,
        "installed",
        speed="0.1 s, 62 words/s",
        right=31,
        default=True,
        pace="instant",
        note="tiny, for trying out",
    ),
    _model(
        "qwen2.5-1.5b",
        "llm",
        "Qwen2.5 1.5B",
        1.12,
        "absent",
        right=96,
        speed="0.6 s, 9 words/s",
        estimated=True,
        pace="quick",
    ),
    _model(
        "qwen2.5-7b",
        "llm",
        "Qwen2.5 7B",
        4.68,
        "absent",
        right=111,
        speed="2.4 s, 2 words/s",
        estimated=True,
        pace="slow",
        fits="This machine is probably too slow for it.",
    ),
    _model("moonshine-base", "stt", "Moonshine base", 0.29, "installed", speed="0.2 s", pace="quick", default=True),
    _model("whisper-base", "stt", "Whisper base", 0.15, "here", speed="0.6 s", pace="slow"),
    _model("kokoro", "tts", "Kokoro", 0.33, "installed", default=True, voices=(VoiceView("kokoro/ann", "Ann", "en"),)),
    _model("kame", "frontend", "KAME, bf16", 16.2, "absent"),
    _model("moshi", "frontend", "Moshi, bf16", 15.4, "absent"),
)
"""Models as the page “This computer” lists them."""


class _Models:
    """A library of models in which nothing changes."""

    def models(self) -> tuple[ModelView, ...]:
        return CATALOGUE

    def best(self, language: str) -> ModelView | None:
        return CATALOGUE[1]

    def recommended(self, language: str) -> str:
        return CATALOGUE[1].key


def _devices() -> tuple[list[str], list[str]]:
    return ["Desk microphone", "Built-in microphone"], ["Headphones"]


class _FixedTime(QTime):
    """A clock that stands still."""

    @staticmethod
    def currentTime() -> QTime:
        return QTime(NOW.hour, NOW.minute)


@dataclass
class ScriptedWindow:
    """A shown window, with its fakes."""

    window: MainWindow
    history: FakeHistory
    factory: FakeFactory
    clock: ManualClock = field(default_factory=ManualClock)

    def play(self, events: Iterable[e.Event]) -> None:
        """Lets the session emit events, each at its own time."""
        window, start = self.window, self.clock.now
        for event in events:
            self.clock.now = start + event.at
            self.factory.session.say(event)
            if isinstance(event, e.LevelMeasured):
                window.model.flush()
        window.model.flush()
        self.clock.now += 0.1
        window.inspector._settle()

    def set_title(self, title: str) -> None:
        """Names the conversation that is shown."""
        key = self.window.talks.key
        self.history.views[key] = replace(self.history.views[key], title=title, named=True)
        self.window.talks.changed.emit()

    async def settle(self) -> None:
        """Waits until nothing is in progress."""
        for _ in range(5):
            await asyncio.sleep(0.02)


@contextmanager
def _still(app: QApplication):
    """No blinking caret, and English texts."""
    flash, locale = app.cursorFlashTime(), QLocale()
    app.setCursorFlashTime(0)
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    with patch("app.gui.transcript.turn_cards.QTime", _FixedTime):
        try:
            yield
        finally:
            app.setCursorFlashTime(flash)
            QLocale.setDefault(locale)


@asynccontextmanager
async def scripted_window(
    size: tuple[int, int], *, forget: str = "", first: bool = False, **values: object
) -> AsyncIterator[ScriptedWindow]:
    """A window of this size with these settings; `forget`: a conversation to leave out of the history;
    `first`: it is the very first start.
    """
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    with _still(app), tempfile.TemporaryDirectory() as folder:
        settings = Settings(**{"reduced_motion": True, **values})
        settings.path = Path(folder) / "settings.json"
        if not first:
            replace(WELCOMED, path=settings.path.with_name("window.json")).save()
        factory, history = FakeFactory(), history_of_a_year()
        history.views.pop(forget, None)
        service = FakeBackendService(
            lists={"ollama": MODELS, "anthropic": ("claude-haiku-4-5",)},
            keys={"anthropic": "k"},
            prices=FakePrices(),
            tool_servers=FakeServers(),
        )
        frontends = (("cascade", "Cascade"), ("kame", "KAME (GPU)"), ("moshi", "Moshi (GPU)"))
        window = MainWindow(
            factory,
            settings,
            WindowServices(
                list_devices=_devices,
                backend_service=service,
                sound_service=FakeSoundService(),
                history=history,
                machine=FakeMachine(MACHINE),
                demo=demo_service(),
                models=_Models(),  # type: ignore[arg-type]
                choices=WindowChoices(frontends=frontends, weighty=("kame", "moshi"), backends=PROVIDERS),
            ),
        )
        scripted = ScriptedWindow(window, history, factory)
        window.inspector.timeline.view.edge.time.clock = window.oracle.time.clock = scripted.clock
        window.conversations._now = NOW.timestamp
        try:
            window.move(0, 0)
            window.resize(*size)
            window.show()
            window.activateWindow()
            window.begin()
            window.inspector.timeline.view.reduced_motion = True  # it moves only with events
            await until(lambda: window.manager.session is not None)
            await scripted.settle()
            yield scripted
        finally:
            window.close()
            await window.finish()
            window.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
