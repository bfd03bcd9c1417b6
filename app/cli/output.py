"""Prints what a command has to say."""

from __future__ import annotations

import json
import sys
from typing import Any


class Terminal:
    """Prints progress on standard error and results on standard output; with `as_json` one document alone."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._live = not as_json and sys.stderr.isatty()
        self._line = ""

    def say(self, text: str = "") -> None:
        """Prints a line of the result."""
        if not self.as_json:
            self._clear()
            print(text, flush=True)

    def progress(self, text: str) -> None:
        """Prints the state of the work on a terminal, where the next line overwrites it."""
        if self._live:
            self._clear()
            width = 100
            self._line = text if len(text) <= width else "…" + text[-width + 1 :]
            print(self._line, end="", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Prints a warning or an error."""
        if not self.as_json:
            self._clear()
            print(text, file=sys.stderr, flush=True)

    def document(self, value: dict[str, Any]) -> None:
        """Prints the JSON document."""
        if self.as_json:
            print(json.dumps(value, ensure_ascii=False, indent=1), flush=True)

    def _clear(self) -> None:
        if self._line:
            print("\r" + " " * len(self._line) + "\r", end="", file=sys.stderr, flush=True)
            self._line = ""
