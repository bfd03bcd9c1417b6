"""The talk button by mouse, space bar, hotkey and command: always one press and one release."""

import asyncio

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.gui.hotkeys import push_to_talk
from app.gui.hotkeys.push_to_talk import PushToTalk
from app.gui.window.main_window import MainWindow
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import click_at, key, press_key, shown, type_keys, until, window_and_factory

SPACE = Qt.Key.Key_Space


async def test_holding_space_presses_once_and_letting_go_releases_once(window, factory) -> None:
    assert window.dock.button.text() == "Hold to talk"
    key(window, SPACE, down=True)
    assert factory.session.calls == [("press",)]
    assert window.dock.button.text() == "Listening"
    for _ in range(5):
        key(window, SPACE, down=False, repeat=True)  # as X11 repeats a key
        key(window, SPACE, down=True, repeat=True)
        key(window, SPACE, down=False)  # as some X servers do, without a mark
        key(window, SPACE, down=True)
    await asyncio.sleep(0.1)
    assert factory.session.calls == [("press",)]
    key(window, SPACE, down=False)
    await until(lambda: factory.session.calls == [("press",), ("release",)])
    assert window.dock.button.text() == "Hold to talk"


async def test_space_presses_a_button_that_tab_has_reached_and_talks_on_one_that_was_clicked(window, factory) -> None:
    window.transcript.composer.field.setFocus()
    await press_key(window, Qt.Key.Key_Tab)
    assert window.dock.mute.hasFocus()
    await press_key(window, SPACE)
    assert window.manager.wanted.muted and ("press",) not in factory.session.calls
    await press_key(window, SPACE)
    factory.session.calls.clear()
    await click_at(window.dock.mute)
    await click_at(window.dock.mute)
    assert [name for name, *_ in factory.session.calls] == ["set_muted"] * 2
    factory.session.calls.clear()
    key(window, SPACE, down=True)
    key(window, SPACE, down=False)
    await until(lambda: factory.session.calls == [("press",), ("release",)])


async def test_space_on_the_talk_button_talks_even_while_a_message_is_there(window, factory) -> None:
    await type_keys(window, "Half a")
    for _ in range(4):
        await press_key(window, Qt.Key.Key_Tab)
    assert window.dock.button.hasFocus()
    key(window, SPACE, down=True)
    assert factory.session.calls == [("press",)]
    key(window, SPACE, down=False)
    await until(lambda: factory.session.calls == [("press",), ("release",)])
    assert window.transcript.composer.field.text() == "Half a"


async def test_enter_clicks_the_focused_button_instead(window: MainWindow, factory: FakeFactory) -> None:
    window.dock.duplex.setFocus()
    key(window, Qt.Key.Key_Return, down=True)
    assert window.dock.duplex.isChecked()
    assert ("set_duplex", True) in factory.session.calls


async def test_losing_the_focus_lets_go() -> None:
    factory = FakeFactory()
    async with shown(factory) as window, shown(FakeFactory()) as other:
        window.activateWindow()
        await until(window.isActiveWindow)
        key(window, SPACE, down=True)
        other.activateWindow()
        await until(lambda: not window.isActiveWindow())
        assert factory.session.calls == [("press",), ("release",)]
        key(window, SPACE, down=False)
        assert factory.session.calls == [("press",), ("release",)]


async def test_the_mouse_holds_and_both_together_count_once(window: MainWindow, factory: FakeFactory) -> None:
    button = window.dock.button
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    key(window, SPACE, down=True)
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    assert factory.session.calls == [("press",)]
    key(window, SPACE, down=False)
    await until(lambda: factory.session.calls == [("press",), ("release",)])


async def test_a_mouse_that_slips_off_holds_on_and_lets_go_anywhere(window: MainWindow, factory: FakeFactory) -> None:
    button = window.dock.button
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    outside = QPoint(-40, -40)
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(outside),
        QPointF(button.mapToGlobal(outside)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(button, move)
    assert factory.session.calls == [("press",)]
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton, pos=outside)
    assert factory.session.calls == [("press",), ("release",)] and not button.isDown()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert factory.session.calls == [("press",), ("release",)] * 2


async def test_nothing_is_pressed_while_loading_or_hands_free() -> None:
    async with window_and_factory(running=False) as (window, factory):
        key(window, SPACE, down=True)
        key(window, SPACE, down=False)
        await until(lambda: window.manager.session)
        assert factory.session.calls == []
        window.dock.duplex.click()
        key(window, SPACE, down=True)
        key(window, SPACE, down=False)
        assert not window.dock.button.isEnabled()
        assert factory.session.calls == [("set_duplex", True)]


async def test_switching_to_hands_free_while_held_lets_go_first(window: MainWindow, factory: FakeFactory) -> None:
    key(window, SPACE, down=True)
    window.dock.duplex.setChecked(True)
    assert factory.session.calls == [("press",), ("release",), ("set_duplex", True)]


async def test_closing_while_held_lets_go(window: MainWindow, factory: FakeFactory) -> None:
    key(window, SPACE, down=True)
    window.close()
    assert factory.session.calls == [("press",), ("release",)]


