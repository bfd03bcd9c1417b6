"""Downloads one thing at a time on a thread, and can be stopped."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from app.session.errors import UserError

STEP = 0.002
"""The least progress that is reported, as a share of the whole."""

Report = Callable[[str, float], None]
_log = logging.getLogger(__name__)


class FetchController(QObject):
    """`progressed` emits words and the share done, -1 if it is not known; `failed` a sentence."""

    progressed = Signal(str, float)
    failed = Signal(str)
    _reported = Signal(str, float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cancelled = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._last = -2.0
        self.busy = False
        """Whether something is being fetched."""
        # The thread reports: a signal moves the report to this one.
        self._reported.connect(self._throttle)

    def stop(self) -> None:
        """Stops the download; what has been downloaded is kept."""
        self._cancelled.set()

    async def close(self) -> None:
        """Stops the download, and waits for its thread."""
        self.stop()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=5)

    def _start(self, work: Callable[[Report, threading.Event], None], done: Callable[[], None]) -> None:
        """Runs `work` on a thread, then calls `done`, or emits `failed`. Does nothing during another download."""
        if self.busy:
            return
        self._cancelled, self._last, self.busy = threading.Event(), -2.0, True
        self._task = asyncio.get_running_loop().create_task(self._fetch(work, done), name="download")

    async def _fetch(self, work: Callable[[Report, threading.Event], None], done: Callable[[], None]) -> None:
        sentence = ""
        try:
            await asyncio.to_thread(work, self._report, self._cancelled)
        except UserError as error:
            sentence = str(error)
        except Exception as error:
            _log.exception("fetching or installing failed")
            sentence = self.tr("This failed, because of a fault in the program ({0}). The log has the details.")
            sentence = sentence.format(type(error).__name__)
        finally:
            self.busy = False
        if sentence:
            self.failed.emit(sentence)
        else:
            done()

    def _report(self, words: str, share: float) -> None:
        with contextlib.suppress(RuntimeError):  # the window is gone
            self._reported.emit(words, share)

    @Slot(str, float)
    def _throttle(self, words: str, share: float) -> None:
        if share < 0 or share < self._last or share - self._last >= STEP or share >= 1.0:
            self._last = share
            self.progressed.emit(words, share)
