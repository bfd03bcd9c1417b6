"""Synthesises the next clause before it is due."""

from __future__ import annotations

from concurrent.futures import Future

from app.frontend.clause_choice import ClauseChoice
from app.tts.base import Clip, Voice


class ClauseSynthesis:
    """Synthesises at most one clause ahead of time with `voice`, and holds the result."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice
        self.choice: ClauseChoice | None = None
        self._clip: Future[Clip] = Future()

    @property
    def busy(self) -> bool:
        """Whether the clause is being synthesised."""
        return self.choice is not None and not self._clip.done()

    @property
    def audible(self) -> bool:
        """Whether the clause has been synthesised successfully."""
        return self.choice is not None and is_audible(self._clip)

    def request(self, choice: ClauseChoice) -> Future[Clip]:
        """Synthesises a clause, replacing the previous one if its text differs."""
        if self.choice is not None and self.choice.text != choice.text:
            self._clip.cancel()
        if self.choice is None or self.choice.text != choice.text:
            self._clip = self.voice.synthesize(choice.text)
        self.choice = choice
        return self._clip

    def clear(self) -> None:
        """Discards the clause. Call it once the clause is being played."""
        self.choice = None

    def set_voice(self, voice: Voice) -> None:
        """Sets another voice, or the same one with changed settings, and resynthesises the clause."""
        self.voice = voice
        if self.choice is not None:
            self._clip.cancel()
            self._clip = voice.synthesize(self.choice.text)


def is_audible(clip: Future[Clip]) -> bool:
    """Returns whether a clip has been synthesised successfully."""
    return clip.done() and not clip.cancelled() and clip.exception() is None
