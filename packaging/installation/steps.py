"""Run tools step by step: one line per step for the user, all output in a log."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from installation.children import end_child, start_child
from installation.problems import UNTRUSTED, ToolFailed
from installation.system import WINDOWS
from installation.variables import system_certificates

# A program without a console must not open one for its tools.
NO_CONSOLE = getattr(subprocess, "CREATE_NO_WINDOW", 0)


PREPARED = re.compile(r"(?m)^Prepared \d+ packages? in (?:(\d+)m )?([\d.]+)(ms|s)$")
"""What uv prints when it has downloaded and unpacked what was not in its cache."""


class Steps:
    """Shows one line per step with its time, runs tools, and keeps their output in a log.

    `downloading`: how many seconds of all steps uv has spent on downloads.
    """

    def __init__(
        self, log: Path, say: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.log = log
        self._say = say or (lambda text: print(text, end="", flush=True))
        self._clock = clock
        self._live = say is None and sys.stdout is not None and sys.stdout.isatty()
        self._text = ""
        self._began = 0.0
        self._shown = ""
        self._amount: Callable[[], tuple] | None = None
        self._certificates: dict[str, str] = {}
        self.downloading = 0.0

    def say(self, sentence: str) -> None:
        """Show a sentence on a line of its own."""
        self._say(sentence + "\n")

    @contextlib.contextmanager
    def step(self, text: str, amount: Callable[[], tuple] | None = None) -> Iterator[None]:
        """Show a step and how long it takes; with `amount`, which returns bytes done and in all, show these too."""
        self._text, self._began, self._shown, self._amount = text, self._clock(), "", amount
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
        self._text, self._amount = "", None

    def tick(self) -> None:
        """Update the line of a running step; called ten times a second."""
        if not self._live or not self._text:
            return
        shown = f"{self._clock() - self._began:.0f} s"
        if self._amount:
            done, total = self._amount()
            shown = f"{done / 10**6:.0f} of {total / 10**6:.0f} MB, {shown}"
        if shown != self._shown:
            self._shown = shown
            self._say(f"\r{self._text} ... {shown}")

    def run(
        self, command: Sequence[object], env: Mapping[str, str], hold: int | None = None, cwd: Path | None = None
    ) -> str:
        """Run a tool to its end and return what it printed. Raise ToolFailed if it fails.

        A tool that distrusts a server, as behind a proxy with a certificate of its own, is run again with the
        certificates that the system trusts, and so are all later ones.

        `hold`: the descriptor of the set-up's lock, which a tool that outlives this program keeps, so that the next
        set-up waits for it.
        """
        try:
            return self._run(command, {**env, **self._certificates}, hold, cwd)
        except ToolFailed as failure:
            if self._certificates or not re.search(UNTRUSTED, failure.printed):
                raise
        self._certificates = system_certificates(env)
        return self._run(command, {**env, **self._certificates}, hold, cwd)

    def _run(
        self, command: Sequence[object], env: Mapping[str, str], hold: int | None = None, cwd: Path | None = None
    ) -> str:
        words = [str(word) for word in command]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            log.write(("\n$ " + " ".join(words) + "\n").encode("utf-8", "replace"))
            log.flush()
            start = log.tell()
            keep = {} if WINDOWS or hold is None else {"pass_fds": (hold,)}
            try:
                child = start_child(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=dict(env),
                    cwd=cwd,
                    creationflags=NO_CONSOLE,
                    **keep,
                )
            except OSError as error:
                log.write(str(error).encode("utf-8", "replace"))
                raise ToolFailed(words, 127, str(error)) from error
            try:
                while True:
                    try:
                        code = child.wait(timeout=0.1)
                        break
                    except subprocess.TimeoutExpired:
                        self.tick()
            except BaseException as reason:
                end_child(child, reason)
                raise
        with self.log.open("rb") as log:
            log.seek(start)
            printed = log.read().decode("utf-8", "replace")
        if code != 0:
            raise ToolFailed(words, code, printed)
        for minutes, number, unit in PREPARED.findall(printed):
            self.downloading += 60 * int(minutes or 0) + float(number) * (0.001 if unit == "ms" else 1)
        return printed
