"""Tries a trained model on questions that it was not trained on: what it says, when it begins, and whom it follows.

Each trial is one spoken question before a model in a fresh stream, with an oracle that comes after the question as a
back-end's would, with none, or with one that changes while the answer is being spoken.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import soundfile

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, Frame
from app.conversation.turn import Hold, TakeFloor
from app.frontend.base import FrontEndInput, OracleAsked, OracleWords, SetDials
from app.frontend.kame.inner_text import Vocabulary
from app.frontend.kame.stream import KameStream
from app.frontend.kame.stream_engine import StreamEngine
from app.frontend.kame.stream_memory import StreamMemory
from app.research.training.nano.dialogues import SpokenQuestion
from app.research.training.nano.facts import Fact

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
