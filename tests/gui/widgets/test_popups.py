"""What opens over a button or a field: it leaves no trace on it, and its entries are whole."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.gui.design.icons import IconButton
from app.gui.design.theme import apply_theme
from app.gui.widgets.lists import PickList


def test_a_button_is_no_longer_highlighted_after_its_menu_was_closed(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(400, 300)
    button = IconButton("ellipsis", "More", window)
    button.move(40, 100)
    menu = QMenu(button)
    menu.addAction("One")
    button.clicked.connect(lambda: menu.popup(button.mapToGlobal(button.rect().bottomLeft())))
    QLineEdit(window).setFocus()  # a button with the focus is repainted anyway
    window.show()
    qtbot.waitUntil(window.isActiveWindow)
    handle, place, spot = window.windowHandle(), button.geometry().center(), button.geometry().center() - QPoint(0, 14)

    def colour() -> str:
        return str(window.screen().grabWindow(window.winId()).toImage().pixelColor(spot).name())

    QTest.mouseMove(handle, QPoint(300, 280))
    usual = colour()
    QTest.mouseMove(handle, place)
    qtbot.waitUntil(lambda: colour() != usual)
    QTest.mouseClick(handle, Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(menu.isVisible)
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not menu.isVisible() and colour() == usual, timeout=3000)


@pytest.mark.parametrize("scheme, percent", [("light", 100), ("dark", 125), ("contrast", 125), ("contrast", 100)])
@pytest.mark.parametrize("count", [2, 6, 25])
def test_a_list_that_drops_down_has_whole_rows_and_one_frame(
    qtbot: QtBot, qapp: QApplication, scheme: str, percent: int, count: int
) -> None:
    apply_theme(qapp, scheme, percent)
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(400, 300)
    picker = PickList(window)
    picker.addItems([f"Entry {number}" for number in range(count)])
    window.show()
    picker.showPopup()
    view = picker.view()
    qtbot.waitUntil(view.isVisible)
    inside = view.viewport().rect()
    rows = [view.visualRect(view.model().index(row, 0)) for row in range(count)]
    seen = [row for row in rows if row.intersects(inside)]
    assert len(seen) == min(count, 10) and all(inside.contains(row) for row in seen)
    assert inside.height() == sum(row.height() for row in seen), "and no arrow to scroll by"
    around = view.window()
    assert isinstance(around, QFrame) and around.frameWidth() == 0
    edge, within = (around.grab().toImage().pixelColor(x, around.height() // 2) for x in (0, 1))
    assert edge != within
