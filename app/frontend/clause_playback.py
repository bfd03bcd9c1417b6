"""Synthesises clauses and openings before they are due, and plays them frame by frame.

A clause can be cut off between two words, and audio that was never played can be taken back.
"""

from __future__ import annotations

import random
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import ENGLISH, language
from app.conversation.speaking.spoken_answer import ClauseChoice
from app.frontend.base import FADE_SAMPLES
from app.tts.base import Clip, Voice

CUT_REACH = SAMPLE_RATE * 120 // 1000
CUT_WITHIN = SAMPLE_RATE * 6 // 10
"""A clause is cut off at the quietest point within the next 0.6 s that is at most 120 ms from the end of a word."""


PlayedWord = tuple[str, int, tuple[int, int] | None]
"""A word, the sample after its last one, and the written characters that it stands for."""


@dataclass(slots=True)
class PlayingClause:
    """A clause and how far it has been played: up to sample `position` and word number `word` of `clip`.

    - `cut`: the sample at which it is cut off, and how many of its words have been spoken by then.
    - `hold_after`: playback stops at the end of this many words until `go_on` is called; 0 if it doesn't.
    - `fades_from`: the sample at which playback begins after an interruption, with a fade-in; -1 if there was none.
    """

    choice: ClauseChoice
    clip: Clip
    position: int = 0
    word: int = 0
    cut: tuple[int, int] | None = None
    hold_after: int = 0
    fades_from: int = -1
    words: int = field(init=False)
    """How many words the whole clause has, even if it is cut off."""

    def __post_init__(self) -> None:
        self.words = len(self.clip.words)

    @property
    def over(self) -> bool:
        """Whether all of it has been played."""
        return self.rest <= 0

    @property
    def rest(self) -> int:
        """The number of samples left to play."""
        return len(self.clip.samples) - self.position

    @property
    def holds(self) -> bool:
        """Whether playback has stopped until `go_on` is called or another clause starts."""
        return self.hold_after > 0 and self.position >= self._held_at

    @property
    def _held_at(self) -> int:
        words = self.clip.words  # fewer if the voice has failed
        return words[self.hold_after - 1].end if self.hold_after <= len(words) else len(self.clip.samples)

    def go_on(self, choice: ClauseChoice) -> None:
        """Plays the clause to its end, as a clause of another revision that has the same words."""
        if self.holds:
            self.fades_from = self.position
        self.choice, self.hold_after = choice, 0

    def place_cut(self, wanted: bool) -> None:
        """Schedules a cut at the next quiet point, or cancels it if it is no longer `wanted`."""
        if not wanted:
            self.cut = None
        elif self.cut is None:
            self.cut = quiet_cut(self.clip, self.position, self.word)

    def play(self, out: np.ndarray) -> tuple[int, list[PlayedWord]]:
        """Writes the next samples to `out`. Returns their number, and the words that end there.

        There are fewer than `out` takes if the clause stops there, or if the voice is late.
        """
        samples, words = self.clip.samples, self.clip.words  # the voice's thread may replace them
        stop, last = len(samples), len(words)
        if self.cut is not None:
            stop, last = self.cut
        elif self.hold_after:
            stop, last = self._held_at, self.hold_after
        count = max(0, min(len(out), stop - self.position, self.clip.filled - self.position))
        out[:count] = samples[self.position : self.position + count]
        if stop < len(samples):
            _fade_out(out[:count], stop - self.position)
        if 0 <= self.fades_from <= self.position < self.fades_from + FADE_SAMPLES:
            _fade_in(out[:count], self.position - self.fades_from)
        self.position += count
        cut_off = self.cut is not None and self.position >= stop
        limit = min(last, len(words)) if self.position >= stop else len(words)
        said = []
        while self.word < limit and (cut_off or words[self.word].end <= self.position):
            word = words[self.word]
            written = self.choice.written(self.word, self.words)
            said.append((word.text, count - max(0, self.position - word.end), written))
            self.word += 1
        return count, said

    def rewind(self, samples: int = 0) -> None:
        """Rewinds by `samples`, then to the start of the word reached, so that playback doesn't resume mid-word."""
        self.position = max(0, self.position - samples)
        words = self.clip.words
        self.word = sum(1 for word in words if word.end <= self.position)
        if self.word < len(words):
            self.position = min(self.position, words[self.word].start)
        self.fades_from = self.position if 0 < self.position < len(self.clip.samples) else -1

    def end_here(self) -> None:
        """Ends the clause where it is."""
        clip = self.clip
        clip.unwanted = True
        self.clip = Clip(clip.samples[: self.position], clip.words[: self.word])
        self.cut, self.hold_after = None, 0


