"""`bench latency`, `bench speeds` and `bench remote`: spoken questions, with the latency of each stage.

`bench latency` asks ten in both answer modes. `bench speeds` asks short ones as well, in simulated time, with language
models of different speeds, and shows what is gained by thinking along. `bench remote` asks them locally and through a
voice server on this machine, in a separate process as if it were on another machine; the difference is the cost of the
connection.

The questions are MT-Bench's, spoken by voices other than the app's (see `resources/bench`). Audio input and output are
paced by the clock as on real devices, and include the loudspeaker's prebuffer but not the hardware's buffers.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from app.backend.base import Backend
from app.conversation import events as e
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, markdown, quantile, rounded
from app.models.catalogue import DEFAULTS
from app.models.selection import Speed
from app.platform.children import end_child, python_module_command, quiet_child
from app.research.benches.answers import load_facts
from app.research.benches.recordings import (
    SETTLE_SECONDS,
    Conversation,
    MakeSession,
    Recording,
    Turn,
    heard_in,
    load_questions,
    word_distance,
)
from app.research.benches.timed_parts import CLIP_SECONDS, HEARING_COSTS, SimulatedParts
from app.research.results import draw, report, shown
from app.session.clock import run_simulated
from app.session.control import BackendChoice, SessionChoice, UserError

SERVER_SETTLE_SECONDS = 1.5
"""Silence after a server's answer, whose end is only known a second later."""
START_SECONDS = 120.0
TALK_QUESTIONS = 6
"""Questions in a conversation of `bench speeds`: in a long one, the small model repeats its answers."""
SERVED = (
    f"In simulated time, {HEARING_COSTS}, and the first part of a clip {CLIP_SECONDS} s. The language model answers "
    "several requests in parallel, as a server does."
)


@dataclass(slots=True)
class Measured:
    """Figures of one answer mode or place (local, server); times are in seconds except `waits_ms` and `late_ms`."""

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

    def add(self, question: Recording, turn: Turn, *, by_request: bool) -> None:
        """Adds the figures of one question. `by_request`: takes the recognised text from the back-end request."""
        after = [at for at in turn.starts if at >= 0.0]
        first_sound = next(iter(after), None)
        self.first_sound += after[:1]
        self.unanswered += first_sound is None
        self.early_starts += len(turn.starts) - len(after[:1])
        requests = turn.of(e.OracleRequested)
        waiting = {event.revision: event.at for event in requests}
        for delta in turn.of(e.OracleDelta):
            if delta.revision in waiting:
                self.first_word.append(delta.at - waiting.pop(delta.revision))
        self.late_ms += [event.late_ms for event in turn.of(e.LevelMeasured)]
        self.waits_ms += [event.waited_ms for event in turn.of(e.OracleFed)]
        self.partial_lag += [event.at - event.heard_until for event in turn.of(e.TranscriptPartial)]
        self.final_lag += [event.at - turn.end for event in turn.of(e.TranscriptFinal)[-1:]]
        self.underruns += sum(event.count for event in turn.of(e.Underrun))
        self.decodes_skipped += sum(event.decodes for event in turn.of(e.RecognitionSkipped))
        self.failures += turn.failures
        heard = "".join(event.words for event in requests[-1:]) if by_request else heard_in(turn.events)
        reference = fold(question.text)
        self.word_errors += word_distance(reference, fold(heard))
        self.words += len(reference)
        self.revisions.append(len(requests))
        said = " ".join(event.text for event in turn.of(e.AssistantSaid))
        one = {"question": question.name, "heard": heard, "said": said, "first_sound": first_sound}
        self.talks.append(rounded(one, 3))


ROWS = {
    "first_sound": ("end of question → first sound, ms", 0, 1000),
    "partial_lag": ("partial lag, ms", 0, 1000),
    "final_lag": ("final lag, ms", 0, 1000),
    "first_word": ("request → first oracle word, ms", 0, 1000),
    "waits_ms": ("delta → front-end, ms", 0, 1),
    "late_ms": ("frame loop's lateness, ms", 1, 1),
    "revisions": ("oracle revisions a turn", 0, 1),
}
"""The rows of the table: label, decimal places and scale of each list of figures."""
SHARES = {"median": 0.5, "p90": 0.9, "p95": 0.95, "worst": 1.0}


