"""A Python child process that exchanges lines with a test, and is always ended."""

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
"""For the start of a script: `say` prints what `Child.hears` reads."""


def run_python(*arguments: str, **more: Any) -> subprocess.CompletedProcess[Any]:
    """Runs this Python in the project's folder to its end; `more`, such as `env`, goes to `subprocess.run`."""
    usual = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 60}
    return subprocess.run([sys.executable, *arguments], **(usual | more))


def is_running(pid: int) -> bool:
    """Whether the process exists. On Linux, one that has ended exists until its parent has waited for it."""
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
    """Runs `script`; to be used in a `with`, or ended by `kill`. `merged`: standard error is part of its lines instead
    of `complaints`. Methods wait for `patience` seconds at most."""

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
        """Its standard error so far; complete once it has ended."""
        if self.process.poll() is not None:
            self._readers[-1].join(self.patience)
        return "".join(self._complaints)

    def line(self, seconds: float = 0.0) -> str | None:
        """Its next line; None if none comes in time, or it has ended."""
        try:
            line = self._lines.get(timeout=seconds) if seconds > 0 else self._lines.get_nowait()
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)  # for the next call
        return line

    def hears(self) -> dict[str, Any]:
        """Its next line, parsed from JSON."""
        line = self.line(self.patience)
        if line is None:
            ended = "ended" if self.process.poll() is not None else f"printed nothing for {self.patience} s"
            pytest.fail(f"the child process {ended}: {self.complaints}")
        return json.loads(line)

    def wait(self, holds: Callable[[], bool], what: Callable[[], str]) -> None:
        """Waits until `holds`, which reads its lines; `what` describes the failure."""
        until = time.monotonic() + self.patience
        while True:
            over = time.monotonic() > until or not self._readers[0].is_alive()
            if holds():
                return
            assert not over, f"still not so: {what()} {self.complaints}"
            time.sleep(0.01)

    def tell(self, line: str = "") -> None:
        """Writes a line to its standard input."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def leave(self, seconds: float | None = None) -> int:
        """Closes its standard input and waits for its end; returns the exit code."""
        self.process.stdin.close()
        return self.process.wait(seconds or self.patience)

    def end(self) -> str:
        """Waits until it has ended with 0; returns its standard error."""
        code = self.process.wait(self.patience)
        assert code == 0, self.complaints
        return self.complaints

    def kill(self) -> None:
        """Kills it if it still runs."""
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
