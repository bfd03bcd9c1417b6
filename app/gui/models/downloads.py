"""Background downloads of models, front-end weights and graphics card support.

Each controller runs one download at a time. Downloads belong to the window, so they continue after the dialog that
started them is closed. Progress is reported through the controller's signals.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from app.services.graphics_service import GraphicsService
from app.services.model_service import ModelService, VoiceView
from app.session.control import UserError

STEP = 0.002
"""Minimum progress between two reports, as a fraction of the download."""

Report = Callable[[str, float], None]
_log = logging.getLogger(__name__)


class FetchController(QObject):
    """Base class for download controllers.

    `progressed` emits a status message and the completed fraction (-1 if unknown). `failed` emits an error message.
    """

    progressed = Signal(str, float)
    failed = Signal(str)
    _reported = Signal(str, float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cancelled = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._last = -2.0
        self.busy = False
        """Whether a download is running."""
        # Reports come from the download thread; the signal delivers them to this one.
        self._reported.connect(self._throttle)

    def stop(self) -> None:
        """Stops the download. The data downloaded so far is kept."""
        self._cancelled.set()

    async def close(self) -> None:
        """Stops the download and waits up to 5 s for its thread to finish."""
        self.stop()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=5)

    def _start(self, work: Callable[[Report, threading.Event], None], done: Callable[[], None]) -> None:
        """Runs `work` in a thread. Calls `done` on success and emits `failed` on error.

        No-op if a download is already running.
        """
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
            sentence = self.tr("This failed because of a bug in KAME ({0}). The log has the details.")
            sentence = sentence.format(type(error).__name__)
        finally:
            self.busy = False
        if sentence:
            self.failed.emit(sentence)
        else:
            done()

    def _report(self, words: str, share: float) -> None:
        with contextlib.suppress(RuntimeError):  # the window has been destroyed
            self._reported.emit(words, share)

    @Slot(str, float)
    def _throttle(self, words: str, share: float) -> None:
        if share < 0 or share < self._last or share - self._last >= STEP or share >= 1.0:
            self._last = share
            self.progressed.emit(words, share)


class ModelsController(FetchController):
    """Downloads models from the catalogue.

    `started` and `arrived` emit a model's key, the latter once the model is installed and its speed has been measured.
    """

    arrived = Signal(str)
    started = Signal(str)

    def __init__(self, service: ModelService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.service = service
        self._key = ""

    @property
    def fetching(self) -> str:
        """The key of the model being downloaded, or an empty string."""
        return self._key if self.busy else ""

    def voices(self) -> list[VoiceView]:
        """Returns the voices installed on this machine. Thread-safe; performs disk I/O."""
        found: list[VoiceView] = []
        for model in self.service.models():
            if model.kind == "tts" and model.usable:
                found += model.voices or [VoiceView(model.key, model.label, model.languages[0])]
        return found

    def get(self, key: str) -> None:
        """Starts or resumes the download of a model. No-op if a download is already running."""
        if self.busy:
            return
        self._key = key
        self._start(lambda report, cancelled: self.service.get(key, report, cancelled), lambda: self.arrived.emit(key))
        self.started.emit(key)


class GraphicsController(FetchController):
    """Installs graphics card support and restarts the app to use it.

    - `done`: emitted when the installation is complete
    - `arrived_unseen`, `failed_unseen`: emitted along with `done` or `failed` if `watched` is False
    - `restarting`: emitted when the app must quit; it is then relaunched automatically
    """

    done = Signal()
    arrived_unseen = Signal()
    failed_unseen = Signal(str)
    restarting = Signal()

    def __init__(self, service: GraphicsService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self.watched = False
        """Whether the progress is currently visible to the user."""
        self.failed.connect(self._on_failed)

    def install(self) -> None:
        """Starts or resumes the installation."""
        self._start(self._service.install, self._installed)

    def restart(self) -> None:
        """Schedules a restart and emits `restarting`, or emits `failed` on error."""
        try:
            self._service.restart()
        except UserError as error:
            self.failed.emit(str(error))
        else:
            self.restarting.emit()

    def _on_failed(self, sentence: str) -> None:
        if not self.watched:
            self.failed_unseen.emit(sentence)

    def _installed(self) -> None:
        self.done.emit()
        if not self.watched:
            self.arrived_unseen.emit()