class Button:
    """A talk button that notes what it does, in `words`."""

    def __init__(self, mode: push_to_talk.Mode = "hold") -> None:
        self.push = PushToTalk()
        self.words: list[str] = []
        self.push.pressed.connect(lambda: self.words.append("pressed"))
        self.push.released.connect(lambda: self.words.append("released"))
        self.push.set_enabled(True)
        self.push.set_mode(mode)


HOLDERS = ("mouse", "space", "hotkey", "ptt")


@pytest.mark.parametrize("holder", HOLDERS)
def test_toggled_the_first_press_begins_and_the_second_ends(holder: str) -> None:
    button = Button("toggle")
    button.push.hold(holder)
    button.push.hold(holder)  # it repeats
    button.push.let_go(holder)
    assert button.words == ["pressed"] and button.push.held
    button.push.hold(holder)
    assert button.words == ["pressed", "released"] and not button.push.held
    button.push.let_go(holder)
    assert button.words == ["pressed", "released"]


@pytest.mark.parametrize(("before", "after"), [("hold", "toggle"), ("toggle", "hold")])
def test_another_mode_lets_go(before: push_to_talk.Mode, after: push_to_talk.Mode) -> None:
    button = Button(before)
    button.push.hold("hotkey")
    button.push.set_mode(before)
    assert button.words == ["pressed"]
    button.push.set_mode(after)
    assert button.words == ["pressed", "released"] and button.push.mode == after
    button.push.let_go("hotkey")
    assert button.words == ["pressed", "released"]
    button.push.hold("hotkey")
    assert button.words == ["pressed", "released", "pressed"]


@pytest.mark.parametrize("holder", HOLDERS)
def test_losing_the_focus_lets_go_only_of_the_windows_own(holder: str) -> None:
    button = Button()
    button.push.hold(holder)
    button.push.let_go_own()
    assert button.push.held == (holder in ("hotkey", "ptt"))
    button.push.let_go(holder)
    assert button.words == ["pressed", "released"]


def test_a_toggled_turn_survives_losing_the_focus() -> None:
    button = Button("toggle")
    button.push.hold("space")
    button.push.let_go_own()  # so the release of the space bar goes elsewhere
    assert button.words == ["pressed"]
    button.push.hold("space")
    assert button.words == ["pressed", "released"]


@pytest.mark.parametrize("mode", ["hold", "toggle"])
def test_disabling_releases_the_button(mode: push_to_talk.Mode) -> None:
    button = Button(mode)
    button.push.hold("hotkey")
    button.push.set_enabled(False)
    assert button.words == ["pressed", "released"]
    button.push.hold("mouse")
    assert not any(button.push.command(word) for word in ("press", "toggle", "release"))
    assert button.words == ["pressed", "released"]
    button.push.set_enabled(True)
    button.push.hold("hotkey")
    assert button.words == ["pressed", "released", "pressed"]


def test_commands_hold() -> None:
    button = Button()
    for word in ("press", "press", "release", "release"):
        assert button.push.command(word)
    assert button.words == ["pressed", "released"]
    button.push.command("toggle")
    button.push.command("toggle")
    assert button.words == ["pressed", "released"] * 2
    button.push.command("toggle")
    button.push.command("release")
    assert button.words == ["pressed", "released"] * 3
    with pytest.raises(ValueError):
        button.push.command("sing")


def test_commands_toggle() -> None:
    button = Button("toggle")
    for word in ("press", "release"):
        button.push.command(word)
    assert button.words == ["pressed"]
    for word in ("press", "press", "press", "release"):  # the desktop repeats the command of a key that is held
        button.push.command(word)
    assert button.words == ["pressed", "released"]
    for _ in range(3):
        button.push.command("toggle")
    assert button.words == ["pressed", "released", "pressed", "released", "pressed"]


@pytest.mark.parametrize("mode", ["hold", "toggle"])
def test_a_press_that_arrives_after_its_release(mode: push_to_talk.Mode) -> None:
    button = Button(mode)
    once = ["pressed"] if mode == "toggle" else []
    for word, at in (("release", 2.0), ("press", 1.0), ("press", 1.5)):  # the last one is the first one repeated
        assert button.push.command(word, at)
    assert button.words == once and button.push.held == bool(once)
    button.words.clear()
    for word, at in (("press", 3.0), ("release", 4.0), ("press", 3.9)):
        assert button.push.command(word, at)
    assert button.words == (["released"] if once else ["pressed", "released"]) and not button.push.held


async def test_toggled_by_a_key_that_only_presses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_to_talk, "COMMAND_REPEAT_MS", 50)
    button = Button("toggle")
    button.push.command("press")
    button.push.command("press")
    assert button.words == ["pressed"]
    await asyncio.sleep(0.2)
    assert button.words == ["pressed"]
    button.push.command("press")
    assert button.words == ["pressed", "released"]


async def test_the_button_says_how_to_talk_while_the_space_bar_types(window: MainWindow) -> None:
    field, button = window.transcript.composer.field, window.dock.button
    await until(lambda: button.hint == "or hold the space bar")
    await until(window.isActiveWindow)
    field.setFocus()
    QTest.keyClicks(field, "a b")
    assert field.text() == "a b" and button.hint == "Enter sends your message"
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.hasFocus() and button.hint == "Enter sends your message"
    field.setText(" ")
    assert button.hint == "or hold the space bar"
