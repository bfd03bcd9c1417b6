"""Hotkeys and other processes' orders in the real window: what they press, and what they are answered."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from app import summon
from app.gui import app as gui_app
from app.gui.hotkey import Grabber, Hotkey
from app.gui.hotkeys import Hotkeys
from app.gui.instance import Instance, Order
from app.gui.talk_keys import TalkKeys
from app.gui.window import MainWindow
from app.session.errors import UserError
from app.settings import Settings
from tests.gui.fakes import FakeFactory, FakeSoundDesk
from tests.gui.helpers import shown, until

TAKEN = "Ctrl+Alt+J belongs to another program. Choose other keys to mute."


class Keys(Grabber):
    """Takes nothing; the test presses."""

    def __init__(self) -> None:
        super().__init__()
        self.bound: Mapping[str, Hotkey] = {}
        self.times = 0

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        self.bound = keys
        self.times += 1

    def close(self) -> None:
        self.bound = {}


def with_keys(window: MainWindow) -> Keys:
    """The window's keys, as if its desktop gave them (the tests' screen gives none)."""
    keys = Keys()
    window.keys = TalkKeys(
        window.push, window.sound, window.talk, window, hotkeys=Hotkeys(window, make=lambda: keys)
    )
    window.keys.trouble.connect(window.sound.show_key_trouble)
    window.keys.set_keys(window.settings.talk_hotkey, window.settings.mute_hotkey)
    return keys


def ask(window: MainWindow, word: str) -> str:
    """What another process is answered; empty when its order was obeyed."""
    answers: list[str] = []
    window.keys.obey(Order(word, answers.append))
    [answer] = answers
    return answer


async def test_a_hotkey_talks_while_another_window_has_the_focus_and_another_mutes() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        keys = with_keys(window)
        texts = {name: key.text for name, key in keys.bound.items()}
        assert texts == {"talk": "Ctrl+Alt+Space", "mute": Settings().mute_hotkey}
        keys.pressed.emit("talk")
        assert factory.session.calls == [("press",)] and window.talk_bar.button.text() == "Listening"
        window.push.let_go_own()  # the window loses the focus
        assert factory.session.calls == [("press",)]
        keys.released.emit("talk")
        assert factory.session.calls == [("press",), ("release",)]
        keys.pressed.emit("mute")
        keys.released.emit("mute")
        assert factory.session.calls[-1] == ("set_muted", True)
        keys.pressed.emit("mute")
        assert factory.session.calls[-1] == ("set_muted", False)
        troubles: list[tuple[str, bool]] = []
        granted: list[tuple[str, str]] = []
        window.keys.trouble.connect(lambda *said: troubles.append(said))
        window.keys.told.connect(lambda *said: granted.append(said))
        keys.granted.emit("talk", "Super+T")
        keys.failed.emit("mute", TAKEN)
        assert window.messages.sentences() == [TAKEN] and troubles == [(TAKEN, False)]
        keys.failed.emit("talk", TAKEN)
        assert troubles[1:] == [(TAKEN, True)] and granted == [("talk", "Super+T"), ("talk", "")]
        window.sound._set_hotkeys("Ctrl+Alt+Space", "Ctrl+Alt+K")
        window.keys.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+K")
        assert window.messages.sentences() == []


async def test_pressed_once_to_talk_and_once_to_end() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(talk_mode="toggle")) as window:
        keys = with_keys(window)
        assert window.talk_bar.button.text() == "Press to talk"
        keys.pressed.emit("talk")
        keys.released.emit("talk")
        assert factory.session.calls == [("press",)]
        assert window.talk_bar.button.hint == "press again when you are done"
        keys.pressed.emit("talk")
        assert factory.session.calls == [("press",), ("release",)]


async def test_orders_of_other_processes_are_obeyed_or_told_why_not() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        assert [ask(window, word) for word in ("press", "release", "toggle", "toggle", "mute", "unmute")] == [""] * 6
        assert factory.session.calls == [
            ("press",), ("release",), ("press",), ("release",), ("set_muted", True), ("set_muted", False),
        ]  # fmt: skip
        for muted in (True, False):
            assert ask(window, "mute-toggle") == "" and factory.session.calls[-1] == ("set_muted", muted)
        window.talk_bar.duplex.click()
        assert "just talk" in ask(window, "press")
        window.setup.stop_button.click()
        assert "No talk is running" in ask(window, "toggle")
        assert ask(window, "mute") == "" and window.talk_bar.mute.isChecked()


async def test_keys_are_given_back_while_some_are_typed_for_the_settings() -> None:
    async with shown(FakeFactory(), sound_desk=FakeSoundDesk()) as window:
        keys = with_keys(window)
        window.sound.keys_typed.connect(window.keys.let_type)
        window.talk_bar.sound.click()
        dialog = window.sound.dialog
        assert dialog is not None
        dialog.mute_keys.edit.setFocus()
        await until(lambda: keys.bound == {})
        dialog.mute_keys.edit.setKeySequence(QKeySequence("Ctrl+Alt+J"))
        assert keys.bound == {} and window.settings.mute_hotkey == "Ctrl+Alt+J"
        dialog.close_button.setFocus()
        await until(lambda: len(keys.bound) == 2)
        window.keys.set_keys(window.settings.talk_hotkey, window.settings.mute_hotkey)
        assert keys.bound["mute"].text == "Ctrl+Alt+J"


async def test_keys_that_cannot_be_given_back_for_a_moment_are_kept_while_some_are_typed() -> None:
    async with shown(FakeFactory()) as window:
        keys = with_keys(window)
        keys.takes_from_fields = False  # as the portal: its session would end, and the next might ask the user
        keys.failed.emit("", "The desktop's dialog was cancelled.")
        for typing in (True, False):
            window.keys.let_type(typing)
        assert keys.times == 1 and len(keys.bound) == 2
        window.keys.let_type(True)
        window.keys.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+K")
        assert keys.times == 1
        window.keys.let_type(False)
        assert keys.times == 2 and keys.bound["mute"].text == "Ctrl+Alt+K"


class Door(Instance):
    """Somebody listens already, the first `taken` times that this tries to."""

    def __init__(self, taken: int) -> None:
        super().__init__()
        self.taken = taken

    def listen(self) -> bool:
        self.taken -= 1
        return self.taken < 0


@pytest.mark.parametrize(
    ("taken", "failure", "mine", "silent"),
    [
        (0, None, True, False), (1, None, False, False), (1, summon.NotRunning, True, False),
        (2, summon.NotRunning, False, True), (1, summon.NoAnswer, False, True), (1, PermissionError, False, True),
    ],
)  # fmt: skip
def test_a_second_start_takes_the_place_of_one_that_was_just_closing(
    taken: int, failure: type[Exception] | None, mine: bool, silent: bool, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def tell(word: str) -> None:
        if failure is not None:
            raise failure

    monkeypatch.setattr(summon, "tell", tell)
    is_mine, sentence = gui_app._bring_forward_or_be(Door(taken))
    assert (is_mine, "did not answer" in sentence) == (mine, silent)


@pytest.mark.parametrize("console", [True, False])
def test_a_second_start_that_fails_is_shown_where_nobody_would_read_it(
    console: bool, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def tell(word: str) -> None:
        raise summon.NoAnswer

    said: list[str] = []
    monkeypatch.setattr(summon, "tell", tell)
    monkeypatch.setattr(QMessageBox, "critical", lambda parent, title, sentence: said.append(sentence))
    if not console:
        monkeypatch.setattr(sys, "stderr", None)
    with pytest.raises(UserError, match="did not answer") as caught:
        gui_app.run_window(
            FakeFactory(), Settings(), list_devices=lambda: ([], []), choices=gui_app.WindowChoices(),
            instance=Door(1), argv=[],
        )  # fmt: skip
    assert said == ([] if console else [str(caught.value)])


@pytest.mark.parametrize("minimised", [False, True])
async def test_a_second_start_brings_the_window_forward(minimised: bool) -> None:
    async with shown(FakeFactory()) as window:
        (window.showMinimized if minimised else window.hide)()
        window.come_forward()
        assert window.isVisible() and not window.isMinimized()
