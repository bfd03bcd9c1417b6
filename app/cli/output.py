"""The output of commands. Terminal control sequences are removed from all text, regardless of its source."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, TextIO

from app.platform.standard_streams import is_closed_pipe
from app.untrusted.text import HarmlessStream, harmless

_STEERING = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that needn't be escaped in JSON, but that a terminal may interpret or UTF-8 can't encode."""


class OutputLost(Exception):
    """Raised if writing to standard output or standard error fails. `__cause__` is the OSError."""

    @property
    def sentence(self) -> str:
        """The user-facing message; empty if the reader has closed the pipe."""
        error = self.__cause__
        if isinstance(error, OSError) and not is_closed_pipe(error):
            return f"What this command says can't be written: {error.strerror or error}."
        return ""


class Terminal:
    """Prints progress to standard error and results to standard output; with `as_json`, only one JSON document."""

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
        """Prints the next piece of streamed text; `end` must be called after the last one."""
        if not self.as_json:
            self._clear()
            _print(self._stream.push(piece), sys.stdout, end="")

    def end(self) -> None:
        """Ends streamed text: prints any buffered rest and a newline."""
        if not self.as_json:
            _print(self._stream.flush(), sys.stdout)

    def progress(self, text: str) -> None:
        """Prints a progress message that the next line overwrites. No-op unless standard error is a terminal."""
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

    def line(self, value: dict[str, Any]) -> None:
        """Prints one of several JSON objects, each on a line of its own; a no-op unless `as_json` is set."""
        if self.as_json:
            _print(_escaped(json.dumps(value, ensure_ascii=False)), sys.stdout)

    def document(self, value: dict[str, Any]) -> None:
        """Prints the JSON document; a no-op unless `as_json` is set."""
        if self.as_json:
            _print(_escaped(json.dumps(value, ensure_ascii=False, indent=1)), sys.stdout)

    def _clear(self) -> None:
        if self._line:
            _print("\r" + " " * len(self._line) + "\r", sys.stderr, end="")
            self._line = ""


def _escaped(text: str) -> str:
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _print(text: str, stream: TextIO, end: str = "\n") -> None:
    try:
        print(text, end=end, file=stream, flush=True)
    except OSError as error:
        raise OutputLost from error
