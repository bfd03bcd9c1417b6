"""`bench stalls`: a long conversation in real time, beside a busy process, in which the frame thread is held up.

A stall holds the frame thread up as a slow step or the system would. What it loses is silence to everybody, so the
bench checks that each question is heard but for what was lost, that no answer starts over the user, and that the
voice's delay is back to what it was 20 s after each stall. A stall comes only once the voice has been measured after
the one before, so the conversation lasts longer than it was asked to if it must.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from app.audio.devices.drift import DriftCompensatingSink
from app.audio.devices.paced import PacedAsker, PacedListener
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, markdown, quantile, rounded
from app.platform.children import end_child, quiet_child
from app.research.benches.recordings import (
    VOICE_FLOOR,
    Conversation,
    MakeSession,
    Recording,
    Turn,
    heard_in,
    load_questions,
    word_distance,
)
from app.research.results import report, shown
from app.session.control import SessionChoice

SHORTEST, LONGEST = 0.2, 6.0
BACK_SECONDS = 20.0
"""Within this time after a stall the voice's delay must be back."""
MEASURED_WRITES = 12
"""The voice's delay after a stall is known from so many writes (1 s)."""
MOST_EXTRA_SECONDS = 60.0
"""How much longer than asked the conversation may last for each stall."""
TOLERANCE_SECONDS = 0.1
MISHEARD = 0.15
"""Share of a question's words that may be wrong without any loss."""
WORDS_A_SECOND = 4.0
"""At most so many words are lost with a second of speech."""
CUT_WORDS = 2
"""Words that a gap may cut, one at each edge."""
SPEAKS_SECONDS = 0.24
"""Somebody who has been heard for this long is speaking, and an answer must not begin."""
HOP = SAMPLE_RATE // 50
HELD_UP_SECONDS = 0.2
"""A frame that is read so late without a planned stall was held up by the machine."""


BUSY = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    sum(range(10**6))
"""
"""A program that keeps a core busy until its input is closed."""


class StallingAsker(PacedAsker):
    """A scripted microphone whose reader is held up at some times, in seconds from the session's start.

    `measured`: whether the voice's delay is known after a stall that ended at a time of `time.perf_counter`. The next
    stall waits for that.
    """

    def __init__(self, stalls: Sequence[tuple[float, float]], measured: Callable[[float], bool]) -> None:
        super().__init__()
        self._stalls = list(stalls)
        self._measured = measured
        self._read_at = float("inf")
        self.made: list[tuple[float, float]] = []
        """Begins and lengths of the stalls so far, in seconds of `time.perf_counter`."""
        self.held_up: list[float] = []
        """How long frames were held up by something else, in seconds."""

    @property
    def done(self) -> bool:
        """Whether all stalls were made, and the voice's delay is known after the last one."""
        return not self._stalls and self._settled

    @property
    def _settled(self) -> bool:
        return not self.made or self._measured(sum(self.made[-1]))

    def read_frame(self, timeout: float) -> np.ndarray | None:
        now = time.perf_counter()
        if now - self._read_at > HELD_UP_SECONDS:
            self.held_up.append(now - self._read_at)
        if self._stalls and now - self._begin >= self._stalls[0][0] and self._settled:
            _, seconds = self._stalls.pop(0)
            self.made.append((now, seconds))
            time.sleep(seconds)
        samples = super().read_frame(timeout)
        self._read_at = time.perf_counter()
        return samples


