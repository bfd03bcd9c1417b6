"""A streaming filter that removes a model's thinking, the text between `<think>` and `</think>`, from an answer.

Some servers send thinking as part of the text. A chunk may end anywhere, even inside a tag.
"""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


class ThinkingTagFilter:
    """Strips thinking from the start of an answer. Call `push` for each delta, and `flush` at the end."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    @property
    def thinking(self) -> bool:
        """Whether the newest delta ended in mid-thought."""
        return self._state == "thinking"

    def push(self, delta: str) -> str:
        """Adds a delta; returns any text that is known not to be thinking."""
        if self._state == "words":
            return delta
        if self._state == "after":
            return self._skip_space(delta)
        self._held += delta
        if self._state == "start":
            lead = self._held.lstrip()
            if not lead or (len(lead) < len(OPEN) and OPEN.startswith(lead)):
                return ""
            if not lead.startswith(OPEN):
                self._state = "words"
                return self._take_held()
            self._state, self._held = "thinking", lead[len(OPEN) :]
        place = self._held.find(CLOSE)
        if place < 0:
            self._held = self._held[-len(CLOSE) :]  # keep only what may be part of the tag, since thinking can be long
            return ""
        self._held = self._held[place + len(CLOSE) :]
        return self._skip_space(self._take_held())

    def flush(self) -> str:
        """Returns any buffered text that turned out not to be thinking."""
        return self._take_held() if self._state == "start" else ""

    def _skip_space(self, text: str) -> str:
        text = text.lstrip()
        self._state = "words" if text else "after"
        return text

    def _take_held(self) -> str:
        text, self._held = self._held, ""
        return text
