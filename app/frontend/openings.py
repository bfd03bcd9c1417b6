"""What a voice says while the answer is still being thought of: short openings that commit to nothing.

They judge nothing, promise nothing, and fit behind a question, a request and a statement. Their sound is made ahead.
"""

from __future__ import annotations

import random
from concurrent.futures import Future

from app.conversation.languages import ENGLISH, language
from app.tts.base import Clip, Voice


class Openings:
    """Gives a language's openings one after the other, in an order that follows from `seed`, as clips of `voice`."""

    def __init__(self, voice: Voice, seed: int, code: str = ENGLISH) -> None:
        self.code = code
        self._voice = voice
        self._seed = seed
        phrases = language(code).openings
        self._order = random.Random(seed).sample(phrases, len(phrases))
        self._next = 0
        self._clips: dict[str, Future[Clip]] = {}

    def turn_to(self, code: str) -> Openings:
        """The openings of another language, by the same voice; these, if it is theirs."""
        return self if code == self.code else Openings(self._voice, self._seed, code)

    def spoken_by(self, voice: Voice) -> Openings:
        """Return the same openings by another voice, from the next one on; nothing of them is made yet."""
        other = Openings(voice, self._seed, self.code)
        other._next = self._next
        return other

    @property
    def preparing(self) -> bool:
        """Whether the next one is being synthesised."""
        clip = self._clips.get(self._order[self._next])
        return clip is not None and not clip.done()

    @property
    def prepared(self) -> bool:
        """Whether the next one's sound is there."""
        clip = self._clips.get(self._order[self._next])
        return clip is not None and clip.done() and not clip.cancelled() and clip.exception() is None

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
