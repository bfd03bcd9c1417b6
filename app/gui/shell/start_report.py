"""Says how long a start took, and then a second talk: writes when each step was reached, then closes the window.

For `bench startup`, which runs the app as a child process; the times are the system's monotonic ones (seconds), which
mean the same in both. Knows nothing of what the steps consist of.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer

if TYPE_CHECKING:
    from app.gui.shell.window import MainWindow

PAINTED_LINE = "window painted"
"""Stands on the error output where the window is first seen, among what `-X importtime` says there."""


class StartReport(QObject):
    """`mark` what is reached; `watch` the window. Writes `path` once it is painted and the talk runs, or can't.

    Where it runs, another talk takes its place before that.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._times: dict[str, float] = {}
        self._problem = ""
        self._window: MainWindow | None = None
        self.mark("imported")

    def mark(self, step: str) -> None:
        """This step is reached now; only the first time counts."""
        self._times.setdefault(step, time.monotonic())

    def watch(self, window: MainWindow) -> None:
        """The window is made, and not yet shown."""
        self.mark("made")
        self._window = window
        window.installEventFilter(self)
        window.manager.phase_changed.connect(self._phase_changed)
        window.manager.failed.connect(self._failed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hears of the first paint; what is painted is on the screen when the event has been dealt with."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._painted)
        return False

    def _painted(self) -> None:
        self.mark("painted")
        print(PAINTED_LINE, file=sys.stderr, flush=True)
        self._finish()

    def _phase_changed(self, phase: str) -> None:
        if phase != "running":
            return
        if "running" in self._times:
            self.mark("running again")
            self._finish()
        else:
            self.mark("running")
            QTimer.singleShot(0, self._begin_again)

    def _begin_again(self) -> None:
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
        self._path.write_text(json.dumps({"times": self._times, "problem": self._problem}), "utf-8")
        QTimer.singleShot(0, self._window.close)
        self._window = None
