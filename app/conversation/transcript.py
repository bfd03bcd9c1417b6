"""Folds a session's events into turns, ordered by the time of their sound.

Holds what both sides have said, as far as it was heard. Knows nothing of how it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from app.conversation import events as e
from app.conversation.intended import meant_by


@dataclass(slots=True)
class Part:
    """What was heard of one revision, and the revision's own words as they came."""

    revision: int
    heard: list[str]
    answer: list[str]
    language: str = "en"


def _meant_by(part: Part, whole: bool) -> str:
    return meant_by("".join(part.answer), part.heard, whole=whole, code=part.language)


@dataclass(slots=True)
class Turn:
    """One side's words, without a break of the floor.

    `stable` and `unstable` hold the user's words while `open`; afterwards all words are stable.
    `ended_at`: the session's time, None while nobody knows. `typed`: it was not spoken. `talk`: which talk of its
    conversation it belongs to; who folds several sets it.
    """

    speaker: Literal["user", "assistant"]
    number: int
    started_at: float
    stable: str = ""
    unstable: str = ""
    open: bool = True
    interrupted: bool = False
    backchannel: bool = False
    ended_at: float | None = None
    typed: bool = False
    talk: int = 0
    backends: list[str] = field(default_factory=list)
    """The models whose words were heard in it, in the order of their first word."""
    opened: bool = False
    """It begins with an opening, which is no part of the answer."""
    parts: list[Part] = field(default_factory=list, repr=False)
    """The revisions that it was made of, in order; none where nobody tells which."""
    _meant: tuple[tuple[bool, int, int, int], str] | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """All words of the turn."""
        return " ".join(part for part in (self.stable, self.unstable) if part)

    @property
    def meant(self) -> str:
        """What a brain should know to have been said: the answer as its brain gave it, if it was heard so; of one that
        was not heard whole the sentences that were begun. For the user's turns, and where a model speaks in words of
        its own: what was heard.
        """
        if not self.parts:
            return "" if self.opened else self.text
        whole, last = not self.open and not self.interrupted, self.parts[-1]
        state = whole, len(self.parts), len(last.heard), len(last.answer)
        if self._meant is None or self._meant[0] != state:  # every prompt asks for that of every turn
            texts = (_meant_by(part, whole) for part in reversed(self.parts))
            heard = " ".join(word for part in self.parts for word in part.heard) if self.opened else self.text
            self._meant = state, next(filter(None, texts), heard)
        return self._meant[1]


@dataclass(slots=True)
class Transcript:
    """The conversation so far: `turns`, ordered by when they began."""

    turns: list[Turn] = field(default_factory=list)
    _models: dict[int, str] = field(default_factory=dict)
    _languages: dict[int, str] = field(default_factory=dict)
    _answers: dict[int, list[str]] = field(default_factory=dict)

    def apply(self, event: e.Event) -> Turn | None:
        """Takes one event in; returns the turn that it changed, if any."""
        match event:
            case e.OracleRequested():
                self._models[event.revision] = event.model or event.backend
                self._languages[event.revision] = event.language
            case e.OracleDelta():
                self._answers.setdefault(event.revision, []).append(event.text)
            case e.UserStarted():
                return self._add(Turn("user", event.turn, event.at))
            case e.TranscriptPartial():
                turn = self._user(event.turn, event.at)
                turn.stable, turn.unstable = event.stable, event.unstable
                return turn
            case e.TranscriptFinal():
                turn = self._user(event.turn, event.at)
                turn.stable, turn.unstable, turn.open = event.text, "", False
                return turn
            case e.UserEnded():
                turn = self._user(event.turn, event.at)
                turn.ended_at, turn.typed = event.speech_end, event.reason == "typed"
                return turn
            case e.UserResumed():
                turn = self._user(event.turn, event.at)
                turn.open, turn.backchannel, turn.ended_at = True, False, None
                return turn
            case e.UserBackchannel():
                turn = self._user(event.turn, event.at)
                turn.stable, turn.unstable, turn.open, turn.backchannel = event.text, "", False, True
                turn.ended_at = event.at
                return turn
            case e.AssistantStarted():
                turn = self._assistant(event.turn)
                if turn is not None:  # an early start was taken back: it goes on
                    turn.open, turn.interrupted, turn.ended_at = True, False, None
                return turn or self._add(Turn("assistant", event.turn, event.at))
            case e.AssistantOpened():
                turn = self._assistant(event.turn) or self._add(Turn("assistant", event.turn, event.at))
                turn.opened = True
                return turn
            case e.AssistantSaid():
                turn = self._assistant(event.turn) or self._add(Turn("assistant", event.turn, event.at))
                turn.stable = f"{turn.stable}{'' if event.glued else ' '}{event.text}".strip()
                if event.revision and (not turn.parts or turn.parts[-1].revision != event.revision):
                    answer = self._answers.setdefault(event.revision, [])
                    turn.parts.append(Part(event.revision, [], answer, self._languages.get(event.revision, "en")))
                if event.revision:
                    turn.parts[-1].heard.append(event.text)
                model = self._models.get(event.revision, "")
                if model and (not turn.backends or turn.backends[-1] != model):
                    turn.backends.append(model)
                return turn
            case e.AssistantEnded():
                turn = self._assistant(event.turn)
                if turn is not None:
                    turn.open, turn.interrupted, turn.ended_at = False, event.interrupted, event.at
                return turn
        return None

    def last(self, speaker: Literal["user", "assistant"]) -> Turn | None:
        """The newest turn of one side."""
        return next((t for t in reversed(self.turns) if t.speaker == speaker), None)

    def _user(self, number: int, at: float) -> Turn:
        for turn in reversed(self.turns):
            if turn.speaker == "user" and turn.number == number:
                return turn
        return self._add(Turn("user", number, at))

    def _assistant(self, number: int) -> Turn | None:
        """The assistant's turn that answers `number`, unless the user has spoken a later one since."""
        for turn in reversed(self.turns):
            if turn.speaker == "assistant" and turn.number == number:
                return turn
        return None

    def _add(self, turn: Turn) -> Turn:
        place = len(self.turns)
        while place and self.turns[place - 1].started_at > turn.started_at:
            place -= 1
        self.turns.insert(place, turn)
        return turn
