"""Recognises the assistant's own words when they come back through the microphone."""

from __future__ import annotations

from collections import deque

from app.conversation.words import fold, is_echo

REMEMBERED_SECONDS = 6.0
"""An utterance of the user's, and the delay of the devices."""
SHORT_ECHO_SECONDS = 0.5
"""An echo of two or three words begins no more than this after them."""


class OwnWords:
    """Keeps the assistant's words of the last seconds."""

    def __init__(self) -> None:
        self._words: deque[tuple[float, str]] = deque()  # each with when it was played

    def add(self, text: str, at: float) -> None:
        """Words that were played at `at`."""
        self._words.append((at, text))
        while at - self._words[0][0] > REMEMBERED_SECONDS:
            self._words.popleft()

    def is_echo(self, heard: str, *, onset: float, voice_end: float, language: str) -> bool:
        """Whether `heard`, spoken from `onset` to `voice_end`, is nothing but a stretch of these words."""
        recent = [(at, text) for at, text in self._words if voice_end - at <= REMEMBERED_SECONDS]
        if not is_echo(heard, " ".join(text for _, text in recent), language):
            return False
        if len(fold(heard)) >= 4:
            return True
        # A short echo comes while the words are played; a user who repeats two words does so after them.
        near = " ".join(text for at, text in recent if at >= onset - SHORT_ECHO_SECONDS)
        return is_echo(heard, near, language)
