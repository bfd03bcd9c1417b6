"""Has weights downloaded for the window: one download at a time, on a thread, that can be stopped.

Knows weights only by the protocol `WeightsStore`, and nothing of widgets.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading

from PySide6.QtCore import QObject, Signal, Slot

from app.session.control import WeightsStore
from app.session.errors import UserError

STEP = 0.002
"""Progress is told when so much more of the whole has come, and at each new word."""

_log = logging.getLogger(__name__)


class WeightsKeeper(QObject):
    """`progressed` tells words and a share done; `done` that the weights are here; `failed` a sentence."""

    progressed = Signal(str, float)
    done = Signal(str)
    failed = Signal(str)
    _told = Signal(str, float)

    def __init__(self, store: WeightsStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._cancelled = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._last = -1.0
        self.busy = False
        """Whether a download goes on."""
        # The download's thread reports: a signal brings its words to this one.
        self._told.connect(self._tell)

    def missing(self, frontend: str) -> str:
        """What is missing of a front-end's weights, in words; empty when they are here or not needed."""
        return self._store.missing(frontend)

    def get(self, frontend: str) -> None:
        """Begins to download a front-end's weights, or goes on with it."""
        if self.busy:
            return
        self._cancelled, self._last, self.busy = threading.Event(), -1.0, True
        self._task = asyncio.get_running_loop().create_task(self._get(frontend), name="download")

    def stop(self) -> None:
        """Stops the download; what has come stays."""
        self._cancelled.set()

    async def close(self) -> None:
        """Stops the download and waits for its thread."""
        self.stop()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=5)

    async def _get(self, frontend: str) -> None:
        sentence = ""
        try:
            await asyncio.to_thread(self._store.get, frontend, self._report, self._cancelled)
        except UserError as error:
            sentence = str(error)
        except Exception as error:
            _log.exception("the download failed")
            sentence = self.tr("The download failed, because of a fault in the program ({0}).")
            sentence = sentence.format(type(error).__name__)
        finally:
            self.busy = False
        if sentence:
            self.failed.emit(sentence)
        else:
            self.done.emit(frontend)

    def _report(self, words: str, share: float) -> None:
        with contextlib.suppress(RuntimeError):  # the window is gone
            self._told.emit(words, share)

    @Slot(str, float)
    def _tell(self, words: str, share: float) -> None:
        if share < self._last or share - self._last >= STEP or share >= 1.0:
            self._last = share
            self.progressed.emit(words, share)
