"""Hotkeys and other processes' orders in the real window: what they press, and what they are answered."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from PySide6.QtGui import QKeySequence

from app.gui.hotkey import Grabber, Hotkey
from app.gui.hotkeys import Hotkeys
from app.gui.instance import Order
from app.gui.talk_keys import TalkKeys
from app.gui.window import MainWindow
from app.settings import Settings
from tests.gui.fakes import FakeFactory, FakeSoundDesk
from tests.gui.helpers import shown, until

TAKEN = "Ctrl+Alt+M belongs to another program. Choose other keys to mute."


class Keys(Grabber):
    """Takes nothing; the test presses."""

    def __init__(self) -> None:
        super().__init__()
        self.bound: Mapping[str, Hotkey] = {}

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        self.bound = keys

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
        assert {name: key.text for name, key in keys.bound.items()} == {"talk": "Ctrl+Alt+Space", "mute": "Ctrl+Alt+M"}
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
        keys.failed.emit(TAKEN)
        assert window.messages.sentences() == [TAKEN]
        window.sound._set_hotkeys("Ctrl+Alt+Space", "Ctrl+Alt+J")
        window.keys.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+J")
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


@pytest.mark.parametrize("minimised", [False, True])
async def test_a_second_start_brings_the_window_forward(minimised: bool) -> None:
    async with shown(FakeFactory()) as window:
        (window.showMinimized if minimised else window.hide)()
        window.come_forward()
        assert window.isVisible() and not window.isMinimized()
