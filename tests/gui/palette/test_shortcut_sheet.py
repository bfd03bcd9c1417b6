"""The sheet of keys: what is on it, how it is reached, and that no key of the window is missing."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from app.gui.palette.command import menu_actions, native_keys
from app.gui.palette.shortcut_sheet import KeyCaps, ShortcutSheet
from app.gui.shell import key_routing
from app.gui.window.main_window import MainWindow
from app.settings.declarations import Settings
from app.settings.window_state import WindowState
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import heard, press_key, shown, type_keys, until

FAVOURITE = WindowState(favourites=[{"provider": "ollama", "model": "gemma3:4b", "base_url": "http://127.0.0.1:11434"}])


@pytest.fixture
def given() -> dict[str, object]:
    return {"state": FAVOURITE, "service": FakeBackendService()}


def sheet_of(window: MainWindow) -> ShortcutSheet:
    sheet = window.quick.sheet
    assert sheet is not None and sheet.isVisible()
    return sheet


def listed(sheet: ShortcutSheet) -> dict[str, str]:
    """What each combination does, by the groups."""
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
    for _, action in menu_actions(window.menu.bar):
        for keys in action.shortcuts():
            assert not action.isVisible() or native_keys(keys) in found, action.text()
    assert found["Alt+1"] == "gemma3:4b (Ollama)" and found["F6"] == "Go to the newest message"
    assert found["Space"] == found["Ctrl+Alt+Space"] == "Talk, while it is held"
    everywhere = Qt.ShortcutContext.WindowShortcut
    for one in window.findChildren(QShortcut):
        if one.context() == everywhere:
            assert native_keys(one.key()) in found, "a shortcut of the window says nowhere what it does"


async def test_it_is_made_anew_each_time(window: MainWindow) -> None:
    window.quick.open_sheet()
    sheet = sheet_of(window)
    sheet.close()
    window.live.change("talk_mode", "toggle")
    window.live.change("mute_hotkey", "")
    window.menu.latency_action.setShortcut(QKeySequence("Ctrl+Shift+L"))
    window.quick.open_sheet()
    assert sheet_of(window) is sheet
    found = listed(sheet)
    assert found["Space"] == "Begin to talk, and end" and found["Ctrl+Shift+L"] == "Latency"
    assert "Ctrl+Alt+Shift+M" not in found and "Ctrl+L" not in found
    shown_caps = {caps.keys for caps in sheet.findChildren(KeyCaps) if caps.isVisible()}
    assert ("F1",) in shown_caps and ("?",) in shown_caps and ("Ctrl+Shift+L",) in shown_caps


async def test_the_keys_of_the_mini_window_and_of_the_other_model_work_beside_it(window: MainWindow) -> None:
    handed = heard(window.menu.hand_over)
    window.menu.hand_action.setEnabled(True)
    window.quick.open_sheet()
    sheet = sheet_of(window)
    await until(sheet.isActiveWindow)
    await press_key(sheet, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    assert handed == [()]
    await press_key(sheet, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert window.mini_mode.is_on


async def test_the_guide_is_opened_from_it_and_from_the_menu_only(window: MainWindow) -> None:
    window.quick.open_sheet()
    sheet = sheet_of(window)
    QTest.mouseClick(sheet.guide_button, Qt.MouseButton.LeftButton)
    assert not sheet.isVisible() and window.panels.guide is not None and window.panels.guide.isVisible()
    window.quick.open_sheet()
    window.close()
    assert not sheet.isVisible()


@pytest.mark.parametrize(("percent", "columns"), [(100, 2), (200, 1)])
async def test_it_has_two_columns_where_there_is_room(percent: int, columns: int) -> None:
    async with shown(
        FakeFactory(), Settings(theme="light", font_scale=percent), state=FAVOURITE, service=FakeBackendService()
    ) as window:
        window.quick.open_sheet()
        sheet = sheet_of(window)
        QApplication.processEvents()
        caps = [one for one in sheet.findChildren(KeyCaps) if one.isVisible()]
        ends = {one.mapTo(sheet, one.rect().topRight()).x() for one in caps}
        assert len(ends) == columns
        assert sheet.area.horizontalScrollBar().maximum() == 0
        for label in sheet.findChildren(QLabel):
            assert not label.isVisible() or label.height() >= label.heightForWidth(label.width()), label.text()
