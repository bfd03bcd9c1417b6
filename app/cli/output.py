"""Prints what a command has to say. Whoever wrote it, no character of it steers the terminal."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, TextIO

from app.platform.standard_streams import is_closed_pipe
from app.untrusted.text import HarmlessStream, harmless

_STEERING = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON need not escape, but a terminal acts on, or UTF-8 can't hold."""


class OutputLost(Exception):
    """The standard output, or the one for errors, can't be written. Raised from the OSError that says why."""

    @property
    def sentence(self) -> str:
        """What to tell the user; empty where nobody reads a pipe any longer."""
        error = self.__cause__
        if isinstance(error, OSError) and not is_closed_pipe(error):
            return f"What this command says can't be written: {error.strerror or error}."
        return ""


class Terminal:
    """Prints progress on standard error and results on standard output; with `as_json` one document alone."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._live = not as_json and sys.stderr.isatty()
        self._line = ""
        self._stream = HarmlessStream()

    def say(self, text: str = "") -> None:
        """Prints a line of the result."""
        if not self.as_json:
            self._clear()
            _print(harmless(text), sys.stdout)

    def write(self, piece: str) -> None:
        """Prints the next piece of a text that comes in pieces; `end` prints the last."""
        if not self.as_json:
            self._clear()
            _print(self._stream.push(piece), sys.stdout, end="")

    def end(self) -> None:
        """Ends a text that came in pieces, and its line."""
        if not self.as_json:
            _print(self._stream.flush(), sys.stdout)

    def progress(self, text: str) -> None:
        """Prints the state of the work on a terminal, where the next line overwrites it."""
        if self._live:
            self._clear()
            width = 100
            text = " ".join(harmless(text).split())
            self._line = text if len(text) <= width else "…" + text[-width + 1 :]
            _print(self._line, sys.stderr, end="")

    def note(self, text: str) -> None:
        """Prints a warning or an error."""
        if not self.as_json:
            self._clear()
            _print(harmless(text), sys.stderr)

    def document(self, value: dict[str, Any]) -> None:
        """Prints the JSON document."""
        if self.as_json:
            text = json.dumps(value, ensure_ascii=False, indent=1)
            _print(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text), sys.stdout)

    def _clear(self) -> None:
        if self._line:
            _print("\r" + " " * len(self._line) + "\r", sys.stderr, end="")
            self._line = ""


def _print(text: str, stream: TextIO, end: str = "\n") -> None:
    try:
        print(text, end=end, file=stream, flush=True)
    except OSError as error:
        raise OutputLost from error
