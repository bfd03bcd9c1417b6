"""Synthesises the clause that comes next before it is due."""

from __future__ import annotations

from concurrent.futures import Future

from app.frontend.clause_choice import ClauseChoice
from app.tts.base import Clip, Voice


class ClauseSynthesis:
    """Holds at most one clause that `voice` is synthesising or has synthesised."""

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
        """Whether the clause is synthesised, and did not fail."""
        return self.choice is not None and is_audible(self._clip)

    def request(self, choice: ClauseChoice) -> Future[Clip]:
        """Synthesises a clause, in place of the one before if that has other words."""
        if self.choice is not None and self.choice.text != choice.text:
            self._clip.cancel()
        if self.choice is None or self.choice.text != choice.text:
            self._clip = self.voice.synthesize(choice.text)
        self.choice = choice
        return self._clip

    def clear(self) -> None:
        """Forgets the clause, which is being said now."""
        self.choice = None

    def set_voice(self, voice: Voice) -> None:
        """Uses another voice, or this one as it sounds now: what was synthesised ahead is synthesised again."""
        self.voice = voice
        if self.choice is not None:
            self._clip.cancel()
            self._clip = voice.synthesize(self.choice.text)


def is_audible(clip: Future[Clip]) -> bool:
    """Whether a clip is there, and was neither cancelled nor failed."""
    return clip.done() and not clip.cancelled() and clip.exception() is None
