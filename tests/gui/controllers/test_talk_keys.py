"""Hotkeys and other processes' commands in the real window: their effects and answers."""

import asyncio
from collections.abc import Mapping

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.conversation.events import Processing
from app.gui.hotkeys import manager
from app.gui.hotkeys.hotkey import Grabber, Hotkey
from app.gui.shell.instance import Instance, Order
from app.gui.state.choice import WindowChoices
from app.gui.window import app as gui_app
from app.gui.window.main_window import MainWindow
from app.platform import single_instance
from app.session.control import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory, FakeSoundService
from tests.gui.helpers import shown, until, window_and_factory

TAKEN = "Ctrl+Alt+J belongs to another program. Choose other keys to mute."

CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


class Keys(Grabber):
    """Grabs nothing; the test presses keys by emitting."""

    def __init__(self) -> None:
        super().__init__()
        self.bound: Mapping[str, Hotkey] = {}
        self.times = 0

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        self.bound = keys
        self.times += 1

    def close(self) -> None:
        self.bound = {}


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Keys:
    """The grabber of the next window (the tests' screen has none)."""
    made = Keys()
    monkeypatch.setattr(manager, "grabber_here", lambda: made)
    return made


def ask(window: MainWindow, word: str, at: float = 1.0) -> str:
    answers: list[str] = []
    window.talk.obey(Order(word, answers.append, at))
    [answer] = answers
    return answer


async def test_a_hotkey_talks_while_another_window_has_the_focus_and_another_mutes(keys: Keys, window, factory) -> None:
    texts = {name: key.text for name, key in keys.bound.items()}
    assert texts == {"talk": "Ctrl+Alt+Space", "mute": Settings().mute_hotkey}
    keys.pressed.emit("talk")
    assert factory.session.calls == [("press",)] and window.dock.button.text() == "Listening"
    window.talk.push.let_go_own()  # the window loses the focus
    assert factory.session.calls == [("press",)]
    keys.released.emit("talk")
    assert factory.session.calls == [("press",), ("release",)]
    keys.pressed.emit("mute")
    keys.released.emit("mute")
    assert factory.session.calls[-1] == ("set_muted", True)
    keys.pressed.emit("mute")
    assert factory.session.calls[-1] == ("set_muted", False)


async def test_failed_hotkeys_are_reported_in_the_window_and_the_dialog(keys: Keys) -> None:
    async with shown(FakeFactory(), sound_service=FakeSoundService()) as window:
        window.devices.sound.click()
        dialog = window.sound.dialog
        assert dialog is not None
        keys.granted.emit("talk", "Super+T")
        assert dialog.talk_button.granted.text() == "Your desktop uses: Super+T to talk"
        keys.granted.emit("mute", "Super+M")
        assert dialog.talk_button.granted.text() == "Your desktop uses: Super+T to talk · Super+M to mute"
        keys.failed.emit("mute", TAKEN)
        assert window.messages.sentences() == [TAKEN]
        assert dialog.talk_button.trouble.text().startswith(TAKEN) and dialog.talk_button.keys_label.isVisible()
        keys.failed.emit("talk", TAKEN)
        assert not dialog.talk_button.keys_label.isVisible() and not dialog.talk_button.granted.isVisible()
        QTest.keyClick(dialog.talk_button.mute_keys.edit, Qt.Key.Key_K, CTRL_ALT)
        assert keys.bound["mute"].text == "Ctrl+Alt+K" == window.settings.mute_hotkey
        assert window.messages.sentences() == [] and not dialog.talk_button.trouble.isVisible()


async def test_a_failed_hotkeys_message_goes_when_the_keyboard_has_the_key_again(keys: Keys) -> None:
    lacks = "Your keyboard's layout has no “Ctrl+Alt+ü”, so it can't be a hotkey. Choose another."
    never = "“A” would be taken from every program, so it can't be a hotkey. Add Ctrl, Alt or both."
    async with shown(FakeFactory(), Settings(talk_hotkey="Ctrl+Alt+ü", mute_hotkey="A")) as window:
        keys.failed.emit("talk", lacks)
        for _ in range(3):  # as many changes of the keyboard's layout
            keys.rebinding.emit()
            keys.failed.emit("talk", lacks)
            assert window.messages.sentences() == [f"{never} {lacks}"]
        keys.rebinding.emit()
        assert window.messages.sentences() == [never]


async def test_what_is_chosen_in_the_sound_dialog_holds_at_once(keys: Keys) -> None:
    async with window_and_factory(sound_service=FakeSoundService()) as (window, factory):
        window.devices.sound.click()
        dialog = window.sound.dialog
        boxes = dialog.processing
        assert [box.isChecked() for box in (boxes.echo, boxes.noise, boxes.gain)] == [True, False, False]
        for box, so_far in (
            (boxes.noise, (True, True)),
            (boxes.gain, (True, True, True)),
            (boxes.echo, (False, True, True)),
        ):
            box.click()
            assert factory.session.calls.pop() == ("set_processing", Processing(*so_far))
        assert window.settings.noise_suppression and not window.settings.echo_cancellation
        assert dialog.talk_button.hold.isChecked()
        for button, mode in ((dialog.talk_button.toggle, "toggle"), (dialog.talk_button.hold, "hold")):
            button.click()
            assert window.settings.talk_mode == mode
        dialog.talk_button.toggle.click()
        assert window.dock.button.text() == "Press to talk" and window.settings.talk_mode == "toggle"
        keys.pressed.emit("talk")
        keys.released.emit("talk")
        assert factory.session.calls == [("press",)]


