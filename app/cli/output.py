"""What a command prints: progress on standard error, results on standard output, or one JSON document."""

from __future__ import annotations

import json
import sys
from typing import Any


class Terminal:
    """Progress on standard error, results on standard output; with `as_json` one document alone."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._live = not as_json and sys.stderr.isatty()
        self._line = ""

    def say(self, text: str = "") -> None:
        """A line of the result."""
        if not self.as_json:
            self._clear()
            print(text, flush=True)

    def progress(self, text: str) -> None:
        """What goes on at the moment; overwritten by the next on a terminal."""
        if self._live:
            self._clear()
            width = 100
            self._line = text if len(text) <= width else "…" + text[-width + 1 :]
            print(self._line, end="", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """A line beside the result: a warning, an error."""
        if not self.as_json:
            self._clear()
            print(text, file=sys.stderr, flush=True)

    def document(self, value: dict[str, Any]) -> None:
        """The JSON document."""
        if self.as_json:
            print(json.dumps(value, ensure_ascii=False, indent=1), flush=True)

    def _clear(self) -> None:
        if self._line:
            print("\r" + " " * len(self._line) + "\r", end="", file=sys.stderr, flush=True)
            self._line = ""
