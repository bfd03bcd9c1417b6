"""Finds the first words of an answer in a session's events, once for each answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation import events as e

ENOUGH_WORDS = 12
LONGEST = 140
"""Characters of a notification."""


@dataclass(slots=True)
class AnswerNotice:
    """`apply` returns words to show when an answer has enough of them, or has ended; empty otherwise."""

    _words: list[str] = field(default_factory=list)
    _told: bool = True

    def apply(self, event: e.Event) -> str:
        match event:
            case e.AssistantStarted():
                self._words, self._told = [], False
            case e.AssistantSaid(revision=revision) if revision:  # an opening is no part of the answer
                self._add(event)
                if len(self._words) >= ENOUGH_WORDS:
                    return self._tell(more=True)
            case e.AssistantEnded():
                return self._tell(more=False)
            case e.SessionEnded():
                self._words, self._told = [], True
        return ""

    def _add(self, said: e.AssistantSaid) -> None:
        words = said.text.split()
        if said.glued and words and self._words:
            self._words[-1] += words.pop(0)
        self._words += words

    def _tell(self, *, more: bool) -> str:
        if self._told or not self._words:
            return ""
        self._told = True
        text = " ".join(self._words)
        if len(text) > LONGEST:
            text = text[:LONGEST].rsplit(None, 1)[0]
            more = True
        return f"{text} …" if more else text
