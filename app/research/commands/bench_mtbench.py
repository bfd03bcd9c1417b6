"""The benches that compare systems (`mtbench` and `reasoning`), and an assistant class for VoiceBench.

VoiceBench (Apache-2.0) and similar benchmarks have a class for each model. To add this app, put its folder on the path
and extend VoiceBench's `src/models/__init__.py`:

    from app.research.commands.bench_mtbench import kame_assistant
    model_cls_mapping["kame"] = kame_assistant

The environment variable KAME_BENCH_SYSTEM names the system as `bench mtbench` does, such as `tandem=ollama:gemma3:4b`;
by default it is the tandem with the embedded model.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import soxr

from app.backend.base import Backend, Usage
from app.cli.arguments import backend, dollars, number
from app.cli.bench_command import Progress
from app.conversation.frame import SAMPLE_RATE
from app.research.benches.mtbench.asking import Answer, ask_aloud, ask_typed
from app.research.benches.mtbench.plan import KINDS, LAST_ORACLE, Question, System, Tools, check_systems, with_delays
from app.research.benches.recordings import MakeSession, RunTalk, clean, saying
from app.research.commands.benches import bench, count, flag, folder, value
from app.session.control import BackendChoice, UserError


class SpokenAssistant:
    """Answers one question at a time, each in a fresh real-time session.

    `system`: a spoken system such as the tandem.
    """

    def __init__(
        self,
        system: System,
        make_session: MakeSession,
        make_backend: Callable[[BackendChoice], Backend],
        cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None,
    ) -> None:
        self._system, self._tools = system, Tools(make_session, make_backend, cost, asyncio.run)
        self._numbers = itertools.count(1)

    def generate_audio(self, audio: Mapping[str, Any], max_new_tokens: int = 2048) -> str:
        """Returns the text of the spoken answer to a spoken question. `audio`: `array` and `sampling_rate`."""
        return self._ask(audio).said

    def generate_text(self, text: str) -> str:
        """Returns the back-end's answer to a typed question."""
        question = Question(next(self._numbers), "", (text,))
        typed = System("typed", self._system.backend)
        return _run(ask_typed(self._tools, typed, 0, question))[0].said

    def _ask(self, audio: Mapping[str, Any]) -> Answer:
        samples = np.asarray(audio["array"], np.float32).reshape(-1)
        sound = soxr.resample(samples, int(audio["sampling_rate"]), SAMPLE_RATE).astype(np.float32)
        if not np.abs(sound).max(initial=0.0) > 0.01:
            return Answer(self._system.name, 0, 0, 1, "", "")
        question = Question(next(self._numbers), "", ("",))
        return _run(ask_aloud(self._tools, self._system, 0, question, [clean("", "", sound)]))[0]


