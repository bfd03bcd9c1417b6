"""Applies a chosen front-end: at once, or when its weights have been downloaded."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.gui.first_run.cards.download_strip import DownloadStrip
from app.settings.declarations import Settings


class FrontEndRequest(QObject):
    """`ready` emits a front-end other than the present one, whose weights are here; `arrived` the same for one that had
    to be downloaded first. Both emit its key and its precision, which is empty where it has none.
    """

    ready = Signal(str, str)
    arrived = Signal(str, str)

    def __init__(self, settings: Settings, download: DownloadStrip, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._download = download
        self._waiting: tuple[str, str] | None = None
        download.arrived.connect(self._on_weights)

    @property
    def waiting_for(self) -> str:
        """The front-end whose weights are awaited; empty for none."""
        return self._waiting[0] if self._waiting is not None else ""

    def wait(self, key: str, precision: str) -> None:
        """Uses a front-end once its weights are here."""
        self._waiting = (key, precision)

    def request(self, key: str, precision: str) -> None:
        """Uses a front-end, and no longer an earlier one."""
        self._waiting = None
        if self._download.missing(key):
            self.wait(key, precision)
        elif (key, precision or self._settings.precision) != (self._settings.frontend, self._settings.precision):
            self.ready.emit(key, precision)

    def _on_weights(self, frontend: str) -> None:
        if self._waiting is not None and self._waiting[0] == frontend:
            request, self._waiting = self._waiting, None
            self.arrived.emit(*request)