class ClausePlayback:
    """Plays clauses one after another, keeping the previous one in case its end has to be replayed."""

    def __init__(self) -> None:
        self.current: PlayingClause | None = None
        self.broke_off = False
        """Whether the previous clause was cut off and its replacement hasn't started yet."""
        self._previous: PlayingClause | None = None
        self._taken_back: PlayingClause | None = None  # started, but not played at all

    def clear(self) -> None:
        """Discards all clauses."""
        if self.current is not None:
            self.current.clip.unwanted = True
        self.current = self._previous = self._taken_back = None
        self.broke_off = False

    @property
    def growing(self) -> bool:
        """Whether the clause is being synthesised while it is played."""
        return self.current is not None and not self.current.clip.complete

    def start(self, choice: ClauseChoice, clip: Clip, *, hold_after: int = 0) -> None:
        """Starts playing this clause, after the one that is being held, if any. `hold_after`: see `PlayingClause`."""
        self.end_held()
        self.current = PlayingClause(choice, clip, hold_after=hold_after)

    def end_held(self) -> None:
        """Ends the clause that is being held where it stopped."""
        if self.current is not None and self.current.holds:
            self._end_current()

    def start_taken_back(self) -> bool:
        """Restarts the clause that was taken back, if any. Returns True if there was one."""
        if self._taken_back is None:
            return False
        self.current, self._taken_back = self._taken_back, None
        return True

    def play(self, out: np.ndarray) -> tuple[int, list[PlayedWord]]:
        """Calls `PlayingClause.play` for the current clause, which ends when its last sample has been played."""
        playing = self.current
        assert playing is not None
        played = playing.play(out)
        if playing.cut is not None and playing.position >= playing.cut[0]:
            self.broke_off = True
            self._end_current()
        elif playing.over:
            self._previous, self.current = playing, None
        return played

    def _end_current(self) -> None:
        assert self.current is not None
        self.current.end_here()
        self._previous, self.current = self.current, None

    def take_back(self, samples: int) -> None:
        """Rewinds by `samples` samples, which were discarded before being played, so that they are played again."""
        playing = self.current
        played = playing.position if playing is not None else 0
        if played < samples and self._previous is not None:
            # The discarded samples reach into the previous clause: resume that one, then play this one again.
            if playing is not None:
                playing.position = playing.word = 0
                self._taken_back = playing
            playing, self._previous = self._previous, None
            samples -= played
        if playing is not None:
            playing.rewind(samples)
            self.current = playing


def quiet_cut(clip: Clip, position: int, word: int) -> tuple[int, int] | None:
    """Finds the best point to cut `clip` off after sample `position`, where word number `word` is being spoken.

    Returns the sample and how many words have been spoken by then, or None if there is no such point. Word positions
    are estimates, so the cut is placed where the audio near the end of a word is quietest.
    """
    best: tuple[float, int, int] | None = None
    for place in range(word, len(clip.words) - 1):
        end = clip.words[place].end
        first, last = max(position + 1, end - CUT_REACH), min(end + CUT_REACH, clip.filled)
        if best is not None and first > position + CUT_WITHIN:
            break
        energy = np.convolve(np.square(clip.samples[first:last]), np.ones(FADE_SAMPLES), "valid")
        if not len(energy):
            continue
        quietest = int(energy.argmin())
        found = (float(energy[quietest]), first + quietest + FADE_SAMPLES, place + 1)
        if best is None or found[0] < best[0]:
            best = found
    return best[1:] if best is not None else None


