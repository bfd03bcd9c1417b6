"""`bench stalls`: a long conversation in real time, beside a busy process, in which the frame thread is held up.

A stall holds the frame thread up as a slow step or the system would. What it loses is silence to everybody, so the
bench checks that each question is heard but for what was lost, that no answer starts over the user, and that the
voice's delay is back to what it was 20 s after each stall.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Sequence
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
TOLERANCE_SECONDS = 0.1
WORDS_A_SECOND = 4.0
"""At most so many words are lost with a second of speech."""


BUSY = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    sum(range(10**6))
"""
"""A program that keeps a core busy until its input is closed."""


class StallingAsker(PacedAsker):
    """A scripted microphone whose reader is held up at some times, in seconds from the session's start."""

    def __init__(self, stalls: Sequence[tuple[float, float]]) -> None:
        super().__init__()
        self._stalls = list(stalls)
        self.made: list[tuple[float, float]] = []
        """Begins and lengths of the stalls so far, in seconds of `time.perf_counter`."""

    def read_frame(self, timeout: float) -> np.ndarray | None:
        now = time.perf_counter()
        if self._stalls and now - self._begin >= self._stalls[0][0]:
            _, seconds = self._stalls.pop(0)
            self.made.append((now, seconds))
            time.sleep(seconds)
        return super().read_frame(timeout)


class NotingListener(PacedListener):
    """A null loudspeaker that notes how much waits before each write."""

    def __init__(self) -> None:
        super().__init__()
        self.delays: list[tuple[float, float]] = []

    def write(self, samples: np.ndarray) -> None:
        if len(samples):
            self.delays.append((self._now(), self.queued / SAMPLE_RATE))
        super().write(samples)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: seconds of it that were lost, words heard wrong of all, and answers that began over the user."""

    name: str
    lost: float
    wrong: int
    words: int
    over_the_user: int
    answered: bool


@dataclass(slots=True)
class StallsResult:
    """The figures. `usual_delay`: of the voice, 95 % of the time without stalls; `delays`: the longest from 20 s after
    each stall to the next one, None if nothing was said.
    """

    minutes: float
    asked: list[Asked] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)
    usual_delay: float = 0.0
    delays: list[float | None] = field(default_factory=list)
    underruns: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def not_heard(self) -> list[Asked]:
        """Questions of which more words are wrong than were lost, beyond what is usual without stalls."""
        usual = max((one.wrong for one in self.asked if not one.lost), default=0)
        return [one for one in self.asked if one.wrong > usual + np.ceil(one.lost * WORDS_A_SECOND)]

    @property
    def late(self) -> list[float]:
        """The delays that were not back."""
        return [delay for delay in self.delays if delay is not None and delay > self.usual_delay + TOLERANCE_SECONDS]

    @property
    def ok(self) -> bool:
        """Whether all held."""
        answers = all(one.answered and not one.over_the_user for one in self.asked)
        return answers and not self.not_heard and not self.late

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
            f"stall it was at most, in seconds: {after or '–'}. The loudspeaker ran dry {self.underruns} times.",
            "Everything held."
            if self.ok
            else "NOT everything held: "
            + f"{len(self.not_heard)} questions not heard but for what was lost, {len(self.late)} delays not back.",
            *self.failures,
        ]
        title = f"{self.minutes:g} minutes with {len(self.stalls)} stalls"
        return report(title, "", markdown(head, rows), notes)

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {"bench": "stalls", "machine": machine(), "ok": self.ok, **rounded(asdict(self))}


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
    """Asks questions for so many minutes. Propagates errors from opening a session."""
    asker, listener = StallingAsker(plan_stalls(minutes, stalls, seed)), NotingListener()
    result, questions = StallsResult(minutes), load_questions()
    async with Conversation(make, choice, devices=(asker, DriftCompensatingSink(listener))) as talk:
        busy = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, **quiet_child())
        try:
            until, number = time.perf_counter() + minutes * 60, 0
            while time.perf_counter() < until:
                question = questions[number % len(questions)]
                number += 1
                progress(f"question {number}, {max(0.0, until - time.perf_counter()) / 60:.1f} minutes left")
                turn = await talk.ask(question)
                result.asked.append(_figures(question, turn))
                result.failures += turn.failures
        finally:
            end_child(busy)
    result.underruns = listener.underruns
    _measure_delays(result, asker.made, listener.delays)
    return result


def _figures(question: Recording, turn: Turn) -> Asked:
    """Returns how a question fared."""
    begin = turn.end - question.end
    lost = 0.0
    gaps: list[tuple[float, float]] = []
    for event in turn.events:
        if isinstance(event, e.FramesDropped | e.SoundLost):
            gap = event.at - (event.frames + 1) * FRAME_SECONDS, event.at - FRAME_SECONDS
            gaps.append(gap)
            lost += max(0.0, min(gap[1], turn.end) - max(gap[0], begin))
    reference = fold(question.text)
    wrong = word_distance(reference, fold(heard_in(turn.events)))
    # Within a gap nobody can know that the user goes on: an answer may begin in it, until the voice after it stops it.
    starts = [event.at for event in turn.of(e.AssistantStarted) if begin + 0.2 < event.at < turn.end]
    over = [at for at in starts if not any(first <= at <= last + 1.0 for first, last in gaps)]
    answered = turn.over and bool(turn.of(e.AssistantSaid))
    return Asked(question.name, round(lost, 2), wrong, len(reference), len(over), answered)


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
        result.delays.append(max(found, default=None))
