"""The buttons over the code in a view of cards that copy it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractScrollArea, QPushButton, QWidget

from app.gui.cards.elements import Paragraph
from app.gui.design.icons import icon
from app.gui.design.look import Look

Key = tuple[int, int]
"""The place of a card, and the number of the code in it."""
TELLS_MS = 2000
"""So long a button says that it has copied."""
STYLE = "QPushButton { padding: 2px 8px } QPushButton:focus { padding: 0px 6px }"
"""Lower than other buttons, since it stands in a line of text."""


class CodeButtons(QObject):
    """Keeps a button for each code that is in view. `parent`: the view, before whose successors they get the focus."""

    def __init__(self, parent: QAbstractScrollArea) -> None:
        super().__init__(parent)
        self._view = parent
        self._buttons: dict[Key, CodeButton] = {}

    def place(self, strips: Mapping[Key, tuple[QRectF, Paragraph]]) -> None:
        """Shows the buttons at the right ends of these strips of the viewport, and no others."""
        for key in self._buttons.keys() - strips.keys():
            button = self._buttons.pop(key)
            if button.hasFocus():
                self._view.setFocus()
            button.hide()
            button.deleteLater()
        new = strips.keys() - self._buttons.keys()
        for key, (strip, code) in strips.items():
            button = self._buttons.get(key) or CodeButton(self._view.viewport())
            self._buttons[key] = button
            button.show_code(code)
            size = button.sizeHint()
            height = min(size.height(), round(strip.height()))
            button.setGeometry(
                round(strip.right()) - size.width() - 2,
                round(strip.center().y() - height / 2),
                size.width(),
                height,
            )
        if new:
            self._order()

    def restyle(self) -> None:
        """Uses the colours that the view has now."""
        for button in self._buttons.values():
            button.restyle()

    def _order(self) -> None:
        """Lets the focus go from the view to the first button, and from each to the next."""
        before: QWidget = self._view
        for key in sorted(self._buttons):
            button = self._buttons[key]
            QWidget.setTabOrder(before, button)
            button.show()
            before = button


class CodeButton(QPushButton):
    """Copies a piece of code."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._code = ""
        self._copied = False
        self._timer = QTimer(self, singleShot=True, interval=TELLS_MS)
        self._timer.timeout.connect(lambda: self._tell(copied=False))
        self.setProperty("flat", True)
        self.setStyleSheet(STYLE)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self._copy)
        self._tell(copied=False)

    def show_code(self, code: Paragraph) -> None:
        """Copies this code from now on."""
        self._code = code.code
        name = self.tr("Copy the code in {0}").format(code.language) if code.language else self.tr("Copy the code")
        if self.accessibleName() != name:
            self.setAccessibleName(name)

    def restyle(self) -> None:
        """Draws its icon in the colour that its text has now."""
        size = self.fontMetrics().ascent()
        self.setIconSize(QSize(size, size))
        self.setIcon(icon("check" if self._copied else "copy", Look.of(self.palette()).dim, size=size))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
        self._tell(copied=True)
        self._timer.start()

    def _tell(self, *, copied: bool) -> None:
        self._copied = copied
        self.setText(self.tr("Copied") if copied else self.tr("Copy"))
        self.restyle()
        right = self.geometry().right()
        self.resize(self.sizeHint().width(), self.height())
        self.move(right - self.width() + 1, self.y())