class NotingListener(PacedListener):
    """A null loudspeaker that notes how much waits before each write."""

    def __init__(self) -> None:
        super().__init__()
        self.delays: list[tuple[float, float]] = []

    def write(self, samples: np.ndarray) -> None:
        if len(samples):
            self.delays.append((self._now(), self.queued / SAMPLE_RATE))
        super().write(samples)

    def measured(self, stall_end: float) -> bool:
        """Whether the delay is known later than `BACK_SECONDS` after a stall."""
        return sum(at >= stall_end + BACK_SECONDS for at, _ in self.delays[-1000:]) >= MEASURED_WRITES


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: seconds of it that were lost in how many gaps, words heard wrong of all, and answers that began over
    the user.
    """

    name: str
    lost: float
    gaps: int
    wrong: int
    words: int
    over_the_user: int
    answered: bool

    @property
    def heard(self) -> bool:
        """Whether it was heard but for what was lost."""
        return self.wrong <= math.ceil(MISHEARD * self.words) + math.ceil(
            self.lost * WORDS_A_SECOND + CUT_WORDS * self.gaps
        )


@dataclass(slots=True)
class StallsResult:
    """The figures.

    - `minutes`: how long the conversation was.
    - `planned`: how many stalls there should have been.
    - `usual_delay`: of the voice, not exceeded in 95 % of the time without stalls.
    - `delays`: the same from 20 s after each stall to the next one, None if too little was said.
    - `held_up`: how long frames were held up by something other than the stalls, in seconds.
    """

    minutes: float
    planned: int = 0
    asked: list[Asked] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)
    usual_delay: float = 0.0
    delays: list[float | None] = field(default_factory=list)
    underruns: int = 0
    held_up: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def not_heard(self) -> list[Asked]:
        """Questions with more wrong words than the loss explains."""
        return [one for one in self.asked if not one.heard]

    @property
    def late(self) -> list[float]:
        """The delays that were not back."""
        return [delay for delay in self.delays if delay is not None and delay > self.usual_delay + TOLERANCE_SECONDS]

    @property
    def unknown(self) -> int:
        """How many stalls were not made, or have no known delay after them."""
        return self.planned - len(self.delays) + self.delays.count(None)

    @property
    def faults(self) -> list[str]:
        """What did not hold, as phrases."""
        found = (
            (len(self.not_heard), "questions not heard but for what was lost"),
            (sum(one.over_the_user for one in self.asked), "answers over the user"),
            (sum(not one.answered for one in self.asked), "questions unanswered"),
            (len(self.late), "delays not back"),
            (self.unknown, "stalls without a known delay after them"),
        )
        return [f"{count} {what}" for count, what in found if count]

    @property
    def ok(self) -> bool:
        """Whether all held, and there was something to judge."""
        return bool(self.asked) and not self.faults

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        rows: list[tuple[object, ...]] = []
        for name, some in (
            ("nothing lost", [one for one in self.asked if not one.lost]),
            ("something lost", [one for one in self.asked if one.lost]),
        ):
            lost, wrong, words = (sum(getattr(one, what) for one in some) for what in ("lost", "wrong", "words"))
            over, silent = sum(one.over_the_user for one in some), sum(not one.answered for one in some)
            rows.append((name, len(some), shown(lost, 1), wrong, words, over, silent))
        head = ("questions with", "number", "lost, s", "words heard wrong", "of", "answers over the user", "unanswered")
        after = ", ".join(f"{seconds:.1f} s: {shown(at)}" for seconds, at in zip(self.stalls, self.delays, strict=True))
        notes = [
            f"The voice's delay is usually up to {self.usual_delay:.2f} s. Later than {BACK_SECONDS:.0f} s after each "
            f"stall it was, in seconds: {after or '–'}. The loudspeaker ran dry {self.underruns} times.",
            "Everything held." if self.ok else f"NOT everything held: {', '.join(self.faults) or 'nothing was asked'}.",
            *(f"Not heard: {one.name}, {one.lost:.1f} s lost, {one.wrong} words wrong." for one in self.not_heard),
            *self._load(),
            *self.failures,
        ]
        title = f"{self.minutes:.1f} minutes with {len(self.stalls)} stalls"
        return report(title, "", markdown(head, rows), notes)

    def _load(self) -> list[str]:
        """Returns what the machine did by itself, if it did anything."""
        if not self.held_up:
            return []
        return [
            f"The machine itself held the app up {len(self.held_up)} times, for up to {max(self.held_up):.1f} s: other "
            "programs were busy. If something did not hold, close them and run the bench again."
        ]

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {"bench": "stalls", "machine": machine(), "ok": self.ok, "faults": self.faults, **rounded(asdict(self))}


def plan_stalls(minutes: float, number: int, seed: int) -> list[tuple[float, float]]:
    """Returns begins and lengths in seconds: of all lengths, one in each stretch of the conversation."""
    rng = random.Random(seed)
    lengths = [float(x) for x in np.geomspace(SHORTEST, LONGEST, number)] if number else []
    rng.shuffle(lengths)
    stretch = (minutes * 60 - 15) / max(1, number)
    return [(10 + (n + rng.random() * 0.5) * stretch, length) for n, length in enumerate(lengths)]


async def run_stalls(
    make: MakeSession, choice: SessionChoice, minutes: float, stalls: int, seed: int, progress: Progress
) -> StallsResult:
    """Asks questions for so many minutes, or longer if the stalls need it. Propagates errors from opening a session."""
    listener = NotingListener()
    asker = StallingAsker(plan_stalls(minutes, stalls, seed), listener.measured)
    result, questions = StallsResult(minutes, stalls), load_questions()
    async with Conversation(make, choice, devices=(asker, DriftCompensatingSink(listener))) as talk:
        busy = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, **quiet_child())
        try:
            begin, number = time.perf_counter(), 0
            until, latest = begin + minutes * 60, begin + minutes * 60 + stalls * MOST_EXTRA_SECONDS
            while (now := time.perf_counter()) < until or (not asker.done and now < latest):
                question = questions[number % len(questions)]
                number += 1
                progress(f"question {number}, {max(0.0, until - now) / 60:.1f} minutes left")
                turn = await talk.ask(question)
                result.asked.append(_figures(question, turn))
                result.failures += turn.failures
        finally:
            end_child(busy)
        result.minutes = (time.perf_counter() - begin) / 60
    result.underruns, result.held_up = listener.underruns, asker.held_up
    _measure_delays(result, asker.made, listener.delays)
    return result


def _figures(question: Recording, turn: Turn) -> Asked:
    """Returns how a question fared."""
    begin = turn.end - question.end
    gaps: list[tuple[float, float]] = []
    for event in turn.events:
        if isinstance(event, e.FramesDropped | e.SoundLost):
            first, last = event.at - (event.frames + 1) * FRAME_SECONDS, event.at - FRAME_SECONDS
            gaps.append((max(first, begin), min(last, turn.end)))
    gaps = [(first, last) for first, last in gaps if first < last]
    lost = sum(last - first for first, last in gaps)
    reference = fold(question.text)
    heard = fold(heard_in(turn.events))
    wrong = word_distance(reference, heard)
    starts = [event.at for event in turn.of(e.AssistantStarted) if begin < event.at < turn.end]
    over = sum(_speaks(question, at - begin, [(first - begin, last - begin) for first, last in gaps]) for at in starts)
    # Where so much was lost that no word was understood, there is nothing to answer.
    answered = (turn.over and bool(turn.of(e.AssistantSaid))) or (bool(gaps) and not heard)
    return Asked(question.name, round(lost, 2), len(gaps), wrong, len(reference), over, answered)


def _speaks(question: Recording, at: float, gaps: Sequence[tuple[float, float]]) -> bool:
    """Returns whether the voice has been heard for `SPEAKS_SECONDS` up to `at`, in seconds of the recording.

    In a pause, or right after a gap, nobody can know that the user goes on: an answer may begin, until the voice stops
    it.
    """
    since = at - SPEAKS_SECONDS
    if since < 0 or any(first < at and last > since for first, last in gaps):
        return False
    samples = question.samples[round(since * SAMPLE_RATE) : round(at * SAMPLE_RATE)]
    hops = samples[: len(samples) // HOP * HOP].reshape(-1, HOP)
    return bool(np.mean(np.abs(hops).max(axis=1) > VOICE_FLOOR) > 0.8)


def _measure_delays(
    result: StallsResult, stalls: Sequence[tuple[float, float]], delays: Sequence[tuple[float, float]]
) -> None:
    """Fills in the voice's delays."""
    ends = [begin + seconds for begin, seconds in stalls]
    around = [(begin - 1.0, end + BACK_SECONDS) for (begin, _), end in zip(stalls, ends, strict=True)]
    near = [delay for at, delay in delays if not any(first <= at <= last for first, last in around)]
    result.usual_delay = quantile(near, 0.95) if near else 0.0
    result.stalls = [seconds for _, seconds in stalls]
    nexts = [*(begin for begin, _ in stalls[1:]), float("inf")]
    for end, following in zip(ends, nexts, strict=True):
        found = [delay for at, delay in delays if end + BACK_SECONDS <= at < following]
        result.delays.append(quantile(found, 0.95) if len(found) >= MEASURED_WRITES else None)
