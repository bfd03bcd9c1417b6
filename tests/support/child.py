"""A Python process of a test's own that speaks in lines: heard, told things, and ended whatever happens."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

SAY = """
import json, sys

def say(**facts):
    print(json.dumps(facts), flush=True)
"""
"""For the begin of a script: what `Child.hears` takes."""


def is_running(pid: int) -> bool:
    """Whether the process is there. One that has ended and that nobody has waited for still is, on Linux."""
    if sys.platform == "win32":
        import ctypes

        synchronize, still_running = 0x100000, 0x102
        handle = ctypes.windll.kernel32.OpenProcess(synchronize, False, pid)
        if not handle:
            return False
        try:
            return ctypes.windll.kernel32.WaitForSingleObject(handle, 0) == still_running
        finally:
            ctypes.windll.kernel32.CloseHandle(handle)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Child:
    """Runs `script`. Whoever makes one sees to `kill`, or uses it in a `with`.

    `merged`: what it complains of comes among its lines, and not as `complaints`. Waits for `patience` seconds at most.
    """

    def __init__(
        self,
        script: str,
        *arguments: object,
        env: Mapping[str, str] | None = None,
        merged: bool = False,
        patience: float = 15.0,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            cwd=ROOT,
            env=env or os.environ,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        )
        self.patience = patience
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._complaints: list[str] = []
        self._readers = [threading.Thread(target=self._read_lines, name="child-lines")]
        if not merged:
            self._readers.append(threading.Thread(target=self._read_complaints, name="child-complaints"))
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *ending: object) -> None:
        self.kill()

    @property
    def complaints(self) -> str:
        """What it has printed on stderr so far; all of it, once it has ended."""
        if self.process.poll() is not None:
            self._readers[-1].join(self.patience)
        return "".join(self._complaints)

    def line(self, seconds: float = 0.0) -> str | None:
        """Its next line; None when none comes in time, or none will come any more."""
        try:
            line = self._lines.get(timeout=seconds) if seconds > 0 else self._lines.get_nowait()
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)  # for whoever asks next
        return line

    def hears(self) -> dict[str, Any]:
        """The next line as the facts that it says."""
        line = self.line(self.patience)
        if line is None:
            ended = "ended" if self.process.poll() is not None else f"said nothing for {self.patience} s"
            pytest.fail(f"the child process {ended}: {self.complaints}")
        return json.loads(line)

    def wait(self, holds: Callable[[], bool], what: Callable[[], str]) -> None:
        """Waits until `holds`, which hears it; `what` tells what it waited for, and what came instead."""
        until = time.monotonic() + self.patience
        while True:
            over = time.monotonic() > until or not self._readers[0].is_alive()
            if holds():
                return
            assert not over, f"waited in vain: {what()} {self.complaints}"
            time.sleep(0.01)

    def tell(self, line: str = "") -> None:
        """Gives it a line to read."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def leave(self, seconds: float | None = None) -> int:
        """Tells it no more, and waits until it has ended; its exit code."""
        self.process.stdin.close()
        return self.process.wait(seconds or self.patience)

    def end(self) -> str:
        """Waits until it has ended well; what it printed on stderr."""
        code = self.process.wait(self.patience)
        assert code == 0, self.complaints
        return self.complaints

    def kill(self) -> None:
        """Ends it, whatever happened."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(self.patience)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _read_lines(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def _read_complaints(self) -> None:
        for line in self.process.stderr:
            self._complaints.append(line)
