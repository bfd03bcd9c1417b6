"""Spoken questions with pauses inside them, for `bench turns`: what is said, where the speaker stops, and the sound.

Two kinds of pause. In `flow` the sentence was spoken in one go and silence is put in at a low place between two
words: the voice hangs in the air, as it does when somebody looks for a word. In `apart` the parts were spoken one
by one: the voice falls before the pause, as if all had been said, which is the harder kind. Knows no turn taking.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import soundfile
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.evaluation.sayings import BENCH, FRESH, RECORDED, SAYINGS, WHOLE_INSIDE
from app.platform.resources import resource
from app.tts.clip import place_words

Making = Literal["flow", "apart"]

SHORTEST_PAUSE, LONGEST_PAUSE = 0.2, 1.2
"""Seconds. What speakers leave within a turn: hesitations of 0.2 to 1 s (Campione and Véronis, 2002), and more."""
VOICE_FLOOR = 0.01
"""Amplitude above which a recording is taken to be voice (-40 dBFS), as in `bench latency`."""
FADE_SECONDS = 0.008
LEAD_SECONDS, TAIL_SECONDS = 0.5, 2.6
ROOM_DBFS = -65.0
SEARCH_SECONDS = 0.35
"""How far from where a word should end by its length its end is looked for..."""
END_REACH = 0.12
"""Seconds: voice that ends this close to where another one was marked to end is the same."""
TRIES = 6
"""... and how many low places are tried."""
SPEEDS = (0.93, 1.0, 1.0, 1.08)
"""Factors by which a recording is played faster, pitch and all: so the one voice speaks as several people."""


@dataclass(frozen=True, slots=True)
class Case:
    """A sound to listen to: float32 24 kHz. The voice ends `end` seconds after the first sample; `pauses`: begin
    and end of each pause that was put in, in seconds.
    """

    name: str
    kind: str
    making: Making
    text: str
    samples: np.ndarray
    end: float
    pauses: tuple[tuple[float, float], ...]
    speaker: str = ""
    untold: tuple[tuple[float, float], ...] = ()
    """Those of `pauses` before which all that is said may be all: nobody could know that more follows."""

    @property
    def voice(self) -> str:
        """Who speaks: `Kokoro` in the recordings, `Piper` in what the app's voice says, or people."""
        if self.speaker:
            return "people"
        return "Kokoro" if self.name.split()[0] in ("bench", "recorded") else "Piper"

    def resumes(self, speech_end: float) -> float | None:
        """When the voice comes back behind a pause that began at `speech_end`; None: it doesn't."""
        if speech_end >= self.end - END_REACH:
            return None
        return min((after for _, after in self.pauses if after > speech_end + 0.03), default=self.end)

    def is_untold(self, speech_end: float) -> bool:
        """Whether the pause that began at `speech_end` is one of `untold`."""
        return any(begin - END_REACH <= speech_end <= end for begin, end in self.untold)


Hear = Callable[[np.ndarray], str]
"""Sound (float32 24 kHz) to words: a recogniser, which checks that a cut lies between two words."""


PARTS = ("tuning", "held out", "final")
"""What the constants were tuned on; what they were chosen by; and what was listened to once, at the end."""


def part_of(source: str, number: int) -> int:
    """To which of PARTS number `number` of a source belongs: `bench`, `spoken`, `fresh` or `recorded`."""
    return (0, 1, 2, 2)[number % 4] if source in ("fresh", "recorded") else number % 2


def bench_cases(hear: Hear, part: int | None = None, most: int = 0) -> tuple[list[Case], list[str]]:
    """The bench's recordings with pauses put in, and what could not be cut; `part`: one of PARTS, by its place;
    `most`: no more than so many cases, if it is not 0.
    """
    out: list[Case] = []
    left_out: list[str] = []
    for number, cut in enumerate(BENCH):
        if (part is not None and part_of("bench", number) != part) or (most and len(out) >= most):
            continue
        samples, _ = soundfile.read(resource("bench", "questions", f"{cut.file}.flac"), dtype="float32")
        piece = _trimmed(samples[round(cut.begin * SAMPLE_RATE) : round(cut.end * SAMPLE_RATE)])
        parts = tuple(text.strip() for text in cut.text.split("|"))
        pieces = _cut(piece, parts, hear)
        name = f"bench {number} {cut.file}"
        if pieces is None:
            left_out.append(name)
            continue
        rng = np.random.default_rng([11, number])
        out.append(_lay_out(name, cut.kind, "flow", " ".join(parts), pieces, rng))
    return out, left_out


