"""`bench latency` and `bench remote`: ten spoken questions in real time, with the timing of each stage.

`bench latency` asks them in both answer modes. `bench remote` asks them locally and through a voice server on this
machine, in a separate process as on another machine: the difference is the cost of the connection.

The questions are MT-Bench's, spoken by voices other than the app's (see `resources/bench`). Audio enters and leaves as
on devices, paced by the clock, including the loudspeaker's prebuffer but not the hardware's own buffers.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import statistics
import subprocess
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.audio.devices.loudspeaker import PREBUFFER_SECONDS
from app.audio.devices.paced import PacedAsker, PacedListener
from app.conversation import events as e
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, markdown, quantile, rounded
from app.platform.children import end_child, python_module_command, quiet_child
from app.research.benches.recordings import MakeSession, Question, load_questions, until_answered, word_distance
from app.session.control import SessionChoice
from app.session.errors import UserError

SETTLE_SECONDS, SERVER_SETTLE_SECONDS = 1.0, 1.5
"""Silence after an answer before the next question. A server's answer is known to be over a second later."""
START_SECONDS = 120.0


@dataclass(slots=True)
class Measured:
    """Figures of one answer mode or way; in seconds except `waits_ms` and `late_ms`."""

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
    """Collects the events of one question at a time.

    `by_request`: takes the recognised text from the back-end request.
    """

    def __init__(self, measured: Measured, *, by_request: bool = False) -> None:
        self.events: list[e.Event] = []
        self._measured, self._by_request = measured, by_request
        self._requested: dict[int, float] = {}

    def on_event(self, event: e.Event) -> None:
        """Records one event of the session."""
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
        """Records the figures of the question, whose audio began at `began`."""
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
        asked = [x.words for x in self.events if isinstance(x, e.OracleRequested)]
        heard = "".join(asked[-1:]) if self._by_request else " ".join(last[turn] for turn in sorted(last))
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
        """Returns the result for JSON."""
        return {
            "questions": self.questions,
            "machine": machine(),
            "answer_modes": {
                name: {
                    **asdict(m),
                    **{row.key: row.figures(m) for row in ROWS},
                    "word_error_rate": round(m.word_error_rate, 4),
                }
                for name, m in self.modes.items()
            },
        }

    def table(self) -> str:
        """Returns the result as a table."""
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
    """Asks `count` questions in each answer mode. Raises whatever opening a session raises."""
    questions = load_questions(max(1, min(count, 10)))
    modes: dict[str, Measured] = {}
    wanted: tuple[e.AnswerMode, ...] = ("after", "thinking")
    for mode in wanted:
        modes[mode] = await _ask(make, replace(choice, answer_mode=mode), questions, mode, progress)
    return LatencyResult(len(questions), modes)


async def _ask(
    make: MakeSession,
    choice: SessionChoice,
    questions: Sequence[Question],
    name: str,
    progress: Progress,
    *,
    by_request: bool = False,
    settle: float = SETTLE_SECONDS,
) -> Measured:
    """Asks all questions in one session. `name`: the mode or way, for `progress`."""
    measured, asker = Measured(), PacedAsker()
    follower = Follower(measured, by_request=by_request)
    talk = make(choice, asker, PacedListener(), end_with_input=False)
    async with talk:
        talk.add_listener(follower.on_event)
        await asyncio.sleep(1.0)
        for number, question in enumerate(questions, 1):
            progress(f"{name}: question {number} of {len(questions)}")
            began = asker.ask(question)
            await until_answered(talk, follower.events, began + question.end, settle)
            follower.close(question, began)
    return measured


@dataclass(frozen=True, slots=True)
class RemoteResult:
    """The figures of both ways."""

    here: Measured
    there: Measured

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        head = ("", "questions", "first sound p50, s", "worst", "words heard wrong", "of", "no answer")
        rows = [
            (
                name,
                len(way.first_sound) + way.unanswered,
                *(f"{quantile(way.first_sound, share):.2f}" for share in (0.5, 1.0)),
                *(way.word_errors, way.words, way.unanswered),
            )
            for name, way in (("here", self.here), ("by a server", self.there))
        ]
        return "\n".join([f"Spoken questions in real time, {machine()}", "", *markdown(head, rows)])

    def document(self) -> dict[str, Any]:
        """Returns the result for JSON."""
        ways = [
            {
                "name": name,
                "first_sound_p50": quantile(way.first_sound, 0.5),
                "first_sound": way.first_sound,
                "wrong": way.word_errors,
                "words": way.words,
                "unanswered": way.unanswered,
            }
            for name, way in (("here", self.here), ("server", self.there))
        ]
        return {"bench": "remote", "machine": machine(), "ways": rounded(ways)}


async def run_remote(make: MakeSession, choice: SessionChoice, count: int, progress: Progress) -> RemoteResult:
    """Asks `count` questions in each way. Raises UserError, and whatever opening a session raises."""
    questions = load_questions(max(1, count))
    how: dict[str, Any] = {"by_request": True, "settle": SERVER_SETTLE_SECONDS}
    here = await _ask(make, choice, questions, "here", progress, **how)
    async with _server(choice) as url:
        remote = replace(choice, frontend="remote", server=url)
        there = await _ask(make, remote, questions, "by a server", progress, **how)
    return RemoteResult(here, there)


@contextlib.asynccontextmanager
async def _server(choice: SessionChoice) -> AsyncIterator[str]:
    """Runs `serve` with the same back-end inside the block and yields its address."""
    backend = choice.backend
    options = ["--backend", backend.provider, "--model", backend.model, "--base-url", backend.base_url]
    command = python_module_command("app", "serve", "--port", "0", "--no-openings", *options)
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
    )
    assert child.stdout is not None
    try:
        try:
            async with asyncio.timeout(START_SECONDS):
                line = (await asyncio.to_thread(child.stdout.readline)).decode("utf-8", "replace")
        except TimeoutError:
            line = ""
        found = re.search(r"Serving at (ws://\S+?)\.\s", line)
        if found is None:
            raise UserError("The voice server did not start. Try “kame-desktop serve” by itself: it says why.")
        yield found[1]
    finally:
        child.terminate()
        await asyncio.to_thread(end_child, child, 10.0)
        child.stdout.close()
