"""The sheet of keys: what is on it, how it is reached, and that no key of the window is missing."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QShortcut
from PySide6.QtTest import QTest

from app.gui.palette.command import menu_actions, native_keys
from app.gui.palette.shortcut_sheet import ShortcutSheet
from app.gui.shell import key_routing
from app.gui.window.main_window import MainWindow
from app.settings.kept_state import WindowState
from tests.gui.fakes import FakeBackendService
from tests.gui.helpers import type_keys, until

FAVOURITE = WindowState(favourites=[{"provider": "ollama", "model": "gemma3:4b", "base_url": "http://127.0.0.1:11434"}])


@pytest.fixture
def given() -> dict[str, object]:
    return {"state": FAVOURITE, "service": FakeBackendService()}


def sheet_of(window: MainWindow) -> ShortcutSheet:
    sheet = window.quick.sheet
    assert sheet is not None and sheet.isVisible()
    return sheet


def listed(sheet: ShortcutSheet) -> dict[str, str]:
    return {keys: key.words for group in sheet.groups for key in group.keys for keys in key.keys}


async def test_f1_and_a_question_mark_show_it_unless_one_is_typing(monkeypatch: pytest.MonkeyPatch, window) -> None:
    field = window.transcript.composer.field
    field.setFocus()
    await type_keys(window, "Why?")
    assert window.quick.sheet is None, "a question mark is text here"
    QTest.keyClick(field, Qt.Key.Key_F1)
    sheet = sheet_of(window)
    await until(sheet.isActiveWindow)
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert not sheet.isVisible()
    window.activateWindow()
    await until(window.isActiveWindow)
    monkeypatch.setattr(key_routing, "TYPING_SECONDS", 0.0)
    await type_keys(window, "?")
    assert field.text() == "Why??" and not sheet.isVisible(), "there is a message"
    field.clear()
    await type_keys(window, "?")
    assert field.text() == "" and sheet.isVisible()


async def test_every_key_of_menus_favourites_and_shortcuts_is_on_it(window: MainWindow) -> None:
    window.quick.open_sheet()
    found = listed(sheet_of(window))
    for _, action in menu_actions(window.commands.bar):
        for keys in action.shortcuts():
            assert not action.isVisible() or native_keys(keys) in found, action.text()
    assert found["Alt+1"] == "gemma3:4b (Ollama)" and found["F6"] == "Go to the newest notice"
    assert found["1…9"] == "Use a favourite, while you are not typing", "in booth mode"
    assert found["Space"] == found["Ctrl+Alt+Space"] == "Talk, while it is held"
    everywhere = Qt.ShortcutContext.WindowShortcut
    for one in window.findChildren(QShortcut):
        if one.context() == everywhere:
            assert native_keys(one.key()) in found, "a shortcut of the window says nowhere what it does"


async def test_keys_that_a_list_or_the_message_field_takes_are_on_it_by_their_place(window: MainWindow) -> None:
    window.quick.open_sheet()
    groups = {
        group.title: {keys: key.words for key in group.keys for keys in key.keys} for group in sheet_of(window).groups
    }
    assert {"Enter", "Shift+Enter", "Esc"} <= set(groups["Typing"]) and groups["Conversation"]["Esc"] == "Stop speaking"
    assert groups["In the list of models"]["Ctrl+D"] == "Make it a favourite, or no longer"
    assert "Alt+1…9" in groups["In the list of models"]
    assert set(groups["In the list of conversations"]) == {"Enter", "F2", "P", "Del", "Ctrl+Z"}
    assert groups["In the timeline"]["P"] == "Pause it, or follow the conversation again"
    assert groups["Model"]["Ctrl+Shift+M"] == "Choose a model"


async def test_escape_does_what_the_window_says_and_not_the_menus_entry(window: MainWindow) -> None:
    given: list[str] = []
    window.commands["silence"].triggered.connect(lambda: given.append("menu"))
    window.messages.say("Something happened.")
    QTest.keyClick(window.transcript.composer.field, Qt.Key.Key_Escape)
    assert given == [] and window.messages.sentences() == []


async def test_the_guide_is_opened_from_it_and_from_the_menu_only(window: MainWindow) -> None:
    window.quick.open_sheet()
    sheet = sheet_of(window)
    QTest.mouseClick(sheet.guide_button, Qt.MouseButton.LeftButton)
    assert not sheet.isVisible() and window.panels.guide is not None and window.panels.guide.isVisible()
    window.quick.open_sheet()
    window.close()
    assert not sheet.isVisible()
