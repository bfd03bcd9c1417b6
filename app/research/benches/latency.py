"""`bench latency`: ten spoken questions in real time, in both answer modes, and how long everything took.

The questions are MT-Bench's, spoken by voices that aren't the app's own (see `resources/bench`). The sound enters and
leaves as on devices, paced by the clock, with the loudspeaker's prebuffer included; what the hardware's own buffers add
is left out.
"""

from __future__ import annotations

import asyncio
import dataclasses
import statistics
from dataclasses import dataclass, field
from typing import Any

from app.audio.devices.loudspeaker import PREBUFFER_SECONDS
from app.audio.devices.paced import PacedAsker, PacedListener
from app.conversation import events as e
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, quantile
from app.research.benches.reader import word_distance
from app.research.benches.recordings import MakeSession, Question, load_questions, until_answered
from app.session.control import SessionChoice

SETTLE_SECONDS = 1.0
"""Silence after an answer before the next question."""


@dataclass(slots=True)
class Measured:
    """Figures of one answer mode; in seconds except `waits_ms` and `late_ms`."""

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
    decodes_skipped: int = 0
    failures: list[str] = field(default_factory=list)
    talks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def word_error_rate(self) -> float:
        return self.word_errors / max(1, self.words)


class Follower:
    """Collects the events of one question at a time."""

    def __init__(self, measured: Measured) -> None:
        self.events: list[e.Event] = []
        self._measured = measured
        self._requested: dict[int, float] = {}

    def on_event(self, event: e.Event) -> None:
        """Counts one event of the session."""
        m = self._measured
        match event:
            case e.LevelMeasured():
                m.late_ms.append(event.late_ms)
                return
            case e.OracleFed():
                m.waits_ms.append(event.waited_ms)
            case e.OracleRequested():
                self._requested[event.revision] = event.at
            case e.OracleDelta() if event.revision in self._requested:
                m.first_word.append(event.at - self._requested.pop(event.revision))
            case e.TranscriptPartial():
                m.partial_lag.append(event.at - event.heard_until)
            case e.Underrun():
                m.underruns += event.count
            case e.RecognitionSkipped():
                m.decodes_skipped += event.decodes
            case e.Failure():
                m.failures.append(event.sentence)
        self.events.append(event)

    def close(self, question: Question, began: float) -> None:
        """Counts what the question, whose sound began at `began`, took."""
        m, end = self._measured, began + question.end
        starts = [x.at for x in self.events if isinstance(x, e.AssistantStarted)]
        after = [at for at in starts if at >= end]
        m.early_starts += len(starts) - len(after[:1])
        first_sound = after[0] + PREBUFFER_SECONDS - end if after else None
        if first_sound is not None:
            m.first_sound.append(first_sound)
        else:
            m.unanswered += 1
        finals = [x for x in self.events if isinstance(x, e.TranscriptFinal)]
        if finals:
            m.final_lag.append(finals[-1].at - end)
        last = {x.turn: x.text for x in finals}
        heard = " ".join(last[turn] for turn in sorted(last))
        reference = fold(question.text)
        m.word_errors += word_distance(reference, fold(heard))
        m.words += len(reference)
        m.revisions.append(sum(isinstance(x, e.OracleRequested) for x in self.events))
        m.talks.append(
            {
                "question": question.name,
                "heard": heard,
                "said": " ".join(x.text for x in self.events if isinstance(x, e.AssistantSaid)),
                "first_sound": None if first_sound is None else round(first_sound, 3),
            }
        )
        self.events = []


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    key: str
    label: str
    digits: int
    scale: float = 1.0

    def figures(self, m: Measured) -> dict[str, float]:
        """Median, p90, p95 and worst."""
        values = [v * self.scale for v in getattr(m, self.key)]
        shares = (("median", 0.5), ("p90", 0.9), ("p95", 0.95), ("worst", 1.0))
        return {name: quantile(values, share) for name, share in shares}


ROWS = (
    Row("first_sound", "end of question → first sound, ms", 0, 1000),
    Row("partial_lag", "partial lag, ms", 0, 1000),
    Row("final_lag", "final lag, ms", 0, 1000),
    Row("first_word", "request → first oracle word, ms", 0, 1000),
    Row("waits_ms", "delta → front-end, ms", 0),
    Row("late_ms", "frame loop's lateness, ms", 1),
    Row("revisions", "oracle revisions a turn", 0),
)


@dataclass(frozen=True, slots=True)
class LatencyResult:
    """The figures of all answer modes."""

    questions: int
    modes: dict[str, Measured]

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "questions": self.questions,
            "machine": machine(),
            "answer_modes": {
                name: {
                    **dataclasses.asdict(m),
                    **{row.key: row.figures(m) for row in ROWS},
                    "word_error_rate": round(m.word_error_rate, 4),
                }
                for name, m in self.modes.items()
            },
        }

    def table(self) -> str:
        """The result as a table."""
        lines = [f"{self.questions} spoken questions in real time, {machine()}", ""]
        for name, m in self.modes.items():
            lines.append(f"{name:<34}{'median':>10}{'p90':>10}{'p95':>10}{'worst':>10}")
            for row in ROWS:
                cells = (f"{value:>10.{row.digits}f}" for value in row.figures(m).values())
                lines.append(f"  {row.label:<32}{''.join(cells)}")
            lines.append(
                f"  word error rate {100 * m.word_error_rate:.1f} %, {m.underruns} underruns, "
                f"{m.early_starts} early starts taken back, {m.unanswered} unanswered, "
                f"{m.decodes_skipped} decodes skipped"
            )
            lines += [f"  {sentence}" for sentence in dict.fromkeys(m.failures)]
            lines.append("")
        if {"after", "thinking"} <= self.modes.keys():
            slow, quick = (self.modes[n].first_sound for n in ("after", "thinking"))
            if slow and quick:
                ratio = statistics.median(slow) / max(0.001, statistics.median(quick))
                lines.append(f"`thinking` is heard {ratio:.1f} times sooner than `after`.")
        return "\n".join(lines)


async def run_latency(
    make: MakeSession,
    choice: SessionChoice,
    count: int,
    progress: Progress,
) -> LatencyResult:
    """Asks `count` questions in each answer mode. Raises what opening a session raises."""
    questions = load_questions(max(1, min(count, 10)))
    modes: dict[str, Measured] = {}
    wanted: tuple[e.AnswerMode, ...] = ("after", "thinking")
    for answer_mode in wanted:
        measured = modes[answer_mode] = Measured()
        asker = PacedAsker()
        talk = make(dataclasses.replace(choice, answer_mode=answer_mode), asker, PacedListener(), end_with_input=False)
        follower = Follower(measured)
        async with talk:
            talk.add_listener(follower.on_event)
            await asyncio.sleep(1.0)
            for number, question in enumerate(questions, 1):
                progress(f"{answer_mode}: question {number} of {len(questions)}")
                began = asker.ask(question)
                await until_answered(talk, follower.events, began + question.end, SETTLE_SECONDS)
                follower.close(question, began)
    return LatencyResult(len(questions), modes)