def recorded_cases(folder: Path, hear: Hear, part: int | None = None) -> tuple[list[Case], list[str]]:
    """MT-Bench's turns as spoken in `folder` (`VOICE/QUESTION_TURN.flac`, 24 kHz), and what could not be cut."""
    out, left_out = [], []
    for number, (file, text) in enumerate(RECORDED):
        if part is not None and part_of("recorded", number) != part:
            continue
        parts = tuple(piece.strip() for piece in text.replace("^", "|").split("|"))
        ends = list(itertools.accumulate(1 + sentence.count("|") for sentence in text.split("^")))
        for voice in sorted(one for one in folder.iterdir() if one.is_dir()):
            samples, _ = soundfile.read(voice / f"{file}.flac", dtype="float32")
            pieces = _cut(_trimmed(samples), parts, hear)
            name = f"recorded {number} {voice.name} {file}"
            if pieces is None:
                left_out.append(name)
                continue
            for place, (begin, end) in enumerate(itertools.pairwise((0, *ends))):
                kind = "statement" if any(said.endswith(".") for said in parts[begin : end - 1]) else "clause"
                kind = "phrase" if (file, place) in WHOLE_INSIDE else kind
                rng = np.random.default_rng([31, number, place, *voice.name.encode()])
                said = " ".join(parts[begin:end])
                out.append(_lay_out(f"{name} {place}", kind, "flow", said, pieces[begin:end], rng))
    return out, left_out


def spoken_cases(
    say: Callable[[str], np.ndarray],
    hear: Hear,
    part: int | None = None,
    makings: Sequence[Making] = ("flow", "apart"),
    most: int = 0,
) -> tuple[list[Case], list[str]]:
    """The sayings as `say` speaks them (float32 24 kHz), each in every making, and what could not be cut; `most`: no
    more than so many cases, if it is not 0.
    """
    out: list[Case] = []
    left_out: list[str] = []
    for source, number, saying in (
        *(("spoken", number, saying) for number, saying in enumerate(SAYINGS)),
        *(("fresh", number, saying) for number, saying in enumerate(FRESH)),
    ):
        if part is not None and part_of(source, number) != part:
            continue
        for making in makings:
            if most and len(out) >= most:
                break
            rng = np.random.default_rng([23 if source == "spoken" else 29, number, making == "apart"])
            name = f"{source} {number} {making}"
            if len(saying.parts) == 1 and making == "apart":
                continue
            if making == "flow":
                pieces = _cut(_trimmed(say(saying.text)), saying.parts, hear)
            else:
                pieces = [_trimmed(say(text)) for text in saying.parts]
            if pieces is None:
                left_out.append(name)
                continue
            speed = float(rng.choice(SPEEDS))
            if speed != 1.0:
                pieces = [soxr.resample(piece, SAMPLE_RATE * speed, SAMPLE_RATE).astype(np.float32) for piece in pieces]
            out.append(_lay_out(name, saying.kind, making, saying.text, pieces, rng))
    return out, left_out


def _cut(whole: np.ndarray, parts: Sequence[str], hear: Hear) -> list[np.ndarray] | None:
    """`whole` cut between its `parts`, at low places where the recogniser hears the last word before and the first
    one behind; None where there is no such place.
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
        lows = [at for n, at in enumerate(grid) if energy[at] <= energy[grid[max(0, n - 2) : n + 3]].min()]
        lows.sort(key=lambda at: float(np.log10(energy[at] + 1e-9)) + 4 * abs(at - guess) / SAMPLE_RATE)
        for at in lows[:TRIES]:
            before, behind = fold(hear(whole[begin:at])), fold(hear(whole[at:]))
            if before[-1:] == fold(part)[-1:] and behind[:1] == fold(following)[:1]:
                break
        else:
            return None
        pieces.append(whole[begin:at].copy())
        begin = at
    # The recording's own silence goes: the pause is what is put in, and no longer.
    return [_trimmed(piece) for piece in (*pieces, whole[begin:])]


def _trimmed(samples: np.ndarray) -> np.ndarray:
    """From the first sample of voice to the last one."""
    loud = np.flatnonzero(np.abs(samples) > VOICE_FLOOR)
    return samples[loud[0] : loud[-1] + 1].astype(np.float32) if len(loud) else samples[:0].astype(np.float32)


def _lay_out(
    name: str, kind: str, making: Making, text: str, pieces: Sequence[np.ndarray], rng: np.random.Generator
) -> Case:
    """The pieces with pauses between, a lead, a tail, a quiet room, at a level of its own."""
    fade = np.linspace(0.0, 1.0, round(FADE_SECONDS * SAMPLE_RATE), dtype=np.float32)
    parts: list[np.ndarray] = [np.zeros(round((LEAD_SECONDS + rng.uniform(0, 0.08)) * SAMPLE_RATE), np.float32)]
    pauses, at = [], len(parts[0])
    for number, piece in enumerate(pieces):
        piece = piece.copy()
        if number and len(piece) > len(fade):
            piece[: len(fade)] *= fade
        if number < len(pieces) - 1 and len(piece) > len(fade):
            piece[-len(fade) :] *= fade[::-1]
        parts.append(piece)
        at += len(piece)
        if number < len(pieces) - 1:
            gap = round(rng.uniform(SHORTEST_PAUSE, LONGEST_PAUSE) * SAMPLE_RATE)
            parts.append(np.zeros(gap, np.float32))
            pauses.append((at / SAMPLE_RATE, (at + gap) / SAMPLE_RATE))
            at += gap
    parts.append(np.zeros(round(TAIL_SECONDS * SAMPLE_RATE), np.float32))
    samples = np.concatenate(parts) * 10 ** (rng.uniform(-8, 2) / 20)
    room = rng.standard_normal(len(samples)) * 10 ** (ROOM_DBFS / 20)
    return Case(name, kind, making, text, (samples + room).astype(np.float32), at / SAMPLE_RATE, tuple(pauses))