def figures(m: Measured, key: str) -> dict[str, float]:
    """Returns the quantiles in one row of the table."""
    return {
        name: quantile([value * ROWS[key][2] for value in getattr(m, key)], share) for name, share in SHARES.items()
    }


@dataclass(frozen=True, slots=True)
class LatencyResult:
    """The figures of all answer modes."""

    questions: int
    modes: dict[str, Measured]

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        modes = {
            name: {**asdict(m), **{key: figures(m, key) for key in ROWS}, "word_error_rate": m.word_error_rate}
            for name, m in self.modes.items()
        }
        return {"questions": self.questions, "machine": machine(), "answer_modes": rounded(modes)}

    def table(self) -> str:
        """Returns the result as Markdown tables."""
        lines: list[str] = []
        for name, m in self.modes.items():
            rows = [
                (label, *(shown(value, digits) for value in figures(m, key).values()))
                for key, (label, digits, _) in ROWS.items()
            ]
            counts = (
                f"Word error rate {100 * m.word_error_rate:.1f} %, {m.underruns} underruns, {m.early_starts} early "
                f"starts taken back, {m.unanswered} unanswered, {m.decodes_skipped} decodes skipped."
            )
            lines += [*markdown((name, *SHARES), rows), "", counts, *dict.fromkeys(m.failures), ""]
        return report(f"{self.questions} spoken questions", "", lines)


async def run_latency(make: MakeSession, choice: SessionChoice, count: int, progress: Progress) -> LatencyResult:
    """Asks `count` questions in each answer mode. Propagates errors from opening a session."""
    questions = load_questions(max(1, count))
    wanted: tuple[e.AnswerMode, ...] = ("after", "thinking")
    modes: dict[str, Measured] = {
        mode: await _ask(make, replace(choice, answer_mode=mode), questions, mode, progress) for mode in wanted
    }
    return LatencyResult(len(questions), modes)


async def _ask(
    make: MakeSession,
    choice: SessionChoice,
    questions: Sequence[Recording],
    name: str,
    progress: Progress,
    *,
    by_request: bool = False,
    settle: float = SETTLE_SECONDS,
) -> Measured:
    """Asks all questions in one session. `name`: the mode or place, for `progress`."""
    measured = Measured()
    async with Conversation(make, choice) as talk:
        for number, question in enumerate(questions, 1):
            progress(f"{name}: question {number} of {len(questions)}")
            measured.add(question, await talk.ask(question, settle=settle), by_request=by_request)
    return measured


LENGTHS = (("under 3 s", 0.0, 3.0), ("3 to 6 s", 3.0, 6.0), ("6 s and more", 6.0, 1e9))
"""Ranges of a question's length in seconds, with their names."""


@dataclass(frozen=True, slots=True)
class SpeedsResult:
    """Seconds from the end of each question to the first sound of its answer, without openings, by speed of the model.

    - `seconds`: by speed and answer mode, for each of `questions`; None where there was no answer after the question
    - `words_of`: the model that the answers' words come from
    """

    questions: Sequence[Recording]
    seconds: dict[tuple[Speed, e.AnswerMode], list[float | None]]
    taken_back: dict[tuple[Speed, e.AnswerMode], int]
    costs: str
    words_of: str = DEFAULTS["llm"]

    def rows(self) -> list[tuple[Speed, str, int, float, float, float]]:
        """Returns for each speed and range of lengths: how many questions were answered in both modes, the medians of
        the strict cascade and of the tandem, and the median of their differences.
        """
        out = []
        for speed in dict.fromkeys(speed for speed, _ in self.seconds):
            for name, least, most in LENGTHS:
                pairs = [
                    (after, thinking)
                    for question, after, thinking in zip(
                        self.questions, self.seconds[speed, "after"], self.seconds[speed, "thinking"], strict=True
                    )
                    if least <= question.end < most and after is not None and thinking is not None
                ]
                if pairs:
                    middles = (quantile([pair[place] for pair in pairs], 0.5) for place in (0, 1))
                    gain = quantile([after - thinking for after, thinking in pairs], 0.5)
                    out.append((speed, name, len(pairs), *middles, gain))
        return out  # type: ignore[return-value]

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        head = ("first word after, s", "words a second", "length", "questions", "cascade, s", "tandem, s", "gained, s")
        rows = [
            (f"{speed.first:g}", f"{speed.rate:g}", name, count, *(shown(value) for value in values))
            for speed, name, count, *values in self.rows()
        ]
        turned = sum(count for (_, mode), count in self.taken_back.items() if mode == "thinking")
        lines = [*markdown(head, rows, text_columns=3), "", f"{turned} answers of the tandem were taken back."]
        return report(f"First sound by speed of the model, in the words of {self.words_of}", self.costs, lines)

    def draw(self, file: Path) -> bool:
        """Draws the medians into an SVG file. Returns False without matplotlib. Raises OSError."""

        def plot(axes: Any) -> None:
            for place, (name, *_) in enumerate(LENGTHS):
                rows = [row for row in self.rows() if row[1] == name]
                models = [f"{row[0].first:g} s, {row[0].rate:g} words/s" for row in rows]
                for mode, column, style in (("cascade", 3, "--"), ("tandem", 4, "-")):
                    medians = [row[column] for row in rows]
                    axes.plot(models, medians, f"C{place}o{style}", label=f"{mode}, questions of {name}")
            axes.set_xlabel("the model's time to its first word, and its rate")
            axes.set_ylabel("end of the question to the answer's first sound, s")
            axes.set_ylim(bottom=0)

        return draw(file, f"What thinking along gains, in the words of {self.words_of}", plot)

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        names = ("length", "questions", "cascade", "tandem", "gained")
        rows = [
            {"first": speed.first, "rate": speed.rate, **dict(zip(names, values, strict=True))}
            for speed, *values in self.rows()
        ]
        head = {"bench": "speeds", "machine": machine(), "words_of": self.words_of, "costs": self.costs}
        return {**head, "rows": rounded(rows)}


