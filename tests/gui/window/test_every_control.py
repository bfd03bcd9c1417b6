"""Every button and every menu entry, once: whatever they do, nothing breaks, and the window still answers."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QDialog, QFileDialog, QLineEdit, QMenu

from app.conversation import events as e
from app.gui.window.main_window import MainWindow
from app.settings.declarations import Settings
from tests.gui.fake_history import some
from tests.gui.fakes import FakeFactory, FakePrices
from tests.gui.helpers import say, shown, spoken, transcript, typed, until
from tests.gui.window.test_accessibility import OPENERS
from tests.gui.window.test_panels import everything


@pytest.fixture(autouse=True)
def _nothing_outside(monkeypatch: pytest.MonkeyPatch, no_double_clicks: None) -> None:
    """No file dialog, no other program, and no double click."""
    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(lambda url: True))
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, name, staticmethod(lambda *_, **__: ("", "")))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", staticmethod(lambda *_, **__: ""))


def surroundings() -> dict[str, Any]:
    around = everything()
    around["history"] = some(6, 1_700_000_000.0)
    around["service"].prices = FakePrices()
    return around


@pytest.fixture
async def window(factory: FakeFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> AsyncIterator[MainWindow]:
    """A window with all that it can have, which still has to answer in the end, and may log no warning."""
    settings = Settings(path=tmp_path / "settings.json", provider="ollama")
    async with shown(factory, settings, **surroundings()) as window:
        yield window
    records = [record for phase in ("setup", "call", "teardown") for record in caplog.get_records(phase)]
    assert [record.getMessage() for record in records if record.levelno >= logging.WARNING] == []


def close_popup() -> None:
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()


def click(button: QAbstractButton) -> None:
    """Clicks it; a menu that it waits for is closed."""
    QTimer.singleShot(60, close_popup)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def close_all(window: MainWindow) -> None:
    for _ in range(8):
        popup = QApplication.activePopupWidget()
        if popup is None:
            break
        popup.close()
    for widget in QApplication.topLevelWidgets():
        if widget is not window and widget.isVisible() and isinstance(widget, QDialog | QMenu):
            widget.close()
    if window.mini_mode.is_on:
        window.mini_mode.toggle()


async def answers(window: MainWindow, factory: FakeFactory) -> None:
    """The window still shows what a conversation says, and takes what is typed."""
    if window.manager.phase != "running":
        window.starter.go_on_if_stopped()
        await until(lambda: window.manager.session is not None)
    say(window, *spoken(900, "Still there?", "Yes.", at=9_000.0))
    assert "Still there?" in "".join(transcript(window))
    window.transcript.composer.field.clear()  # a turn's “Edit and ask” may have filled it
    typed(window, "And by hand?")
    assert factory.session.calls[-1] == ("write", "And by hand?")


def menus(window: MainWindow) -> list[tuple[str, QAction]]:
    return [
        (title.text(), action)
        for title in window.commands.bar.actions()
        if isinstance(menu := title.menu(), QMenu)
        for action in menu.actions()
        if not action.isSeparator()
    ]


async def test_every_menu_entry_does_no_harm(window: MainWindow, factory: FakeFactory) -> None:
    say(window, *spoken(1, "What is it?", "A test."), e.SecondaryChanged(5, "OpenAI", "gpt"))
    entries = [action for _, action in menus(window) if "Quit" not in action.text().replace("&", "")]
    assert len(entries) >= 20
    for action in entries:
        if action.isVisible() and action.isEnabled():
            action.trigger()
            await asyncio.sleep(0.02)
            close_all(window)
            assert window.isVisible(), action.text()
    await answers(window, factory)
    assert window.messages.sentences() == [] or "fault" not in " ".join(window.messages.sentences())


async def test_every_button_of_the_window_does_no_harm(window: MainWindow, factory: FakeFactory) -> None:
    window.resize(1400, 900)
    say(
        window,
        *spoken(1, "What is it?", "A test."),
        e.SecondaryChanged(5, "OpenAI", "gpt"),
        e.Failure(6, "backend", "It is slow."),
    )
    buttons = [button for button in window.findChildren(QAbstractButton) if button.window() is window]
    assert len(buttons) >= 20
    clicked = 0
    for button in buttons:
        try:
            usable = button.isVisible() and button.isEnabled()
        except RuntimeError:
            continue  # its row has gone, with the button before it
        if usable:
            click(button)
            clicked += 1
            await asyncio.sleep(0.02)
            close_all(window)
            assert window.isVisible(), button.accessibleName()
    assert clicked >= 20
    await answers(window, factory)


async def test_every_list_can_be_gone_through(window: MainWindow, factory: FakeFactory) -> None:
    for box in window.findChildren(QComboBox):
        if box.window() is window and box.isVisible() and box.isEnabled():
            for place in range(box.count()):
                box.setCurrentIndex(place)
                box.activated.emit(place)
                await asyncio.sleep(0)
                close_all(window)
    await answers(window, factory)


PAGES = ["settings general", "models machine"]
DIALOGS = ["log", "about", "sound", "servers", "prices", "ollama", "conversation", "duplicate", "secondary"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES + DIALOGS)
async def test_no_button_of_any_dialog_does_harm(name: str, window: MainWindow, factory: FakeFactory) -> None:
    await until(lambda: window.conversations.list.place("c0") >= 0)
    OPENERS[name](window)
    await asyncio.sleep(0.02)
    (dialog,) = (
        widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QDialog) and widget.isVisible()
    )
    for button in dialog.findChildren(QAbstractButton):
        if not dialog.isVisible():
            OPENERS[name](window)
        for other in QApplication.topLevelWidgets():
            if isinstance(other, QDialog) and other is not dialog and other.isVisible():
                other.close()
        await asyncio.sleep(0.01)
        try:
            usable = button.isVisible() and button.isEnabled() and not isinstance(button.parent(), QLineEdit)
        except RuntimeError:
            continue
        if usable:
            click(button)
            await asyncio.sleep(0.02)
            close_popup()
    close_all(window)
    await answers(window, factory)


async def test_every_menu_entry_has_a_name_and_a_key_of_its_own(window: MainWindow) -> None:
    keys: dict[str, str] = {}
    for title in window.commands.bar.actions():
        letters = []
        menu = title.menu()
        assert isinstance(menu, QMenu)
        for action in menu.actions():
            if action.isSeparator() or not action.isVisible():
                continue
            assert action.text().strip("&…"), title.text()
            assert "&" in action.text(), f"{action.text()} has no letter"
            letters.append(action.text()[action.text().index("&") + 1].lower())
            if keys_of := action.shortcut().toString():
                assert keys_of not in keys, f"{keys_of}: {action.text()} and {keys.get(keys_of)}"
                keys[keys_of] = action.text()
        assert len(set(letters)) == len(letters), f"{title.text()}: {letters}"
    assert len(keys) >= 8
