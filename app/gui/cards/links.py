"""Opens links in the system's browser or mail program; no other kind of address is ever a link."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

_SCHEMES = ("http", "https", "mailto")


def is_link(address: str) -> bool:
    """Whether an address may be opened: a model may write any, also of a file or of a script."""
    url = QUrl(address)
    return url.isValid() and url.scheme().lower() in _SCHEMES


def open_link(address: str) -> None:
    """Opens an address that may be opened."""
    if is_link(address):
        QDesktopServices.openUrl(QUrl(address))