def run_speeds(
    make_backend: Callable[[BackendChoice], Backend],
    model: str,
    speeds: Sequence[Speed],
    short: int,
    progress: Progress,
) -> SpeedsResult:
    """Asks the benches' ten questions and `short` short ones in both answer modes, of models of these speeds.

    `make_backend`: creates the back-end of the embedded `model` that the words come from. Raises TranscriberError and
    VoiceError. Propagates errors from opening a session.
    """
    questions = sorted([*load_questions(), *(fact.question for fact in load_facts(short))], key=lambda one: one.end)
    result = SpeedsResult(questions, {}, {}, SERVED, model)

    async def ask(parts: SimulatedParts, speed: Speed, mode: e.AnswerMode) -> None:
        choice = SessionChoice(backend=BackendChoice("embedded", model), openings=False, duplex=True, answer_mode=mode)
        seconds, taken_back = result.seconds.setdefault((speed, mode), []), 0
        for start in range(0, len(questions), TALK_QUESTIONS):
            async with Conversation(parts.session, choice, simulated=True) as talk:
                for question in questions[start : start + TALK_QUESTIONS]:
                    progress(f"{speed.first:g} s, {mode}: question {len(seconds) + 1} of {len(questions)}")
                    turn = await talk.ask(question)
                    first = turn.first_sound
                    seconds.append(first if first is not None and first >= 0 else None)
                    taken_back += bool(turn.corrections)
        result.taken_back[speed, mode] = taken_back

    for speed in speeds:
        with SimulatedParts(make_backend, {model: speed}) as parts:
            for mode in ("after", "thinking"):
                run_simulated(ask(parts, speed, mode))
    return result


@dataclass(frozen=True, slots=True)
class RemoteResult:
    """The figures of asking locally (`here`) and through a server (`there`)."""

    here: Measured
    there: Measured

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        head = ("", "questions", "first sound p50, s", "worst", "words heard wrong", "of", "no answer")
        rows = [
            (
                name,
                len(way.first_sound) + way.unanswered,
                *(shown(quantile(way.first_sound, share)) for share in (0.5, 1.0)),
                *(way.word_errors, way.words, way.unanswered),
            )
            for name, way in (("here", self.here), ("by a server", self.there))
        ]
        return report("Spoken questions", "", markdown(head, rows))

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        ways = [
            {
                **{"name": name, "first_sound_p50": quantile(way.first_sound, 0.5), "first_sound": way.first_sound},
                **{"wrong": way.word_errors, "words": way.words, "unanswered": way.unanswered},
            }
            for name, way in (("here", self.here), ("server", self.there))
        ]
        return {"bench": "remote", "machine": machine(), "ways": rounded(ways)}


async def run_remote(make: MakeSession, choice: SessionChoice, count: int, progress: Progress) -> RemoteResult:
    """Asks `count` questions locally and through a server. Raises UserError and errors from opening a session."""
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
