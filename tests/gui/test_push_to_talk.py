"""The talk button by mouse and by space bar: one press, one release, whatever happens in between."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.settings import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import key, shown, until

SPACE = Qt.Key.Key_Space


async def test_holding_space_presses_once_and_letting_go_releases_once() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        assert window.talk_bar.button.text() == "Hold to talk"
        key(window, SPACE, down=True)
        assert factory.session.calls == [("press",)]
        assert window.talk_bar.button.text() == "Listening"
        for _ in range(5):
            key(window, SPACE, down=False, repeat=True)  # as X11 repeats a key
            key(window, SPACE, down=True, repeat=True)
            key(window, SPACE, down=False)  # as some X servers do, without a mark
            key(window, SPACE, down=True)
        await asyncio.sleep(0.1)
        assert factory.session.calls == [("press",)]
        key(window, SPACE, down=False)
        await until(lambda: factory.session.calls == [("press",), ("release",)])
        assert window.talk_bar.button.text() == "Hold to talk"


async def test_space_talks_even_with_the_focus_on_a_button_and_clicks_nothing() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        await until(window.isActiveWindow)
        window.setup.stop_button.setFocus()
        assert QApplication.focusWidget() is window.setup.stop_button
        key(window, SPACE, down=True)
        key(window, SPACE, down=False)
        await until(lambda: factory.session.calls == [("press",), ("release",)])
        assert window.keeper.phase == "running"


async def test_enter_clicks_the_focused_button_instead() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        await until(window.isActiveWindow)
        window.talk_bar.duplex.setFocus()
        key(window, Qt.Key.Key_Return, down=True)
        assert window.talk_bar.duplex.isChecked()
        assert ("set_duplex", True) in factory.session.calls


async def test_space_in_a_text_field_is_a_space() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(provider="ollama")) as window:
        await until(window.isActiveWindow)
        window.setup.model.setFocus()
        window.setup.model.setEditText("a")
        key(window, SPACE, down=True)
        key(window, SPACE, down=False)
        assert factory.session.calls == []
        assert window.setup.model.currentText() == "a "


async def test_space_with_the_focus_in_the_transcript_talks() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        await until(window.isActiveWindow)
        window.transcript.view.setFocus()
        key(window, SPACE, down=True)
        assert factory.session.calls == [("press",)]


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


async def test_the_mouse_holds_and_both_together_count_once() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        button = window.talk_bar.button
        QTest.mousePress(button, Qt.MouseButton.LeftButton)
        key(window, SPACE, down=True)
        QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
        assert factory.session.calls == [("press",)]
        key(window, SPACE, down=False)
        await until(lambda: factory.session.calls == [("press",), ("release",)])


async def test_nothing_is_pressed_while_loading_or_in_full_duplex() -> None:
    factory = FakeFactory()
    async with shown(factory, running=False) as window:
        key(window, SPACE, down=True)
        key(window, SPACE, down=False)
        await until(lambda: window.keeper.session)
        assert factory.session.calls == []
        window.talk_bar.duplex.click()
        key(window, SPACE, down=True)
        key(window, SPACE, down=False)
        assert not window.talk_bar.button.isEnabled()
        assert factory.session.calls == [("set_duplex", True)]


async def test_switching_to_full_duplex_while_held_lets_go_first() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        key(window, SPACE, down=True)
        window.talk_bar.duplex.setChecked(True)
        assert factory.session.calls == [("press",), ("release",), ("set_duplex", True)]


async def test_closing_while_held_lets_go() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        key(window, SPACE, down=True)
        window.close()
        assert factory.session.calls == [("press",), ("release",)]
