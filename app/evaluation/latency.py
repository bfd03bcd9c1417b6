"""`bench latency`: ten spoken questions in real time, through both manners, and a table of what it took.

The questions are MT-Bench's, spoken by voices that aren't the app's own (see `resources/bench`). The sound
enters and leaves as on devices, paced by the clock, with the loudspeaker's cushion counted in; what the
hardware's own buffers add is left out.
"""

from __future__ import annotations

import asyncio
import platform
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jiwer
import numpy as np

from app.audio.devices.loudspeaker import CUSHION_SECONDS
from app.audio.io.base import AudioSink, AudioSource
from app.conversation import events as e
from app.conversation.words import fold
from app.evaluation.spoken_questions import MakeSession, PacedAsker, PacedListener, Question, load_questions
from app.session.control import SessionChoice
from app.session.session import Session


@dataclass(slots=True)
class Measured:
    """Figures of one manner; seconds, but for `waits_ms` and `late_ms`."""

    first_sound: list[float] = field(default_factory=list)
    partial_lag: list[float] = field(default_factory=list)
    final_lag: list[float] = field(default_factory=list)
    first_word: list[float] = field(default_factory=list)
    waits_ms: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)
    revisions: list[int] = field(default_factory=list)
    word_errors: int = 0
    words: int = 0
    early_starts: int = 0
    underruns: int = 0
    unanswered: int = 0
    looks_skipped: int = 0
    failures: list[str] = field(default_factory=list)
    talks: list[dict[str, Any]] = field(default_factory=list)


class Follower:
    """Gathers the events of one question at a time."""

    def __init__(self, measured: Measured) -> None:
        self.events: list[e.Event] = []
        self.quiet = asyncio.Event()
        self._measured = measured
        self._asked: dict[int, float] = {}
        self._busy = False

    def take(self, event: e.Event) -> None:
        """One event of the session."""
        m = self._measured
        match event:
            case e.LevelMeasured():
                m.late_ms.append(event.late_ms)
                return
            case e.OracleFed():
                m.waits_ms.append(event.waited_ms)
            case e.OracleRequested():
                self._asked[event.revision] = event.at
            case e.OracleDelta() if event.revision in self._asked:
                m.first_word.append(event.at - self._asked.pop(event.revision))
            case e.TranscriptPartial():
                m.partial_lag.append(event.at - event.heard_until)
            case e.Underrun():
                m.underruns += event.count
            case e.RecognitionSkipped():
                m.looks_skipped += event.decodes
            case e.Failure():
                m.failures.append(event.sentence)
        self.events.append(event)

    def close(self, question: Question, began: float) -> None:
        """The question is answered: counts what it took. `began`: when its sound set in."""
        m, end = self._measured, began + question.end
        starts = [x.at for x in self.events if isinstance(x, e.AssistantStarted)]
        after = [at for at in starts if at >= end]
        m.early_starts += len(starts) - len(after[:1])
        if after:
            m.first_sound.append(after[0] + CUSHION_SECONDS - end)
        else:
            m.unanswered += 1
        finals = [x for x in self.events if isinstance(x, e.TranscriptFinal)]
        last = {x.turn: x for x in finals}
        if finals:
            m.final_lag.append(finals[-1].at - end)
        heard = " ".join(last[turn].text for turn in sorted(last))
        reference = fold(question.text)
        m.word_errors += word_distance(reference, fold(heard))
        m.words += len(reference)
        m.revisions.append(sum(isinstance(x, e.OracleRequested) for x in self.events))
        said = " ".join(x.text for x in self.events if isinstance(x, e.AssistantSaid))
        m.talks.append(
            {
                "question": question.name,
                "heard": heard,
                "said": said,
                "first_sound": round(after[0] + CUSHION_SECONDS - end, 3) if after else None,
            }
        )
        self.events = []