async def test_the_session_ends_before_the_hotkeys_are_given_back(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing waits for a desktop that does not answer; the microphone must not stay open for so long."""
    factory = FakeFactory()
    stopped: list[int] = []
    monkeypatch.setattr(keys, "close", lambda: stopped.append(factory.session.stopped))
    async with shown(factory) as window:
        session = factory.session
        session.stop_hangs = True
        window.close()
        ending = asyncio.create_task(window.finish(0.2))
        await until(lambda: session.stopped)
        for name in ("talk", "mute"):
            keys.pressed.emit(name)
        assert session.calls == [] and stopped == []
        await ending
        assert stopped == [1]


async def test_commands_of_other_processes_are_carried_out_or_refused_with_a_reason(window, factory) -> None:
    assert [ask(window, word) for word in ("press", "release", "toggle", "toggle", "mute", "unmute")] == [""] * 6
    assert factory.session.calls == [
        ("press",),
        ("release",),
        ("press",),
        ("release",),
        ("set_muted", True),
        ("set_muted", False),
    ]
    for muted in (True, False):
        assert ask(window, "mute-toggle") == "" and factory.session.calls[-1] == ("set_muted", muted)
    window.dock.duplex.click()
    assert "just talk" in ask(window, "press")
    assert ask(window, "silence") == "" and factory.session.calls[-1] == ("silence",)
    window.devices.stop_button.click()
    for word in ("toggle", "silence"):
        assert "No conversation is running" in ask(window, word)
    assert ask(window, "mute") == "" and window.dock.mute.isChecked()


async def test_a_command_to_press_that_arrives_after_its_release_holds_nothing(window, factory) -> None:
    assert ask(window, "release", at=10.08) == ""
    assert ask(window, "press", at=10.0) == ""  # as another process, which the system let run later
    assert factory.session.calls == [] and window.dock.button.text() == "Hold to talk"
    assert ask(window, "press", at=11.0) == ask(window, "release", at=11.5) == ""
    assert factory.session.calls == [("press",), ("release",)]


async def test_hotkeys_are_off_while_keys_are_typed_into_a_field(keys: Keys) -> None:
    async with shown(FakeFactory(), sound_service=FakeSoundService()) as window:
        window.devices.sound.click()
        dialog = window.sound.dialog
        dialog.talk_button.mute_keys.edit.setFocus()
        await until(lambda: keys.bound == {})
        QTest.keyClick(dialog.talk_button.mute_keys.edit, Qt.Key.Key_J, CTRL_ALT)
        assert keys.bound == {} and window.settings.mute_hotkey == "Ctrl+Alt+J"
        dialog.close_button.setFocus()
        await until(lambda: len(keys.bound) == 2)
        assert keys.bound["mute"].text == "Ctrl+Alt+J"


async def test_the_portals_hotkeys_are_kept_while_keys_are_typed(keys: Keys, window: MainWindow) -> None:
    keys.grabs_exclusively = False  # as the portal: its session would end, and the next might ask the user
    keys.failed.emit("", "The desktop's dialog was cancelled.")
    for typing in (True, False):
        window.talk.let_type(typing)
    assert keys.times == 1 and len(keys.bound) == 2
    window.talk.let_type(True)
    window.keep.change("talk_hotkey", "Ctrl+Alt+Space")
    window.keep.change("mute_hotkey", "Ctrl+Alt+K")
    assert keys.times == 1
    window.talk.let_type(False)
    assert keys.times == 2 and keys.bound["mute"].text == "Ctrl+Alt+K"


class Door(Instance):
    """Another window listens already, for the first `taken` attempts."""

    def __init__(self, taken: int) -> None:
        super().__init__()
        self.taken = taken

    def listen(self) -> bool:
        self.taken -= 1
        return self.taken < 0


@pytest.mark.parametrize(
    ("taken", "failure", "mine", "silent"),
    [
        (0, None, True, False),
        (1, None, False, False),
        (1, single_instance.NotRunning, True, False),
        (2, single_instance.NotRunning, False, True),
        (1, single_instance.NoAnswer, False, True),
        (1, PermissionError, False, True),
    ],
)
def test_a_second_start_takes_the_place_of_one_that_was_just_closing(
    taken: int, failure: type[Exception] | None, mine: bool, silent: bool, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def tell(word: str) -> None:
        if failure is not None:
            raise failure

    monkeypatch.setattr(single_instance, "tell", tell)
    is_mine, sentence = gui_app._bring_forward_or_be(Door(taken))
    assert (is_mine, "did not answer" in sentence) == (mine, silent)


def test_a_second_start_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    def tell(word: str) -> None:
        raise single_instance.NoAnswer

    monkeypatch.setattr(single_instance, "tell", tell)
    with pytest.raises(UserError, match="did not answer"):
        gui_app.run_window(
            FakeFactory(),
            Settings(),
            gui_app.WindowServices(list_devices=lambda: ([], []), choices=WindowChoices()),
            instance=Door(1),
            argv=[],
        )
