"""Run tools step by step: one line each for the user, all output in a log."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from installation.children import end_child, start_child
from installation.problems import ToolFailed
from installation.system import WINDOWS


class Steps:
    """Show one line a step with its time, run tools, keep what they print in a log."""

    def __init__(
        self, log: Path, say: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.log = log
        self._say = say or (lambda text: print(text, end="", flush=True))
        self._clock = clock
        self._live = say is None and sys.stdout.isatty()
        self._text = ""
        self._began = 0.0
        self._shown = -1

    def say(self, sentence: str) -> None:
        self._say(sentence + "\n")

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[None]:
        self._text, self._began, self._shown = text, self._clock(), -1
        self._say(text + " ...")
        try:
            yield
        except BaseException:
            self._finish("stopped after")
            raise
        self._finish("done in")

    def _finish(self, word: str) -> None:
        start = "\r" + self._text + " ..." if self._live else ""
        self._say(f"{start} {word} {self._clock() - self._began:.1f} s\n")

    def _tick(self) -> None:
        seconds = int(self._clock() - self._began)
        if self._live and seconds != self._shown:
            self._shown = seconds
            self._say(f"\r{self._text} ... {seconds} s")

    def run(
        self,
        command: Sequence[object],
        env: Mapping[str, str],
        hold: int | None = None,
        cwd: Path | None = None,
    ) -> str:
        """Run a tool to its end and return what it printed. Raise ToolFailed if it fails.

        `hold` is the descriptor of the set-up's lock: a tool that outlives this program keeps it, so
        that the next set-up waits for it.
        """
        words = [str(word) for word in command]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            log.write(("\n$ " + " ".join(words) + "\n").encode("utf-8", "replace"))
            log.flush()
            start = log.tell()
            keep = {} if WINDOWS or hold is None else {"pass_fds": (hold,)}
            try:
                child = start_child(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                    env=dict(env), cwd=cwd, **keep,
                )  # fmt: skip
            except OSError as error:
                log.write(str(error).encode("utf-8", "replace"))
                raise ToolFailed(words, 127, str(error)) from error
            try:
                while True:
                    try:
                        code = child.wait(timeout=0.1)
                        break
                    except subprocess.TimeoutExpired:
                        self._tick()
            except BaseException as reason:
                end_child(child, reason)
                raise
        with self.log.open("rb") as log:
            log.seek(start)
            printed = log.read().decode("utf-8", "replace")
        if code != 0:
            raise ToolFailed(words, code, printed)
        return printed