def word_distance(reference: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Substitutions, insertions and deletions between two word lists (Levenshtein)."""
    if not reference or not words:
        return len(reference) + len(words)
    found = jiwer.process_words(" ".join(reference), " ".join(words))
    return found.substitutions + found.insertions + found.deletions


@dataclass(frozen=True, slots=True)
class LatencyResult:
    """The figures of all manners."""

    questions: int
    manners: dict[str, Measured]

    def document(self) -> dict[str, Any]:
        """Everything, for `--json`."""
        return {
            "questions": self.questions,
            "machine": machine(),
            "manners": {
                name: {
                    **{row.key: row.figures(m) for row in ROWS},
                    "word_error_rate": round(m.word_errors / max(1, m.words), 4),
                    "early_starts": m.early_starts,
                    "underruns": m.underruns,
                    "unanswered": m.unanswered,
                    "looks_skipped": m.looks_skipped,
                    "failures": m.failures,
                    "talks": m.talks,
                }
                for name, m in self.manners.items()
            },
        }

    def table(self) -> str:
        """The figures as a table."""
        lines = [f"{self.questions} spoken questions in real time, {machine()}", ""]
        for name, m in self.manners.items():
            lines.append(f"{name:<34}{'median':>10}{'p90':>10}{'p95':>10}{'worst':>10}")
            for row in ROWS:
                f = row.figures(m)
                lines.append(
                    f"  {row.label:<32}"
                    + "".join(f"{f[k]:>10.{row.digits}f}" for k in ("median", "p90", "p95", "worst"))
                )
            lines.append(
                f"  word error rate {100 * m.word_errors / max(1, m.words):.1f} %, {m.underruns} underruns, "
                f"{m.early_starts} early starts taken back, {m.unanswered} unanswered, {m.looks_skipped} looks skipped"
            )
            lines += [f"  {sentence}" for sentence in dict.fromkeys(m.failures)]
            lines.append("")
        if {"after", "thinking"} <= self.manners.keys():
            slow, quick = (self.manners[n].first_sound for n in ("after", "thinking"))
            if slow and quick:
                ratio = statistics.median(slow) / max(0.001, statistics.median(quick))
                lines.append(f"`thinking` is heard {ratio:.1f} times sooner than `after`.")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    key: str
    label: str
    digits: int
    scale: float = 1.0

    def figures(self, m: Measured) -> dict[str, float]:
        """Median, p90, p95 and worst."""
        values = sorted(v * self.scale for v in getattr(m, self.key))
        if not values:
            return dict.fromkeys(("median", "p90", "p95", "worst"), float("nan"))
        at = {k: round(float(np.quantile(values, q)), 3) for k, q in (("median", 0.5), ("p90", 0.9), ("p95", 0.95))}
        return {**at, "worst": round(values[-1], 3)}


ROWS = (
    Row("first_sound", "end of question → first sound, ms", 0, 1000),
    Row("partial_lag", "partial lag, ms", 0, 1000),
    Row("final_lag", "final lag, ms", 0, 1000),
    Row("first_word", "request → first oracle word, ms", 0, 1000),
    Row("waits_ms", "delta → front-end, ms", 0),
    Row("late_ms", "frame loop's lateness, ms", 1),
    Row("revisions", "oracle revisions a turn", 0),
)


def machine() -> str:
    """The machine in words."""
    import os

    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


async def run_latency(
    make: MakeSession,
    choice: SessionChoice,
    count: int,
    progress: Callable[[str], None],
    manners_wanted: tuple[e.AnswerMode, ...] = ("after", "thinking"),
) -> LatencyResult:
    """Asks `count` questions in each manner. Raises what opening a session raises."""
    import dataclasses

    questions = load_questions(max(1, min(count, 10)))
    manners: dict[str, Measured] = {}
    for answer_mode in manners_wanted:
        measured = manners[answer_mode] = Measured()
        asker, listener = PacedAsker(), PacedListener()
        source: AudioSource = asker
        sink: AudioSink = listener
        talk = make(dataclasses.replace(choice, answer_mode=answer_mode), source, sink, end_with_input=False)
        follower = Follower(measured)
        async with talk:
            talk.add_listener(follower.take)
            await asyncio.sleep(1.0)
            for number, question in enumerate(questions, 1):
                progress(f"{answer_mode}: question {number} of {len(questions)}")
                asker.ask(question)
                began = asker.asked_at()
                await _until_answered(talk, began + question.end)
                follower.close(question, began)
    return LatencyResult(len(questions), manners)


async def _until_answered(talk: Session, end: float) -> None:
    """Waits until the question is over and the answer too, or nothing comes for 30 s."""
    quiet_since = None
    while talk.clock() < end + 0.3:
        await asyncio.sleep(0.05)
    begin = talk.clock()
    while talk.clock() - begin < 40:
        if talk.quiet:
            quiet_since = quiet_since or talk.clock()
            if talk.clock() - quiet_since > 1.0:
                return
        else:
            quiet_since = None
        await asyncio.sleep(0.05)
