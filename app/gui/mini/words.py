"""Follows the words that were said last, by the user or by the assistant.

Pure: folds a session's events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.conversation import events as e

MOST_LETTERS = 400
"""More than the window's lines can hold; what came before is dropped."""


@dataclass(slots=True)
class LastWords:
    """`speaker` said `text` last; empty before the first words."""

    speaker: Literal["user", "assistant"] = "user"
    text: str = ""
    _answer: str = ""
    _answered: int = 0

    def begin(self) -> None:
        """Forgets the last conversation."""
        self.speaker, self.text, self._answer, self._answered = "user", "", "", 0

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        match event:
            case e.TranscriptPartial(text=text) | e.TranscriptFinal(text=text) if text.strip():
                self.speaker, self.text = "user", text[-MOST_LETTERS:]
            case e.UserBackchannel() if self._answer:
                self.speaker, self.text = "assistant", self._answer  # said in passing: the answer goes on
            case e.AssistantSaid(turn=turn, text=text, glued=glued):
                if turn != self._answered:
                    self._answered, self._answer = turn, ""
                apart = "" if glued or not self._answer else " "
                self._answer = f"{self._answer}{apart}{text}"[-MOST_LETTERS:]
                self.speaker, self.text = "assistant", self._answer
