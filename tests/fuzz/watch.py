"""Watches a process while it takes hostile input: its event loop, memory, standard error, files and connections."""

import asyncio
import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BEAT_SECONDS = 0.02
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate")


class Watch:
    """What went wrong in this process since `found` was emptied, in sentences. One for a process: hooks stay.
    `allowed`: the folders in which files may be written."""

    def __init__(self, allowed: list[Path]) -> None:
        self.allowed = [os.path.realpath(path) for path in allowed]
        self.found: list[str] = []
        self.longest_stall = 0.0
        self._on = False
        sys.addaudithook(self._audit)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watches files, connections, threads and objects that are finalised while the block runs. Python writes no
        compiled modules meanwhile: those of a library that is imported late would be reported."""
        hooks = threading.excepthook, sys.unraisablehook
        keeps_no_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        threading.excepthook = lambda told: self.found.append(f"a thread ended with {told.exc_value!r}")
        sys.unraisablehook = lambda told: self.found.append(f"an object ended with {told.exc_value!r}")
        self._on = True
        try:
            with self._standard_error():
                yield
        finally:
            self._on = False
            threading.excepthook, sys.unraisablehook = hooks
            sys.dont_write_bytecode = keeps_no_bytecode

    async def beat(self) -> None:
        """Measures how long the event loop is held up; runs until it is cancelled."""
        asyncio.get_running_loop().set_exception_handler(self._on_loop_error)
        while True:
            began = time.monotonic()
            await asyncio.sleep(BEAT_SECONDS)
            self.longest_stall = max(self.longest_stall, time.monotonic() - began - BEAT_SECONDS)

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.found.append(f"the event loop reports: {context['message']} {context.get('exception')!r}")

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._on:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, str | bytes) and flags & _WRITING:
                self._check_path(os.fsdecode(path))
        elif event in _CHANGES:
            for path in arguments:
                if isinstance(path, str | bytes):
                    self._check_path(os.fsdecode(path))
        elif event == "socket.connect":
            address = arguments[1]
            if isinstance(address, tuple) and not str(address[0]).startswith(("127.", "::1")):
                self.found.append(f"a connection to {address}")
        elif event == "socket.getaddrinfo" and str(arguments[0]) not in ("127.0.0.1", "localhost", "None", "::1"):
            self.found.append(f"a search for {arguments[0]!r}")

    def _check_path(self, path: str) -> None:
        whole = os.path.realpath(path)
        if whole.startswith(("/dev/", "/proc/")):
            return
        if not any(whole == root or whole.startswith(root + os.sep) for root in self.allowed):
            self.found.append(f"a file outside of its folder: {path!r}")

    @contextlib.contextmanager
    def _standard_error(self) -> Iterator[None]:
        """Takes what is written to file descriptor 2, also by libraries in C."""
        sys.stderr.flush()
        with tempfile.TemporaryFile() as file:
            before = os.dup(2)
            os.dup2(file.fileno(), 2)
            try:
                yield
            finally:
                sys.stderr.flush()
                os.dup2(before, 2)
                os.close(before)
                file.seek(0)
                if written := file.read(2_000).decode("utf-8", "replace").strip():
                    self.found.append(f"on standard error: {written}")


def peak_bytes() -> int:
    """Returns the most memory that this process has had in use; 0 where the system does not tell."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024
    return 0


def forget_peak() -> int:
    """Lets `peak_bytes` count from now on, where the system allows it; returns what it is now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()
