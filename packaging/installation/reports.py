"""Reports the progress of a set-up to another program, one JSON object per line.

The objects have the keys {"step", "fraction", "bytes", "of"}, {"say"}, {"problem": {"happened", "meaning", "remedy",
"details"}} or {"ready"}. The reading program cancels the set-up by closing the launcher's standard input.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from installation.problems import Problem
from installation.steps import Steps, Stopped

SECONDS_BETWEEN_REPORTS = 0.25


class Reports:
    """Writes reports to a stream; ignores errors, so that the set-up continues if the reader has exited."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, **what: object) -> None:
        """Writes one report: a line with a JSON object of the given keys."""
        line = json.dumps(what, ensure_ascii=False) + "\n"
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(line.encode("utf-8", "replace"))
            self._stream.flush()

    def problem(self, problem: Problem) -> None:
        """Writes a report with all parts of a problem."""
        parts = {name: getattr(problem, name) for name in ("happened", "meaning", "remedy", "details")}
        self.write(problem=parts)


class EndOfInput:
    """Detects the end of an input stream on a background thread."""

    def __init__(self, descriptor: int) -> None:
        self._closed = threading.Event()
        # Read unbuffered: the thread would still hold the lock of Python's buffer when this program exits.
        threading.Thread(target=self._read, args=(descriptor,), daemon=True).start()

    def _read(self, descriptor: int) -> None:
        with contextlib.suppress(OSError):
            while os.read(descriptor, 1):
                pass
        self._closed.set()

    def is_closed(self) -> bool:
        """Returns whether the input has ended, which means that the other program has cancelled."""
        return self._closed.is_set()


class ReportedSteps(Steps):
    """Steps that report to another program; they raise Stopped when it cancels."""

    def __init__(self, log: Path, reports: Reports, end: EndOfInput) -> None:
        super().__init__(log, say=lambda text: None)
        self._reports, self._end = reports, end
        self._next = 0.0

    def say(self, sentence: str) -> None:
        self._reports.write(say=sentence)

    @contextlib.contextmanager
    def step(self, text: str, amount: Callable[[], tuple] | None = None) -> Iterator[None]:
        self._text, self._amount, self._next = text, amount, 0.0
        self.tick()
        yield
        self._next = 0.0
        self.tick()
        self._text, self._amount = "", None

    def tick(self) -> None:
        if self._end.is_closed():
            raise Stopped(signal.SIGTERM)
        began = time.monotonic()
        if not self._text or began < self._next:
            return
        done, total = self._amount() if self._amount else (0, 0)
        fraction = min(1.0, done / total) if total else None
        self._reports.write(step=self._text, fraction=fraction, bytes=done, of=total)
        # Counting many files is slow on some disks: spend at most about a tenth of the time on it.
        self._next = began + max(SECONDS_BETWEEN_REPORTS, 10 * (time.monotonic() - began))
