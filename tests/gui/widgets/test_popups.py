"""What opens over a button or a field: it leaves no trace on it, and its entries are whole."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.gui.design.icons import IconButton


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
