"""Tries a trained model on questions that it was not trained on: what it says, when it begins, and whom it follows.

Each trial is one spoken question before a model in a fresh stream, with an oracle that comes after the question as a
back-end's would, with none, or with one that changes while the answer is being spoken. It is scored whether the value
that the oracle told is in the text and in the speech, and how soon the model began.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, Frame
from app.conversation.turn import Hold, TakeFloor
from app.diagnostics.tables import machine, markdown, quantile
from app.frontend.base import FrontEndInput, OracleAsked, OracleWords, SetDials
from app.frontend.kame.spoken_words import Vocabulary
from app.frontend.kame.stream import KameStream, StreamMemory
from app.frontend.kame.stream_engine import StreamEngine
from app.research.benches.recordings import normalised
from app.research.training.nano.dialogues import SpokenQuestion
from app.research.training.nano.facts import Fact

ALIKE = 0.75
"""How alike the letters of a name as it was read back and as it is spelt must be (a ratio of 0 to 1): recognisers don't
know how invented facts are spelt. It must also be more like the right name than like any other of its kind."""
_DRAWS = 400
"""Draws from a kind of fact that find about all values that it can have."""
_PRICE = re.compile(r"\$(\d+)(?:\.00)?")
_TIME = re.compile(r"\b(\d{1,2})[.:](\d\d)(?:\s?[ap](?:\.?m)?\b\.?)?", re.IGNORECASE)


@dataclass(slots=True)
class KindScore:
    """Results of one kind of trial. `spoken_right` is None where nothing was read back."""

    kind: Kind
    trials: int = 0
    text_right: int = 0
    spoken_right: int | None = None
    first_sounds: list[float] = field(default_factory=list)
    broke_in: int = 0
    silent: int = 0


@dataclass(slots=True)
class TrialScore:
    """Results of all kinds. `speaker`: who asked, for the report."""

    speaker: str
    kinds: list[KindScore] = field(default_factory=list)
    step_seconds: list[float] = field(default_factory=list)

    def table(self) -> str:
        """Returns the results as text."""
        head = ["oracle", "trials", "text right", "heard right", "first sound p50 / p90, s", "broke in", "silent"]
        rows = []
        for score in self.kinds:
            heard = "–" if score.spoken_right is None else f"{score.spoken_right / score.trials:.0%}"
            p50, p90 = (quantile(score.first_sounds, share, 2) for share in (0.5, 0.9))
            right = (f"{score.text_right / score.trials:.0%}", heard)
            rows.append((score.kind, score.trials, *right, f"{p50} / {p90}", score.broke_in, score.silent))
        p50, p99 = (quantile(self.step_seconds, share, 4) * 1e3 for share in (0.5, 0.99))
        times = f"A step took {p50:.1f} ms, p99 {p99:.1f} ms; {self.speaker}; {machine()}."
        return "\n".join([*markdown(head, rows), "", times])

    def document(self) -> dict[str, Any]:
        """Returns the results as JSON."""
        return {
            "kinds": {
                score.kind: {
                    "trials": score.trials,
                    "text_right": score.text_right,
                    "heard_right": score.spoken_right,
                    "first_sound_p50": quantile(score.first_sounds, 0.5),
                    "first_sound_p90": quantile(score.first_sounds, 0.9),
                    "broke_in": score.broke_in,
                    "silent": score.silent,
                }
                for score in self.kinds
            },
            "speaker": self.speaker,
            "step_p50": quantile(self.step_seconds, 0.5, 5),
            "step_p99": quantile(self.step_seconds, 0.99, 5),
        }


def score_trials(results: Sequence[TrialResult], read: Callable[[np.ndarray], str] | None) -> KindScore:
    """Scores trials of one kind. `read`: transcribes float32 24 kHz."""
    score = KindScore(results[0].kind, len(results), spoken_right=None if read is None else 0)
    for result in results:
        score.text_right += says(result.text, result.fact)
        if read is not None:
            assert score.spoken_right is not None
            score.spoken_right += says(read(result.samples), result.fact)
        if result.first_sound is None:
            score.silent += 1
        else:
            score.first_sounds.append(result.first_sound)
            score.broke_in += result.first_sound < 0
    return score


def says(text: str, fact: Fact) -> bool:
    """Whether a text says the fact's value: its digits exactly, words by their letters."""
    value, found = _folded(fact.value), _folded(text)
    if re.search(r"\d", value):
        return f" {value} " in f" {found} "
    return _nearest(found, value, fact)