def _run(work: Coroutine[Any, Any, list[Answer]]) -> list[Answer]:
    """Runs a coroutine to completion, in another thread since this one may already have a running event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@contextmanager
def talks(*, simulated: bool, measured_speeds: bool = True) -> Iterator[tuple[MakeSession, RunTalk, str]]:
    """Yields a session factory, a runner for conversations, and a description of the stage delays (empty in real time).

    `measured_speeds`: whether, in simulated time, language models have the speeds that “models bench” measured. Raises
    TranscriberError.
    """
    from app import main as compose
    from app.models.selection import load_speeds
    from app.research.benches.timed_parts import SimulatedParts
    from app.services import backends
    from app.session.clock import run_simulated

    if not simulated:
        yield compose.session, asyncio.run, ""
        return
    speeds = load_speeds() if measured_speeds else {}
    with SimulatedParts(backends.backend, speeds, cost=backends.cost) as parts:
        yield parts.session, run_simulated, parts.costs


def systems(text: str) -> list[System | str]:
    """Parses a comma-separated list of systems: KIND or KIND=BACKEND[:MODEL][@URL]."""
    out: list[System | str] = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        kind, _, rest = part.partition("=")
        if part == LAST_ORACLE:
            out.append(LAST_ORACLE)
        elif kind in KINDS:
            out.append(System(kind, backend(rest) if rest else BackendChoice()))
        else:
            raise argparse.ArgumentTypeError(
                f"there is no system “{kind}”; there are: {', '.join(KINDS)}, {LAST_ORACLE}"
            )
    if not out:
        raise argparse.ArgumentTypeError("names no system")
    return out


def seconds(text: str) -> list[float]:
    """Parses comma-separated seconds, each from 0 to 20."""
    out = [number(one) for one in text.split(",")]
    if not all(0 <= one <= 20 for one in out):
        raise argparse.ArgumentTypeError("must be between 0 and 20")
    return out


def question_numbers(text: str) -> list[int]:
    """Parses comma-separated numbers and ranges, such as 101-110,141."""
    ranges = [part.partition("-") for part in text.split(",")]
    return [number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)]


def _mtbench(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    from app.research.benches.mtbench.plan import Plan, estimate, load_questions, speak
    from app.research.benches.mtbench.run import run_mtbench
    from app.research.benches.recordings import Reader
    from app.services import backends

    wanted = with_delays([one for one in args.systems if isinstance(one, System)], args.delays)
    check_systems(wanted, simulated=args.simulated)
    if not wanted:
        raise UserError("The last oracle is that of another system. Name one as well, such as tandem.")
    questions, last_oracle = load_questions(args.questions), LAST_ORACLE in args.systems
    expected = estimate(wanted, args.runs, questions, args.judge, backends.expected_cost, last_oracle=last_oracle)
    progress(expected.sentence)
    expected.check(args.cap)
    sounds = speak(questions, args.speech, args.voice, progress) if any(one.speaks for one in wanted) else {}
    reader = Reader(args.reader, threads=0) if args.reader is not None else None
    with talks(simulated=args.simulated) as (make, run_talk, costs):
        own: dict[str, Any] = {"cap": args.cap, "weights": args.weights, "costs": costs, "last_oracle": last_oracle}
        plan = Plan(wanted, questions, args.runs, args.judge, args.out, sounds=sounds, **own)
        read = reader.read if reader is not None else None
        tools = Tools(make, backends.backend, backends.cost, run_talk, read, args.simulated)
        return run_mtbench(plan, tools, progress)


def _reasoning(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    from app.research.benches.reasoning import generate, load_big_bench_audio, run_reasoning
    from app.services import backends
    from app.tts.voices import make_voice

    wanted = [one for one in args.systems if isinstance(one, System)]
    if args.set is not None:
        wanted = [one for one in wanted if one.speaks]  # its questions are audio only
        asked = load_big_bench_audio(args.set, args.questions)
    else:
        asked = generate(args.questions or 40, args.seed)
        if any(one.speaks for one in wanted):
            with make_voice(args.voice) as voice:
                asked = [replace(one, samples=saying(voice)(one.text)) for one in asked]
    check_systems(wanted, simulated=args.simulated)
    if not wanted:
        raise UserError("Name at least one system that hears and speaks, such as tandem.")
    with talks(simulated=args.simulated) as (make, run_talk, costs):
        tools = Tools(make, backends.backend, backends.cost, run_talk, simulated=args.simulated)
        return run_reasoning(wanted, asked, tools, progress, costs=costs)


_SYSTEMS: dict[str, Any] = {"metavar": "LIST", "type": systems, "default": systems("typed,cascade,tandem")}
_SIMULATED = flag("--simulated", "in simulated time: sooner done, the same everywhere")

BENCHES = (
    bench(
        "mtbench",
        "spoken MT-Bench: systems against each other, with or without a judge",
        _mtbench,
        value(
            "--systems",
            "with commas between: moshi, kame=openai:gpt-4.1, nano=…, tandem=…, cascade=ollama:gemma3:4b, typed=…, "
            "last-oracle (default: typed,cascade,tandem with the embedded model)",
            **_SYSTEMS,
        ),
        value("--judge", "what scores the answers", "BACKEND:MODEL", type=backend, default=None),
        count("--runs", 1, "how often; the paper: 6", least=1),
        value("--delays", "seconds forced before answers of kame and moshi", "LIST", type=seconds, default=[0.0]),
        value("--questions", "101-110,141 (default: all)", "LIST", type=question_numbers, default=[]),
        value("--cap", "what it may cost (default: 10; 0: any, known or not)", "DOLLARS", type=dollars, default=10.0),
        folder("--out", "results; a stopped run goes on there", "DIR", required=True),
        value("--weights", "the weights of kame or moshi", "FOLDER"),
        value("--voice", "who asks what is not recorded", "VOICE"),
        folder("--speech", "the questions as recordings: QUESTION_TURN.flac, or folders of them by voice"),
        folder("--reader", "a Whisper model for CTranslate2 that reads the spoken answers back"),
        _SIMULATED,
    ),
    bench(
        "reasoning",
        "questions with one right answer, made by rule, typed and spoken",
        _reasoning,
        value("--systems", "as of “bench mtbench”", **_SYSTEMS),
        count("--questions", 0, "how many", none="40, of a --set all"),
        ("--seed", {"type": int, "default": 0, "help": "of the questions that are made"}),
        folder("--set", "Big Bench Audio in place of questions that are made; its systems hear and speak"),
        value("--voice", "who asks questions that are made", "VOICE"),
        _SIMULATED,
    ),
)


VARIABLE = "KAME_BENCH_SYSTEM"


def kame_assistant() -> SpokenAssistant:
    """Returns the assistant for the system named by the environment variable KAME_BENCH_SYSTEM.

    Raises ArgumentTypeError if there is no such system, and ValueError if it does not speak.
    """
    from app import main as compose
    from app.services import backends

    system = systems(os.environ.get(VARIABLE, "tandem"))[0]
    if not isinstance(system, System) or not system.speaks:
        raise ValueError(f"{VARIABLE} must name a system that hears and speaks, such as tandem.")
    return SpokenAssistant(system, compose.session, backends.backend, backends.cost)


if __name__ == "__main__":
    print(__doc__)
