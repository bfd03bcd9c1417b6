"""Clickable links in a text view, either to web pages, which open in the browser, or to parts of the window."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QImage, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QTextEdit, QWidget

from app.gui.design.plain import show_tip

_SCHEMES = ("http", "https")
INNER = "kame:"
"""Prefix of links to parts of the window. Only the window can create them; `is_link` rejects them in model output."""


def is_link(address: str) -> bool:
    """Returns whether an address is a web URL and thus safe to open. Model output may also link to files or scripts."""
    url = QUrl(address)
    return url.isValid() and url.scheme().lower() in _SCHEMES


def open_link(address: str) -> None:
    """Opens an address in the browser if `is_link` allows it."""
    if is_link(address):
        QDesktopServices.openUrl(QUrl(address))


class LinkView(QTextEdit):
    """A text view whose links open on a click, or on Enter at the text cursor.

    A tooltip shows a link's address before it is opened.
    """

    followed = Signal(str)
    """Emits the address, including `INNER`, of an activated link to a part of the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed_link = self._told_link = ""
        self.viewport().setMouseTracking(True)

    def link_words(self, link: str) -> str:
        """Returns the tooltip text of a link."""
        return link

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Returns a blank image, so that untrusted text can't load files. On None, Qt would read the file itself."""
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
        """Opens the clicked link, unless the user was selecting text."""
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
            self._tell_at_cursor()

    def _tell_at_cursor(self) -> None:
        """Shows the address of the link that a key has led to, since Enter would open it."""
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