def _nearest(found: str, value: str, fact: Fact) -> bool:
    """Whether the words of `found` that are most like the value are more like it than like any other of its kind."""
    own = _likeness(found, value)
    if own < ALIKE:
        return False
    return own == 1 or all(_likeness(found, other) <= own for other in _others(fact) if other != value)


def _likeness(found: str, value: str) -> float:
    words, size = found.split(), len(value.split())
    windows = [" ".join(words[place : place + size]) for place in range(max(1, len(words) - size + 1))]
    return max((SequenceMatcher(None, window, value, autojunk=False).ratio() for window in windows), default=0.0)


def _others(fact: Fact) -> set[str]:
    """The values that this kind of fact can have."""
    if fact.relation is None:
        return set()
    draw = random.Random(0)
    return {_folded(fact.relation.value(draw)) for _ in range(_DRAWS)}


def _folded(text: str) -> str:
    """Lower case without marks, numbers in digits, digits that follow each other as one number.

    Prices and times become the words that they are spoken as: recognisers write "$27", "11.30" and "3:20 p.m.".
    """
    text = _PRICE.sub(r"\1 dollars", text)
    text = _TIME.sub(r"\1 \2", text)
    words = normalised(text.replace("'s", "s"))
    out: list[str] = []
    for word in words:
        if word.isdigit() and out and out[-1].isdigit():
            out[-1] += word
        else:
            out.append(word)
    return " ".join(out)


Kind = Literal["with", "without", "changed"]
KINDS: tuple[Kind, ...] = ("with", "without", "changed")

BEFORE = 12
"""Frames of silence before the question."""
AFTER = 100
"""Frames after it."""
FLOOR = 6
"""Frames after it in which a session gives the floor."""
LOUD = 0.01
"""RMS of 10 ms above which the model sounds, about -40 dBFS."""
_HOP = 240
_CHANGE = 3
"""Frames after the answer's second word in which another revision comes."""


@dataclass(slots=True)
class TrialResult:
    """What happened. `first_sound`: seconds after the question's end, None for silence; negative: it broke in."""

    kind: Kind
    fact: Fact
    before: Fact | None = None
    text: str = ""
    samples: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    first_sound: float | None = None
    step_seconds: list[float] = field(default_factory=list)


class Trials:
    """Runs trials with one engine. `delay`: frames from a question's end in which the model is kept silent."""

    def __init__(self, engine: StreamEngine, pieces: Vocabulary, delay: int = 0) -> None:
        self._engine, self._pieces = engine, pieces
        self._dials = SetDials(delay)

    def run(self, questions: Sequence[tuple[SpokenQuestion, Fact]], kind: Kind, seed: int = 0) -> list[TrialResult]:
        """Asks each question; the fact is what the oracle says."""
        draw = random.Random(seed)
        results = []
        for question, fact in questions:
            self._engine.restart()
            memory = StreamMemory(self._engine)
            stream = KameStream(self._pieces, self._engine, memory, self._dials, hears_oracle=True)
            results.append(_Trial(stream, question, fact, kind, draw, held=self._dials.delay > 0).run())
        return results


