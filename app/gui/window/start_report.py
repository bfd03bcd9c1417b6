"""Records how long the app's start takes, and the start of a second session; then closes the window.

For `bench startup`, which runs the app as a child process. Times are in seconds of the system's monotonic clock, which
both processes share.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer

from app.platform.files import private_file

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow

PAINTED_LINE = "window painted"
"""Written to standard error when the window is first painted, between the lines of `-X importtime`."""


class StartReport(QObject):
    """Writes `path` once the window is painted and a second session has replaced the first, or a session has failed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._times: dict[str, float] = {}
        self._problem = ""
        self._window: MainWindow | None = None
        self.mark("imported")

    def mark(self, step: str) -> None:
        """Records that this step is reached; only its first time counts."""
        self._times.setdefault(step, time.monotonic())

    def watch(self, window: MainWindow) -> None:
        """Watches the window, which is made but not shown yet."""
        self.mark("made")
        self._window = window
        window.installEventFilter(self)
        window.model.phase_changed.connect(self._phase_changed)
        window.model.changed.connect(self._look_whether_heard)
        window.manager.failed.connect(self._failed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Waits for the first paint, which is on the screen once the event has been handled."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._painted)
        return False

    def _painted(self) -> None:
        self.mark("painted")
        print(PAINTED_LINE, file=sys.stderr, flush=True)
        self._finish()

    def _look_whether_heard(self) -> None:
        if self._window is not None and self._window.model.talk.hears_early:
            self.mark("heard")

    def _phase_changed(self, phase: str) -> None:
        if phase != "running":
            return
        if "running" in self._times:
            self.mark("running again")
            self._finish()
        else:
            self.mark("running")
            QTimer.singleShot(0, self._start_again)

    def _start_again(self) -> None:
        if self._window is not None:
            self.mark("begun again")
            self._window.manager.start(self._window.manager.wanted)

    def _failed(self, sentence: str, _retry: bool) -> None:
        if "running again" not in self._times:
            self._problem = sentence
            self._finish()

    def _finish(self) -> None:
        done = "running again" in self._times or self._problem
        if self._window is None or "painted" not in self._times or not done:
            return
        with private_file(self._path, "w", encoding="utf-8") as file:
            json.dump({"times": self._times, "problem": self._problem}, file)
        QTimer.singleShot(0, self._window.close)
        self._window = None