def _fade_in(samples: np.ndarray, passed: int) -> None:
    """Fades in `samples` in place; the fade-in began `passed` samples before the first one."""
    since_begin = passed + np.arange(len(samples), dtype=np.float32)
    samples *= np.clip(since_begin / FADE_SAMPLES, 0.0, 1.0)


def _fade_out(samples: np.ndarray, left: int) -> None:
    """Fades out `samples` in place; the audio is cut off `left` samples after the first one."""
    until_end = left - np.arange(len(samples), dtype=np.float32)
    samples *= np.clip(until_end / FADE_SAMPLES, 0.0, 1.0)


class ClauseSynthesis:
    """Synthesises at most one clause ahead of time with `voice`, and holds the result."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice
        self.choice: ClauseChoice | None = None
        self._clip: Future[Clip] = Future()

    @property
    def busy(self) -> bool:
        """Whether the clause is being synthesised, and nothing of it can be played yet."""
        return self.choice is not None and not self._clip.done()

    @property
    def audible(self) -> bool:
        """Whether the clause has been synthesised successfully."""
        return self.choice is not None and is_audible(self._clip)

    def request(self, choice: ClauseChoice) -> Future[Clip]:
        """Synthesises a clause, replacing the previous one if its text differs."""
        if self.choice is None or self.choice.text != choice.text:
            self._discard()
            self._clip = self.voice.synthesize(choice.text, growing=True)
        self.choice = choice
        return self._clip

    def _discard(self) -> None:
        """Cancels the synthesis of the present clause, if there is one."""
        if self.choice is not None and not self._clip.cancel() and is_audible(self._clip):
            self._clip.result().unwanted = True

    def clear(self) -> None:
        """Discards the clause. Call it once the clause is being played."""
        self.choice = None

    def set_voice(self, voice: Voice) -> None:
        """Sets another voice, or the same one with changed settings, and resynthesises the clause."""
        self.voice = voice
        if self.choice is not None:
            self._discard()
            self._clip = voice.synthesize(self.choice.text, growing=True)


def is_audible(clip: Future[Clip]) -> bool:
    """Returns whether a clip has been synthesised successfully."""
    return clip.done() and not clip.cancelled() and clip.exception() is None


class Openings:
    """The openings in one language, spoken by `voice`, in an order determined by `seed`: short ones and longer ones."""

    def __init__(self, voice: Voice, seed: int, code: str = ENGLISH) -> None:
        self.code = code
        self._voice = voice
        self._seed = seed
        order = random.Random(seed)
        spoken_in = language(code)
        self._phrases = [
            deque(order.sample(some, len(some))) for some in (spoken_in.openings, spoken_in.longer_openings)
        ]
        self._clips: dict[str, Future[Clip]] = {}

    def turn_to(self, code: str) -> Openings:
        """Returns the openings in language `code` in the same voice, or `self` if the language is the same."""
        return self if code == self.code else Openings(self._voice, self._seed, code)

    def spoken_by(self, voice: Voice) -> Openings:
        """Returns the openings in another voice, continuing in the same order. None of them is synthesised yet."""
        other = Openings(voice, self._seed, self.code)
        other._phrases = self._phrases
        return other

    @property
    def preparing(self) -> bool:
        """Whether one of the next openings is being synthesised."""
        return any(text in self._clips and not self._clips[text].done() for text, *_ in self._phrases)

    def prepare(self) -> None:
        """Starts synthesising the next short and the next longer opening if necessary."""
        for text, *_ in self._phrases:
            if text not in self._clips:
                self._clips[text] = self._voice.synthesize(text)

    def take(self, *, longer: bool) -> tuple[str, Clip] | None:
        """Returns the text and clip of the next opening of a kind if it is ready, and advances to the one after it."""
        phrases = self._phrases[longer]
        text = phrases[0]
        clip = self._clips.get(text)
        if clip is None or not clip.done():
            return None
        phrases.rotate(-1)
        if not is_audible(clip) or not len(clip.result().samples):
            return None  # synthesis failed; the problem is reported with the answer
        return text, clip.result()
