"""Takes a model's thoughts out of its words: what stands between `<think>` and `</think>` is not for the listener.

Some servers hand a model's thinking out as text. Works on a stream, whatever its chunks. Pure.
"""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


class ThinkingTagFilter:
    """`push` deltas, and pass on what it returns; `flush` at the end. Thoughts count only at the answer's start."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def push(self, delta: str) -> str:
        """What of the stream may be said by now."""
        if self._state == "words":
            return delta
        if self._state == "behind":
            return self._begin(delta)
        self._held += delta
        if self._state == "start":
            lead = self._held.lstrip()
            if not lead or (OPEN.startswith(lead[: len(OPEN)]) and len(lead) < len(OPEN)):
                return ""
            if not lead.startswith(OPEN):
                self._state = "words"
                return self._take()
            self._state, self._held = "thinking", lead[len(OPEN) :]
        place = self._held.find(CLOSE)
        if place < 0:
            self._held = self._held[-len(CLOSE) :]  # thoughts can be long, and nobody needs them
            return ""
        self._state, self._held = "behind", self._held[place + len(CLOSE) :]
        return self._begin(self._take())

    def flush(self) -> str:
        """What was held back, if it turned out to be words."""
        return self._take() if self._state == "start" else ""

    def _begin(self, text: str) -> str:
        """What follows the thoughts, from its first letter on."""
        text = text.lstrip()
        self._state = "words" if text else "behind"
        return text

    def _take(self) -> str:
        text, self._held = self._held, ""
        return text
