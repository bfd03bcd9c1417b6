"""The cases of `bench turns`: spoken questions with inserted pauses, and recordings of real people.

Pauses are inserted at each `|` in the texts (`resources/bench/sayings.json`). `|*` marks a pause after a complete
question or request, which determines the text's kind. All texts except MT-Bench's questions were written for this
bench.

There are two kinds of pause. In `flow`, the sentence is spoken in one go and silence is inserted at a low-energy point
between two words: the intonation stays open, as when a speaker searches for a word. In `apart`, the parts are spoken
separately: the intonation falls before the pause as at the end of a sentence, which is harder.

Recordings of people come from a folder with a `manifest.jsonl` (see `recordings.load_recordings`); the ends of their
utterances and their pauses are detected. The published figures use a selection of the WUW Corpus II (Kepuska; CC BY-SA
4.0), whose callers put a keyword into a sentence of their own.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import soundfile
import soxr

from app.conversation.frame import SAMPLE_RATE, frames
from app.conversation.turns.completeness import completeness
from app.conversation.words import fold
from app.platform.installation import resource
from app.research.benches.recordings import Span, joined, load_recordings, trim
from app.stt.base import VoiceActivity
from app.tts.base import place_words


@dataclass(frozen=True, slots=True)
class Saying:
    """A text with a pause between consecutive `parts`.

    `kind` describes the pauses: `clause` within a clause, `um` after a filled hesitation, `phrase` if one of them
    follows a complete question or request, `statement` between a statement and the question or request about it.
    `whole` is a question or request without a pause, and `plain` a complete statement, with a pause inside a clause or
    without one.
    """

    kind: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole text, without pause marks."""
        return " ".join(self.parts)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A section of one of the bench's own recordings, from `begin` to `end` in seconds, with its text."""

    file: str
    begin: float
    end: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Sayings:
    """All texts of the bench.

    A quarter of `fresh`, written later, goes to each of the first two parts, and half to the third.
    """

    spoken: tuple[Saying, ...]
    fresh: tuple[Saying, ...]
    bench: tuple[Excerpt, ...]


@functools.cache
def sayings() -> Sayings:
    """Returns all texts, in file order."""
    found = json.loads(resource("bench", "sayings.json").read_text("utf-8"))
    return Sayings(
        _sayings(found["spoken"]), _sayings(found["fresh"]), tuple(Excerpt(**entry) for entry in found["bench"])
    )


def _sayings(kinds: dict[str, list[str]]) -> tuple[Saying, ...]:
    return tuple(
        Saying("phrase" if "|*" in text else kind, tuple(part.strip() for part in text.replace("|*", "|").split("|")))
        for kind, texts in kinds.items()
        for text in texts
    )


KEYWORDS = ("operator", "think engine", "thinkengine", "onword", "wildfire", "voyager")
"""Keywords the corpus asked its callers to say, sometimes alone after a finished sentence."""
PAUSE_SECONDS = 0.1
"""A shorter silence between two voiced spans counts as part of a word."""
SHORTEST_SECONDS = 0.04
QUIETEST_SECONDS = 0.25


def people(
    folder: Path, recognise: Recognise, make_voice: Callable[[], VoiceActivity], part: int | None = None
) -> list[Case]:
    """Returns the recordings in `folder`, in manifest order. `part`: only speakers of this part.

    Raises TranscriberError.
    """
    out = []
    for recording in load_recordings(folder, part=part):
        text, sound = recording.text, recording.samples
        spans = voice_spans(sound, make_voice())
        if not spans:
            continue
        end = spans[-1][1]
        pauses = tuple((before[1], after[0]) for before, after in itertools.pairwise(spans))
        untold = pauses[-1:] if pauses and _keyword_alone(text, sound, pauses[-1], recognise) else ()
        name, sound = f"people {Path(recording.name).stem}", with_tail(sound, end)
        out.append(Case(name, "people", text, sound, end, pauses, recording.speaker, untold))
    return out


def voice_spans(sound: np.ndarray, voice: VoiceActivity) -> list[Span]:
    """Returns the start and end of each voiced span in `sound` (float32, 24 kHz), in seconds."""
    voiced: list[Span] = []
    for window in (window for frame in frames(sound) for window in voice.hear(frame)):
        begin = window.end - 0.032
        continues = bool(voiced) and begin - voiced[-1][1] < 1e-6
        if window.probability >= (0.35 if continues else 0.5):
            voiced.append((begin, window.end))
    return joined(voiced, PAUSE_SECONDS, SHORTEST_SECONDS)


