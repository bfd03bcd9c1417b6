"""Favourite models: added and removed in the list of models, chosen by a key during a session, and saved."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest

from app.gui.models.favourites import MAX_FAVOURITES
from app.gui.state.choice import WindowChoices
from app.gui.window.main_window import MainWindow
from app.session.control import BackendChoice
from app.session.errors import UserError
from app.settings.declarations import Settings
from app.settings.window_state import WindowState
from tests.gui.fakes import PROVIDERS, FakeBackendService, FakeFactory
from tests.gui.helpers import open_models, shown, until

CHOICES = WindowChoices(backends=PROVIDERS)
GPT, GEMMA = BackendChoice("openai", "gpt-5"), BackendChoice("ollama", "gemma3:4b", "http://127.0.0.1:11434")
BUILT_IN = BackendChoice("embedded")


def rows(*backends: BackendChoice) -> list[dict[str, str]]:
    """Favourites as the window's state keeps them."""
    return [{"provider": b.provider, "model": b.model, "base_url": b.base_url} for b in backends]


def star(window: MainWindow) -> None:
    """Marks the model in use as a favourite, or no longer, by keyboard, and closes the list of models."""
    setup = window.setup
    open_models(window)
    QTest.keyClick(setup.search, Qt.Key.Key_Down)
    QTest.keyClick(setup.list, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(setup.list, Qt.Key.Key_Escape)
    assert not setup.isVisible()


async def test_the_backend_of_now_is_kept_and_dropped(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    async with shown(FakeFactory(), Settings(path=path), choices=CHOICES, service=FakeBackendService()) as window:
        await until(window.isActiveWindow)
        favourites = window.setup.favourites
        star(window)
        assert [action.text() for action in favourites.picks] == ["Embedded (this machine)"]
        window.live.pick_backend(GPT)
        await until(lambda: window.manager.wanted.backend == GPT == window.setup.choice)
        star(window)
        assert window.keep.state.favourites == rows(BUILT_IN, GPT)
        star(window)
        assert favourites.backends == (BUILT_IN,)
        star(window)
    assert [row["provider"] for row in json.loads(path.with_name("window.json").read_text())["favourites"]] == [
        "embedded",
        "openai",
    ]
    async with shown(FakeFactory(), Settings.load(path), choices=CHOICES, service=FakeBackendService()) as window:
        assert [action.text() for action in window.setup.favourites.picks] == [
            "Embedded (this machine)",
            "gpt-5 (OpenAI)",
        ]


async def test_a_key_swaps_the_backend_in_the_running_talk_wherever_the_focus_is() -> None:
    factory = FakeFactory()
    state = WindowState(favourites=rows(GPT, GEMMA, BUILT_IN))
    async with shown(factory, state=state, choices=CHOICES, service=FakeBackendService()) as window:
        await until(window.isActiveWindow)
        window.transcript.composer.field.setFocus()
        for keys, backend in (("Alt+1", GPT), ("Alt+2", GEMMA), ("Alt+3", BUILT_IN)):
            QTest.keySequence(window.transcript.composer.field, QKeySequence(keys))
            await until(lambda backend=backend: ("set_backend", backend) in factory.session.calls)
            await until(lambda backend=backend: window.settings.provider == backend.provider)
            checked = [action.isChecked() for action in window.setup.favourites.picks]
            assert checked == [backend == other for other in (GPT, GEMMA, BUILT_IN)]
            assert window.setup.choice.provider == backend.provider
        swaps = [call for call in factory.session.calls if call[0] == "set_backend"]
        QTest.keySequence(window, QKeySequence("Alt+3"))
        assert swaps == [call for call in factory.session.calls if call[0] == "set_backend"], "it is in force already"
        QTest.keySequence(window, QKeySequence("Alt+4"))
        assert len(factory.sessions) == 1 and window.transcript.composer.field.text() == ""


async def test_a_backend_that_refuses_leaves_the_one_before() -> None:
    factory = FakeFactory()
    state = WindowState(favourites=rows(GPT))
    async with shown(factory, state=state, choices=CHOICES, service=FakeBackendService()) as window:
        await until(window.isActiveWindow)
        factory.session.refusal = UserError("There is no key for OpenAI.")
        QTest.keySequence(window, QKeySequence("Alt+1"))
        await until(lambda: "There is no key for OpenAI." in window.messages.sentences())
        assert not window.setup.favourites.picks[0].isChecked() and window.setup.choice == BUILT_IN


async def test_no_more_than_there_are_keys_for_and_nothing_that_is_not_understood() -> None:
    many = [BackendChoice("openai", f"model-{number}") for number in range(12)]
    malformed = [4, {}, {"provider": []}, {"provider": "unheard", "model": "m"}]
    state = WindowState(favourites=[*malformed, *rows(*many)])
    async with shown(FakeFactory(), state=state, choices=CHOICES, service=FakeBackendService()) as window:
        favourites = window.setup.favourites
        assert favourites.backends == tuple(many[:MAX_FAVOURITES])
        favourites.toggle(GPT)
        assert len(favourites.picks) == MAX_FAVOURITES and GPT not in favourites.backends


async def test_swaps_leave_no_actions_behind() -> None:
    state = WindowState(favourites=rows(GPT, GEMMA))
    async with shown(FakeFactory(), state=state, choices=CHOICES, service=FakeBackendService()) as window:
        await until(window.isActiveWindow)
        for keys in ("Alt+1", "Alt+2") * 5:
            QTest.keySequence(window, QKeySequence(keys))
            await until(lambda: window.manager.wanted.backend == window.setup.choice)
        await until(lambda: len(window.setup.favourites.findChildren(QAction)) <= 6)
        assert len([a for a in window.actions() if a.shortcut().toString().startswith("Alt+")]) == 2
