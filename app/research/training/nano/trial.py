"""Evaluates a trained model on held-out questions: what it says, when it starts, and which revision it follows.

Each trial plays one spoken question to a model in a fresh stream, with an oracle that arrives after the question like a
back-end's, with none, or with one that changes during the answer. The scores are whether the oracle's value occurs in
the text and in the speech, and how soon the model started.
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
from app.conversation.speaking.revisions import OracleAsked, OracleWords
from app.conversation.turns.floor import Hold, TakeFloor
from app.diagnostics.tables import machine, markdown, quantile
from app.frontend.base import FrontEndInput, SetDials
from app.frontend.kame.spoken_words import Pieces
from app.frontend.kame.stream import KameStream, StreamMemory
from app.frontend.kame.stream_engine import StreamEngine
from app.research.benches.recordings import normalised
from app.research.results import known
from app.research.training.nano.dialogues import SpokenQuestion
from app.research.training.nano.facts import Fact

ALIKE = 0.75
"""Minimum similarity (0 to 1) between a recognised name and its spelling, since recognisers can't know how invented
facts are spelt. No other value of the kind may be more similar."""
_DRAWS = 400
"""Draws from a kind of fact that yield nearly all of its values."""
_PRICE = re.compile(r"\$(\d+)(?:\.00)?")
_TIME = re.compile(r"\b(\d{1,2})[.:](\d\d)(?:\s?[ap](?:\.?m)?\b\.?)?", re.IGNORECASE)


@dataclass(slots=True)
class KindScore:
    """Results of one kind of trial. `spoken_right` is None if nothing was read back."""

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
        """Returns the results as a JSON-serialisable dict."""
        kinds: dict[str, dict[str, Any]] = {
            score.kind: {
                **{"trials": score.trials, "text_right": score.text_right, "heard_right": score.spoken_right},
                **{f"first_sound_p{share}": quantile(score.first_sounds, share / 100) for share in (50, 90)},
                **{"broke_in": score.broke_in, "silent": score.silent},
            }
            for score in self.kinds
        }
        steps = {f"step_p{share}": quantile(self.step_seconds, share / 100, 5) for share in (50, 99)}
        return {"kinds": kinds, "speaker": self.speaker, **steps}


def score_trials(results: Sequence[TrialResult], read: Callable[[np.ndarray], str] | None) -> KindScore:
    """Scores trials of one kind. `read`: transcribes float32 audio at 24 kHz."""
    sounds = known(result.first_sound for result in results)
    return KindScore(
        results[0].kind,
        len(results),
        text_right=sum(says(result.text, result.fact) for result in results),
        spoken_right=None if read is None else sum(says(read(one.samples), one.fact) for one in results),
        first_sounds=sounds,
        broke_in=sum(at < 0 for at in sounds),
        silent=len(results) - len(sounds),
    )


def says(text: str, fact: Fact) -> bool:
    """Whether a text contains the fact's value: numbers exactly, words by similarity."""
    value, found = _folded(fact.value), _folded(text)
    if re.search(r"\d", value):
        return f" {value} " in f" {found} "
    own = _likeness(found, value)
    return own == 1 or (own >= ALIKE and all(_likeness(found, other) <= own for other in _others(fact)))


def _likeness(found: str, value: str) -> float:
    words, size = found.split(), len(value.split())
    windows = [" ".join(words[place : place + size]) for place in range(max(1, len(words) - size + 1))]
    return max((SequenceMatcher(None, window, value, autojunk=False).ratio() for window in windows), default=0.0)


def _others(fact: Fact) -> set[str]:
    """Returns the values that this kind of fact can have."""
    if fact.relation is None:
        return set()
    draw = random.Random(0)
    return {_folded(fact.relation.value(draw)) for _ in range(_DRAWS)}


def _folded(text: str) -> str:
    """Returns lower case without punctuation, with numbers as digits, and adjacent digits joined into one number.

    Prices and times are converted to spoken form, since recognisers write "$27", "11.30" and "3:20 p.m.".
    """
    text = _PRICE.sub(r"\1 dollars", text)
    text = _TIME.sub(r"\1 \2", text)
    return re.sub(r"(?<=\d) (?=\d+\b)", "", " ".join(normalised(text.replace("'s", "s"))))


Kind = Literal["with", "without", "changed"]
KINDS: tuple[Kind, ...] = ("with", "without", "changed")

BEFORE = 12
"""Frames of silence before the question."""
AFTER = 100
"""Frames after the question."""
FLOOR = 6
"""Frames after the question at which a session gives the floor."""
LOUD = 0.01
"""RMS over 10 ms above which the model counts as speaking, about -40 dBFS."""
_HOP = 240
_CHANGE = 3
"""Frames between the answer's second word and the arrival of another revision."""


@dataclass(slots=True)
class TrialResult:
    """The result of a trial.

    `first_sound`: seconds after the question's end, negative if it interrupted, None if it stayed silent.
    """

    kind: Kind
    fact: Fact
    before: Fact | None = None
    text: str = ""
    samples: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    first_sound: float | None = None
    step_seconds: list[float] = field(default_factory=list)


def run_trials(
    engine: StreamEngine,
    pieces: Pieces,
    questions: Sequence[tuple[SpokenQuestion, Fact]],
    kind: Kind,
    *,
    seed: int = 0,
    delay: int = 0,
) -> list[TrialResult]:
    """Asks each question, with the paired fact as the oracle's answer.

    `delay`: frames after a question's end in which the model is kept silent.
    """
    draw = random.Random(seed)
    results = []
    for question, fact in questions:
        engine.restart()
        stream = KameStream(pieces, engine, StreamMemory(engine), SetDials(delay), hears_oracle=True)
        results.append(_Trial(stream, question, fact, kind, draw, held=delay > 0).run())
    return results


def write_sounds(results: Sequence[TrialResult], folder: Path) -> None:
    """Writes the spoken answers as sound files, and `answers.jsonl` with question, oracle and answer."""
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
        """`held`: the model is kept silent until the question's end, as in a session that delays its answers."""
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
        lead = BEFORE * FRAME_SAMPLES
        heard = np.pad(self._question.samples, (lead, frames * FRAME_SAMPLES - self._end))
        heard += np.random.default_rng(0).standard_normal(len(heard)).astype(np.float32) * 10 ** (-66 / 20)
        end_frame = self._end / FRAME_SAMPLES
        if self._kind != "without":
            guess = self._fact if self._fact.relation is None else self._fact.changed(self._draw)
            self._send(1, guess, end_frame - 6)  # based on half of the question
            answer = self._fact
            if self._kind == "changed":
                answer = self._result.before = self._fact.changed(self._draw)
            self._send(2, answer, end_frame + self._delay / FRAME_SECONDS)
        sound = []
        changed = self._kind != "changed"
        self._waiting.append((frames - AFTER + (0 if self._held else FLOOR), TakeFloor(1)))
        self._waiting += [(0, Hold(0))] * self._held
        for number, samples in enumerate(heard.reshape(-1, FRAME_SAMPLES)):
            inputs = [item for at, item in self._waiting if at <= number]
            self._waiting = [(at, item) for at, item in self._waiting if at > number]
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
        """Whether the first two words of the answer to be replaced have been spoken."""
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
    """Returns the seconds from sample `end`, where the question ends, to the first audible 10 ms. Negative: before it.

    The sound of step n is played during frame n + 1.
    """
    loud = np.sqrt(np.mean(samples.reshape(-1, _HOP) ** 2, axis=1)) > LOUD
    if not loud.any():
        return None
    return float((np.argmax(loud) * _HOP + FRAME_SAMPLES - end) / SAMPLE_RATE)