def with_tail(sound: np.ndarray, end: float) -> np.ndarray:
    """Appends the recording's own background noise, long enough for every turn to end."""
    missing = round((end + TAIL_SECONDS) * SAMPLE_RATE) - len(sound)
    if missing <= 0:
        return sound
    size = round(QUIETEST_SECONDS * SAMPLE_RATE)
    starts = range(0, max(1, len(sound) - size), size // 4)
    quiet = min((sound[at : at + size] for at in starts), key=lambda piece: float(np.square(piece).sum()))
    both = np.concatenate([quiet, quiet[::-1]])
    return np.concatenate([sound, np.resize(both, missing)]).astype(np.float32)


def with_pause(sound: np.ndarray, at: int, seconds: float) -> np.ndarray:
    """Inserts silence at sample `at`, fading the sound out before it and in after it."""
    sound, size = sound.copy(), min(round(FADE_SECONDS * SAMPLE_RATE), at, len(sound) - at)
    fade = np.linspace(0.0, 1.0, size, dtype=np.float32)
    sound[at - size : at] *= fade[::-1]
    sound[at : at + size] *= fade
    return np.insert(sound, at, np.zeros(round(seconds * SAMPLE_RATE), np.float32))


def _keyword_alone(text: str, sound: np.ndarray, pause: tuple[float, float], recognise: Recognise) -> bool:
    """Whether `pause` follows a finished sentence and only a keyword comes after it."""
    said = " ".join(fold(text))
    keyword = next((word for word in KEYWORDS if said.endswith(word)), None)
    if keyword is None or completeness(said[: -len(keyword)]) == "open":
        return False
    return len(fold(recognise(sound[round(pause[1] * SAMPLE_RATE) :]))) <= len(keyword.split()) + 1


Making = Literal["flow", "apart"]

PARTS = ("tuning", "held out", "final")
"""The parts used to tune the constants, to choose between candidates, and for a single final evaluation."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.2, 1.2
"""Range of inserted pauses, in seconds. Hesitations within a turn mostly last 0.2 to 1 s (Campione and Véronis, 2002).
"""
FADE_SECONDS = 0.008
LEAD_SECONDS, TAIL_SECONDS = 0.5, 2.6
ROOM_DBFS = -65.0
SEARCH_SECONDS = 0.35
"""How far around its expected position the end of a word is searched for, in seconds."""
TRIES = 6
"""Number of low-energy positions tried per cut."""
END_REACH = 0.12
"""A speech end within this many seconds of a marked one counts as the same."""
SPEEDS = (0.93, 1.0, 1.0, 1.08)
"""Playback speeds, which also shift the pitch, so that one voice sounds like several speakers."""


@dataclass(frozen=True, slots=True)
class Case:
    """The audio of a case, float32 24 kHz, in which the voice ends at `end` seconds.

    `pauses`: start and end of each inserted pause, in seconds.
    """

    name: str
    kind: str
    text: str
    samples: np.ndarray
    end: float
    pauses: tuple[tuple[float, float], ...]
    speaker: str = ""
    untold: tuple[tuple[float, float], ...] = ()
    """Those of `pauses` that follow what may be a complete turn, so that nothing indicates that more follows."""

    def resumes(self, speech_end: float) -> float | None:
        """Returns when the voice resumes after a pause that began at `speech_end`; None if it doesn't."""
        if speech_end >= self.end - END_REACH:
            return None
        return min((after for _, after in self.pauses if after > speech_end + 0.03), default=self.end)

    def is_untold(self, speech_end: float) -> bool:
        """Whether the pause that began at `speech_end` is one of `untold`."""
        return any(begin - END_REACH <= speech_end <= end for begin, end in self.untold)


@dataclass(slots=True)
class Cases:
    """The cases that could be created, and the names of those that could not be cut between two words."""

    made: list[Case] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(
        self,
        name: str,
        kind: str,
        text: str,
        pieces: list[np.ndarray] | None,
        rng: np.random.Generator,
        speed: float = 1.0,
    ) -> None:
        """Adds a case: joins the pieces, played at `speed`, with random pauses, a lead and a tail, in a quiet room and
        at a random level. If `pieces` is None, its name is added to `left_out` instead.
        """
        if pieces is None:
            self.left_out.append(name)
            return
        if speed != 1.0:
            pieces = [soxr.resample(piece, SAMPLE_RATE * speed, SAMPLE_RATE).astype(np.float32) for piece in pieces]
        lead = round((LEAD_SECONDS + rng.uniform(0, 0.08)) * SAMPLE_RATE)
        sound, pauses, at = np.concatenate(pieces), [], 0
        for piece in pieces[:-1]:
            at += len(piece)
            gap = round(rng.uniform(SHORTEST_PAUSE, LONGEST_PAUSE) * SAMPLE_RATE)
            sound = with_pause(sound, at, gap / SAMPLE_RATE)
            pauses.append(((lead + at) / SAMPLE_RATE, (lead + at + gap) / SAMPLE_RATE))
            at += gap
        samples = np.pad(sound, (lead, round(TAIL_SECONDS * SAMPLE_RATE))) * 10 ** (rng.uniform(-8, 2) / 20)
        samples += rng.standard_normal(len(samples)) * 10 ** (ROOM_DBFS / 20)
        end = (lead + len(sound)) / SAMPLE_RATE
        self.made.append(Case(name, kind, text, samples.astype(np.float32), end, tuple(pauses)))

    def __iadd__(self, other: Cases) -> Cases:
        self.made += other.made
        self.left_out += other.left_out
        return self


Recognise = Callable[[np.ndarray], str]
"""Recognises words (float32, 24 kHz); used to check that a cut lies between two words."""


def part_of(source: str, number: int) -> int:
    """Returns the index of the part that text number `number` of a source (`bench`, `spoken` or `fresh`) belongs to."""
    return (0, 1, 2, 2)[number % 4] if source == "fresh" else number % 2


def bench_cases(recognise: Recognise, part: int | None = None, most: int = 0) -> Cases:
    """Returns the bench's own recordings with inserted pauses.

    `part`: index into PARTS; `most`: maximum number, 0 for all.
    """
    out = Cases()
    for number, excerpt in enumerate(sayings().bench):
        if (part is not None and part_of("bench", number) != part) or (most and len(out.made) >= most):
            continue
        samples, _ = soundfile.read(resource("bench", "questions", f"{excerpt.file}.flac"), dtype="float32")
        piece = trim(samples[round(excerpt.begin * SAMPLE_RATE) : round(excerpt.end * SAMPLE_RATE)])
        parts = tuple(text.strip() for text in excerpt.text.split("|"))
        name = f"bench {number} {excerpt.file}"
        cut = _cut(piece, parts, recognise)
        out.add(name, excerpt.kind, " ".join(parts), cut, np.random.default_rng([11, number]))
    return out


def spoken_cases(
    say: Callable[[str], np.ndarray],
    recognise: Recognise,
    part: int | None = None,
    makings: Sequence[Making] = ("flow", "apart"),
    most: int = 0,
) -> Cases:
    """Returns the sayings as spoken by `say` (float32 24 kHz), in every making that applies.

    `most`: maximum number, 0 for all.
    """
    out = Cases()
    texts = [
        (source, seed, number, saying, making)
        for source, seed, some in (("spoken", 23, sayings().spoken), ("fresh", 29, sayings().fresh))
        for number, saying in enumerate(some)
        for making in makings
        if (part is None or part_of(source, number) == part) and (making == "flow" or len(saying.parts) > 1)
    ]
    for source, seed, number, saying, making in texts:
        if most and len(out.made) >= most:
            break
        rng = np.random.default_rng([seed, number, making == "apart"])
        pieces = [trim(say(text)) for text in (saying.parts if making == "apart" else (saying.text,))]
        cut = pieces if making == "apart" else _cut(pieces[0], saying.parts, recognise)
        out.add(f"{source} {number} {making}", saying.kind, saying.text, cut, rng, speed=float(rng.choice(SPEEDS)))
    return out


def _cut(whole: np.ndarray, parts: Sequence[str], recognise: Recognise) -> list[np.ndarray] | None:
    """Cuts `whole` between its `parts`, at low-energy positions where the recogniser finds the last word before the cut
    and the first one after it. Returns None if there is no such position.
    """
    words = place_words(" ".join(parts), len(whole))
    step = SAMPLE_RATE // 50
    energy = np.convolve(np.square(whole), np.ones(step) / step, "same")
    pieces, begin, count = [], 0, 0
    for part, following in itertools.pairwise(parts):
        count += len(part.split())
        guess = words[count - 1].end
        reach = round(SEARCH_SECONDS * SAMPLE_RATE)
        first, last = max(begin + step, guess - reach), min(len(whole) - step, guess + reach)
        grid = np.arange(first, last, step // 2)
        lows = [int(at) for n, at in enumerate(grid) if energy[at] <= energy[grid[max(0, n - 2) : n + 3]].min()]
        lows.sort(key=lambda at: float(np.log10(energy[at] + 1e-9)) + 4 * abs(at - guess) / SAMPLE_RATE)
        for at in lows[:TRIES]:
            before, after = fold(recognise(whole[begin:at])), fold(recognise(whole[at:]))
            if before[-1:] == fold(part)[-1:] and after[:1] == fold(following)[:1]:
                break
        else:
            return None
        pieces.append(whole[begin:at].copy())
        begin = at
    # Removes the recording's own silence, so that each pause is as long as the inserted one.
    return [trim(piece) for piece in (*pieces, whole[begin:])]
