"""Short openings that fill the wait for an answer, such as “Let me see.”, and after how long a silence one is due.

They commit to nothing, and fit after a question, a request and a statement. They are synthesised ahead.
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
"""Seconds without a sound, since the button's release, that an opening keeps from growing longer."""

SILENCE_GUESSED = 0.76
"""The same since the end of the user's speech where nobody has said that the turn is over. Of 24 pauses between the
sentences of MT-Bench's questions in two synthetic voices 14 last longer than 0.45 s and none longer than 0.74 s: an
opening after 0.5 s would start just as the user goes on."""

SILENCE_AT_WORST = 0.9
"""The same where the answer's first clause is being synthesised: it takes 0.1 to 0.4 s on two cores of a laptop, and an
opening would delay it by a second."""

FAR_SECONDS = 0.8
"""An answer that is so far away is opened at once: an opening takes about a second, and a slow back-end's first clause
more than that. As soon as a turn's end is known, an answer that is ready would sound, too."""


def is_far(newest: KnownRevision, at: float, heard: str = "") -> bool:
    """Whether at time `at` the newest revision's first clause is not expected before an opening has been said.

    `heard`: the turn's words where they are known; if the revision was not asked about them, another one will be.
    """
    if heard and not same_words(newest.asked, heard):
        return newest.expected > FAR_SECONDS
    return not newest.text and newest.due > at + FAR_SECONDS


def longest_silence(*, told: bool, coming: bool, far: bool) -> float:
    """Seconds that a silence may last before it is opened.

    `told`: the user has said that the turn is over. `coming`: the answer's first clause is being synthesised. `far`: it
    is not expected before `FAR_SECONDS`.
    """
    if coming:
        return SILENCE_AT_WORST
    return 0.0 if far else SILENCE if told else SILENCE_GUESSED


class Openings:
    """A language's openings as clips of `voice`, one after the other in an order that follows from `seed`."""

    def __init__(self, voice: Voice, seed: int, code: str = ENGLISH) -> None:
        self.code = code
        self._voice = voice
        self._seed = seed
        phrases = language(code).openings
        self._order = random.Random(seed).sample(phrases, len(phrases))
        self._next = 0
        self._clips: dict[str, Future[Clip]] = {}

    def turn_to(self, code: str) -> Openings:
        """The openings of another language by the same voice; these, if it is theirs."""
        return self if code == self.code else Openings(self._voice, self._seed, code)

    def spoken_by(self, voice: Voice) -> Openings:
        """The same openings by another voice, from the next one on; none of them is synthesised yet."""
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
        """Whether the next one is synthesised, and did not fail."""
        clip = self._clips.get(self._order[self._next])
        return clip is not None and is_audible(clip)

    def prepare(self) -> None:
        """Synthesises the next one, unless that was done already."""
        text = self._order[self._next]
        if text not in self._clips:
            self._clips[text] = self._voice.synthesize(text)

    def take(self) -> tuple[str, Clip] | None:
        """The next one's text and sound if that is ready; then the one after it is next."""
        text = self._order[self._next]
        clip = self._clips.get(text)
        if clip is None or not clip.done():
            return None
        self._next = (self._next + 1) % len(self._order)
        if not is_audible(clip) or not len(clip.result().samples):
            return None  # the voice can't say it: the problem is reported with the answer
        return text, clip.result()