def write_sounds(results: Sequence[TrialResult], folder: Path) -> None:
    """Writes what was said as sound files, and `answers.jsonl`: what was asked, told and said."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "answers.jsonl").open("a", encoding="utf-8") as lines:
        for number, result in enumerate(results):
            name = f"{result.kind}-{number:02d}.wav"
            soundfile.write(folder / name, result.samples, SAMPLE_RATE)
            told = "" if result.kind == "without" else result.fact.answer
            entry = {"file": name, "asked": result.fact.question, "told": told, "said": result.text.strip()}
            lines.write(json.dumps(entry, ensure_ascii=False) + "\n")


class _Trial:
    def __init__(
        self, stream: KameStream, question: SpokenQuestion, fact: Fact, kind: Kind, draw: random.Random, *, held: bool
    ) -> None:
        """`held`: it is kept silent until the question's end, as the stream is where its answers are delayed."""
        self._stream, self._question, self._held = stream, question, held
        self._fact, self._kind, self._draw = fact, kind, draw
        self._end = BEFORE * FRAME_SAMPLES + len(question.samples)
        self._delay = draw.uniform(0.2, 0.9)  # s from the question's end to the oracle's first word
        self._speed = draw.uniform(6, 25)  # words a second
        self._result = TrialResult(kind, fact)
        self._waiting: list[tuple[float, FrontEndInput]] = []  # what the back-end sends, by frame

    def run(self) -> TrialResult:
        """Runs the trial."""
        frames = -(-self._end // FRAME_SAMPLES) + AFTER
        heard = np.zeros(frames * FRAME_SAMPLES, np.float32)
        heard[BEFORE * FRAME_SAMPLES : self._end] = self._question.samples
        heard += np.random.default_rng(0).standard_normal(len(heard)).astype(np.float32) * 10 ** (-66 / 20)
        end_frame = self._end / FRAME_SAMPLES
        if self._kind != "without":
            guess = self._fact if self._fact.relation is None else self._fact.changed(self._draw)
            self._send(1, guess, end_frame - 6)  # from half of the question
            answer = self._fact
            if self._kind == "changed":
                answer = self._result.before = self._fact.changed(self._draw)
            self._send(2, answer, end_frame + self._delay / FRAME_SECONDS)
        sound = []
        changed = self._kind != "changed"
        floor = -(-self._end // FRAME_SAMPLES) + (0 if self._held else FLOOR)
        for number in range(frames):
            inputs = [item for at, item in self._waiting if at <= number]
            self._waiting = [(at, item) for at, item in self._waiting if at > number]
            if self._held and number == 0:
                inputs.append(Hold(0))
            if number == floor:
                inputs.append(TakeFloor(1))
            samples = heard[number * FRAME_SAMPLES : (number + 1) * FRAME_SAMPLES]
            began = time.perf_counter()
            step = self._stream.step(Frame(number, samples), inputs)
            self._result.step_seconds.append(time.perf_counter() - began)
            sound.append(step.samples)
            for said in step.said:
                self._result.text += ("" if said.glued else " ") + said.text
            if not changed and self._in_answer():
                changed = True
                self._send(3, self._fact, number + _CHANGE)
        self._result.samples = np.concatenate(sound)
        self._result.first_sound = _first_sound(self._result.samples, self._end)
        return self._result

    def _in_answer(self) -> bool:
        """Whether the first two words of the answer that is to change have been said."""
        assert self._result.before is not None
        start = self._result.before.answer.split()[:2]
        return " ".join(start) in self._result.text

    def _send(self, revision: int, fact: Fact, frame: float) -> None:
        self._waiting.append((frame - 3, OracleAsked(revision, 1, revision > 1)))
        for place, word in enumerate(fact.answer.split()):
            at = frame + place / self._speed / FRAME_SECONDS
            self._waiting.append((at, OracleWords(revision, 1, (" " if place else "") + word, at * FRAME_SECONDS)))
        self._waiting.sort(key=lambda item: item[0])


def _first_sound(samples: np.ndarray, end: int) -> float | None:
    """Seconds from sample `end`, when the question ends, to the first 10 ms that sound. Negative: before it.

    Sound in step n is played while frame n + 1 is heard.
    """
    loud = np.sqrt(np.mean(samples.reshape(-1, _HOP) ** 2, axis=1)) > LOUD
    if not loud.any():
        return None
    return float((np.argmax(loud) * _HOP + FRAME_SAMPLES - end) / SAMPLE_RATE)
