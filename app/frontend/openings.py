"""What a voice says while the answer is still being thought of: short openings that commit to nothing.

They judge nothing, promise nothing, and fit behind a question, a request and a statement. Their sound is made ahead.
"""

from __future__ import annotations

import random
from concurrent.futures import Future

from app.tts.base import Clip, Voice

OPENINGS = (
    "Let me think.",
    "Let me see.",
    "One moment.",
    "Hmm, let me think.",
    "Just a second.",
    "Let me think about that.",
    "Give me a moment.",
    "Well, let me see.",
    "One second.",
    "Hmm, let me see.",
)


class Openings:
    """Gives the openings one after the other, in an order that follows from `seed`, as clips of `voice`."""

    def __init__(self, voice: Voice, seed: int) -> None:
        self._voice = voice
        self._order = random.Random(seed).sample(OPENINGS, len(OPENINGS))
        self._next = 0
        self._clips: dict[str, Future[Clip]] = {}

    @property
    def preparing(self) -> bool:
        """Whether the next one is being synthesised."""
        clip = self._clips.get(self._order[self._next])
        return clip is not None and not clip.done()

    def prepare(self) -> None:
        """Has the next one synthesised, unless it is already."""
        text = self._order[self._next]
        if text not in self._clips:
            self._clips[text] = self._voice.synthesize(text)

    def take(self) -> tuple[str, Clip] | None:
        """The next one's text and sound, if that is ready; then the one behind it is next."""
        text = self._order[self._next]
        clip = self._clips.get(text)
        if clip is None or not clip.done():
            return None
        self._next = (self._next + 1) % len(self._order)
        if clip.cancelled() or clip.exception() is not None or not len(clip.result().samples):
            return None  # the voice can't say it: what it fails at is told with the answer
        return text, clip.result()
