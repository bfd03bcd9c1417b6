"""Short openings that fill the wait for an answer, such as “Let me see.”, and the silences after which they start.

They are non-committal, suit questions, requests and statements, and are synthesised in advance.
"""

from __future__ import annotations

import random
from concurrent.futures import Future

from app.conversation.languages import ENGLISH, language
from app.conversation.stability import KnownRevision
from app.conversation.words import same_words
from app.frontend.clause_synthesis import is_audible
from app.tts.base import Clip, Voice

SILENCE = 0.5
"""Longest silence in seconds between the release of the push-to-talk button and an opening."""

SILENCE_GUESSED = 0.76
"""The same after the end of the user's speech if the end of the turn is only an estimate. Of 24 pauses between the
sentences of MT-Bench questions in two synthetic voices, 14 are longer than 0.45 s and none is longer than 0.74 s. An
opening after 0.5 s would start just as the user continues."""

SILENCE_AT_WORST = 0.9
"""The same while the answer's first clause is being synthesised. That takes 0.1 to 0.4 s on two laptop cores, and an
opening would delay the answer by a second."""

FAR_SECONDS = 0.8
"""If the answer is expected later than this, an opening starts immediately. An opening lasts about a second, less than
a slow back-end needs for its first clause. A ready answer would also start as soon as the end of the turn is known."""


def is_far(newest: KnownRevision, at: float, heard: str = "") -> bool:
    """Returns whether the newest revision's first clause is expected too late for an opening at time `at` to delay it.

    `heard`: the turn's words, if known. If the revision was requested for other words, a new one will be requested.
    """
    if heard and not same_words(newest.asked, heard):
        return newest.expected > FAR_SECONDS
    return not newest.text and newest.due > at + FAR_SECONDS


def longest_silence(*, told: bool, coming: bool, far: bool) -> float:
    """Returns how many seconds of silence to allow before an opening.

    `told`: the user has signalled the end of the turn; `coming`: the answer's first clause is being synthesised; `far`:
    the first clause isn't expected within `FAR_SECONDS`.
    """
    if coming:
        return SILENCE_AT_WORST
    return 0.0 if far else SILENCE if told else SILENCE_GUESSED


class Openings:
    """The openings in one language, spoken by `voice`, in an order determined by `seed`."""

    def __init__(self, voice: Voice, seed: int, code: str = ENGLISH) -> None:
        self.code = code
        self._voice = voice
        self._seed = seed
        phrases = language(code).openings
        self._order = random.Random(seed).sample(phrases, len(phrases))
        self._next = 0
        self._clips: dict[str, Future[Clip]] = {}

    def turn_to(self, code: str) -> Openings:
        """Returns the openings in language `code` in the same voice, or `self` if the language is the same."""
        return self if code == self.code else Openings(self._voice, self._seed, code)

    def spoken_by(self, voice: Voice) -> Openings:
        """Returns the openings in another voice, continuing in the same order. None of them is synthesised yet."""
        other = Openings(voice, self._seed, self.code)
        other._next = self._next
        return other

    @property
    def preparing(self) -> bool:
        """Whether the next opening is being synthesised."""
        clip = self._clips.get(self._order[self._next])
        return clip is not None and not clip.done()

    @property
    def prepared(self) -> bool:
        """Whether the next opening has been synthesised successfully."""
        clip = self._clips.get(self._order[self._next])
        return clip is not None and is_audible(clip)

    def prepare(self) -> None:
        """Starts synthesising the next opening if necessary."""
        text = self._order[self._next]
        if text not in self._clips:
            self._clips[text] = self._voice.synthesize(text)

    def take(self) -> tuple[str, Clip] | None:
        """Returns the text and clip of the next opening if it is ready, and advances to the one after it."""
        text = self._order[self._next]
        clip = self._clips.get(text)
        if clip is None or not clip.done():
            return None
        self._next = (self._next + 1) % len(self._order)
        if not is_audible(clip) or not len(clip.result().samples):
            return None  # synthesis failed; the problem is reported with the answer
        return text, clip.result()
