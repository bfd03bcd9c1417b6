"""Links in a text view: to addresses that open in the system's browser or mail program, and to parts of the window."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QTextEdit, QWidget

_SCHEMES = ("http", "https", "mailto")
INNER = "kame:"
"""How the address of a link to a part of the window begins. Only the window makes such links: see `is_link`."""


def is_link(address: str) -> bool:
    """Whether an address may be opened: a model may write any, also of a file or of a script."""
    url = QUrl(address)
    return url.isValid() and url.scheme().lower() in _SCHEMES


def open_link(address: str) -> None:
    """Opens an address that may be opened."""
    if is_link(address):
        QDesktopServices.openUrl(QUrl(address))


class LinkView(QTextEdit):
    """A text view whose links open by a click, or by Enter at the text cursor."""

    followed = Signal(str)
    """A link to a part of the window was chosen: its address, which begins with `INNER`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed_link = ""
        self.viewport().setMouseTracking(True)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        hand = not event.buttons() and self.anchorAt(event.position().toPoint())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.IBeamCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        left = event.button() == Qt.MouseButton.LeftButton
        self._pressed_link = self.anchorAt(event.position().toPoint()) if left else ""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Opens the link that was clicked; one over which text was selected stays closed."""
        super().mouseReleaseEvent(event)
        link, self._pressed_link = self._pressed_link, ""
        if link and link == self.anchorAt(event.position().toPoint()) and not self.textCursor().hasSelection():
            self._follow(link)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Opens the link at the text cursor on Enter."""
        link = self.textCursor().charFormat().anchorHref()
        if link and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._follow(link)
        else:
            super().keyPressEvent(event)

    def _follow(self, link: str) -> None:
        if link.startswith(INNER):
            self.followed.emit(link)
        else:
            open_link(link)
