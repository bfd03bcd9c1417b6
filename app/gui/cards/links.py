"""Links in a text view: to addresses that open in the system's browser, and to parts of the window."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QImage, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QTextEdit, QWidget

from app.gui.design.plain import show_tip

_SCHEMES = ("http", "https")
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
    """A text view whose links open by a click, or by Enter at the text cursor; each shows before where it leads."""

    followed = Signal(str)
    """A link to a part of the window was chosen: its address, which begins with `INNER`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed_link = self._told_link = ""
        self.viewport().setMouseTracking(True)
        self.cursorPositionChanged.connect(self._tell_at_cursor)

    def link_words(self, link: str) -> str:
        """The tooltip of a link."""
        return link

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Loads nothing: a text from outside may name any file. Where nothing is returned, Qt reads the file itself."""
        nothing = QImage(1, 1, QImage.Format.Format_ARGB32)
        nothing.fill(Qt.GlobalColor.transparent)
        return nothing

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        hand = "" if event.buttons() else self.anchorAt(event.position().toPoint())
        self._tell(hand, event.globalPosition().toPoint())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.IBeamCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        left = event.button() == Qt.MouseButton.LeftButton
        self._pressed_link = self.anchorAt(event.position().toPoint()) if left else ""
        self._tell(self._pressed_link, event.globalPosition().toPoint())

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

    def _tell_at_cursor(self) -> None:
        """Tells the address of the link that Enter would open."""
        if self.hasFocus() and not self._pressed_link:
            place = self.cursorRect().bottomLeft()
            self._tell(self.textCursor().charFormat().anchorHref(), self.viewport().mapToGlobal(place))

    def _tell(self, link: str, at: QPoint) -> None:
        if link != self._told_link:
            self._told_link = link
            show_tip(at, self.link_words(link) if link else "", self.viewport(), wrap=True)

    def _follow(self, link: str) -> None:
        if link.startswith(INNER):
            self.followed.emit(link)
        else:
            open_link(link)
