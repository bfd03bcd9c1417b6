"""The `bench` measurements that compare systems, `mtbench` and `reasoning`, and the assistant that VoiceBench asks.

VoiceBench (Apache-2.0), and benches built like it, have a class for each model. In VoiceBench's
`src/models/__init__.py`, with this app's folder on the path:

    from app.research.commands.bench_mtbench import kame_assistant
    model_cls_mapping["kame"] = kame_assistant

The environment variable KAME_BENCH_SYSTEM names the system as `bench mtbench` does, such as `tandem=ollama:gemma3:4b`;
by default it is the tandem with the embedded model.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from app.backend.base import Backend, Usage
from app.cli.arguments import backend, dollars, number, whole_number
from app.cli.bench_command import Bench, Progress, add_folder
from app.conversation.frame import SAMPLE_RATE
from app.research.benches.mtbench.asking import Answer, ask_aloud, ask_typed
from app.research.benches.mtbench.plan import (
    KINDS,
    LAST_ORACLE,
    Question,
    RunTalk,
    SpokenTurn,
    System,
    check_systems,
    with_delays,
)
from app.research.benches.recordings import MakeSession, voice_end
from app.session.control import BackendChoice
from app.session.errors import UserError


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
        self._system = system
        self._make_session = make_session
        self._make_backend = make_backend
        self._cost = cost
        self._count = 0

    def generate_audio(self, audio: Mapping[str, Any], max_new_tokens: int = 2048) -> str:
        """Returns the text of the spoken answer to a spoken question. `audio`: `array` and `sampling_rate`."""
        return self._ask(audio).said

    def generate_ttft(self, audio: Mapping[str, Any]) -> float:
        """Returns the seconds from the end of the question to the first sound of the answer; inf if there is none."""
        first = self._ask(audio).first_sound
        return float("inf") if first is None else first

    def generate_text(self, text: str) -> str:
        """Returns the back-end's answer to a typed question."""
        question = Question(self._next(), "", (text,))
        typed = System("typed", self._system.backend)
        return _run(lambda: ask_typed(self._make_backend, self._cost, typed, 0, question))[0].said

    def _ask(self, audio: Mapping[str, Any]) -> Answer:
        samples = np.asarray(audio["array"], np.float32).reshape(-1)
        sound = soxr.resample(samples, int(audio["sampling_rate"]), SAMPLE_RATE).astype(np.float32)
        if not np.abs(sound).max(initial=0.0) > 0.01:
            return Answer(self._system.name, 0, 0, 1, "", "")
        question = Question(self._next(), "", ("",))
        turn = SpokenTurn("", sound, voice_end(sound))
        return _run(lambda: ask_aloud(self._make_session, self._system, 0, question, [turn]))[0]

    def _next(self) -> int:
        self._count += 1
        return self._count


def _run(make: Callable[[], Any]) -> list[Answer]:
    """Runs a coroutine to completion, in another thread if this one already has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        found: list[Answer] = asyncio.run(make())
        return found
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(make())).result()


@contextmanager
def talks(*, simulated: bool, measured_speeds: bool = True) -> Iterator[tuple[MakeSession, RunTalk, str]]:
    """Yields a session factory, a runner for conversations, and the stage costs (empty in real time).

    `measured_speeds`: in simulated time, use the language model speeds measured by “models bench”. Raises
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
    out: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


def _add_mtbench(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `bench mtbench`."""
    parser.add_argument(
        "--systems",
        type=systems,
        default=systems("typed,cascade,tandem"),
        metavar="LIST",
        help="with commas between: moshi, kame=openai:gpt-4.1, nano=…, tandem=…, cascade=ollama:gemma3:4b, typed=…, "
        "last-oracle (default: typed,cascade,tandem with the embedded model)",
    )
    parser.add_argument("--judge", type=backend, default=None, metavar="BACKEND:MODEL", help="what scores the answers")
    parser.add_argument("--runs", type=whole_number, default=1, metavar="N", help="how often (the paper: 6)")
    parser.add_argument(
        "--delays", type=seconds, default=[0.0], metavar="LIST", help="seconds forced before answers of kame and moshi"
    )
    parser.add_argument(
        "--questions", type=question_numbers, default=[], metavar="LIST", help="101-110,141 (default: all)"
    )
    parser.add_argument(
        "--cap",
        type=dollars,
        default=10.0,
        metavar="DOLLARS",
        help="what it may cost (default: 10; 0: any, known or not)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="results; a stopped run goes on there")
    parser.add_argument("--weights", default="", metavar="FOLDER", help="the weights of kame or moshi")
    parser.add_argument("--voice", default="", metavar="VOICE", help="who asks what is not recorded")
    add_folder(parser, "--speech", "the questions as recordings: QUESTION_TURN.flac, or folders of them by voice")
    add_folder(parser, "--reader", "a Whisper model for CTranslate2 that reads the spoken answers back")
    parser.add_argument("--write-routes", action="store_true", help="make the best models the router's table")
    parser.add_argument("--simulated", action="store_true", help="in simulated time: sooner done, the same everywhere")


def _mtbench(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    from app.research.benches.mtbench.plan import Plan, Tools, estimate, load_questions, speak
    from app.research.benches.mtbench.run import run_mtbench
    from app.research.benches.recordings import Reader
    from app.services import backends
    from app.services.backends import write_routes

    try:
        wanted = with_delays([one for one in args.systems if isinstance(one, System)], args.delays)
    except ValueError as error:
        raise UserError(str(error)) from None
    check_systems(wanted, simulated=args.simulated)
    if not wanted:
        raise UserError("The last oracle is that of another system. Name one as well, such as tandem.")
    questions, last_oracle = load_questions(args.questions), LAST_ORACLE in args.systems
    runs = max(1, args.runs)
    cost = backends.expected_cost
    expected = estimate(wanted, runs, questions, args.judge, cost, last_oracle=last_oracle)
    progress(expected.sentence)
    expected.check(args.cap)
    sounds = speak(questions, args.speech, args.voice, progress) if any(one.speaks for one in wanted) else {}
    reader = Reader(args.reader, threads=0) if args.reader is not None else None
    with talks(simulated=args.simulated) as (make, run_talk, costs):
        plan = Plan(
            wanted,
            questions,
            runs,
            args.judge,
            args.out,
            cap=args.cap,
            last_oracle=last_oracle,
            weights=args.weights,
            costs=costs,
            sounds=sounds,
        )
        read = reader.read if reader is not None else None
        tools = Tools(make, backends.backend, backends.cost, run_talk, write_routes, read)
        return _kept(run_mtbench(plan, tools, progress), args.write_routes)


def _kept(result: Any, wanted: bool) -> Any:
    """Returns the result. If `wanted`, its routes also replace the app's routes for the same kinds of question."""
    if wanted and result.routes:
        from app.services.backends import parse_routes, write_routes
        from app.settings.declarations import Settings

        settings = Settings.load()
        found = {route.kind: route.backend for route in result.routes}
        settings.routes = write_routes({**parse_routes(settings.routes)[0], **found})
        settings.save()
        result.notes.append(f"The router's table now names the best model for these questions: {', '.join(found)}.")
    elif wanted:
        result.notes.append(
            "The router's table stays as it is: for no kind of question was one of two models better than the other."
        )
    return result


def _add_reasoning(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `bench reasoning`."""
    parser.add_argument(
        "--systems",
        type=systems,
        default=systems("typed,cascade,tandem"),
        metavar="LIST",
        help="with commas between, as of `bench mtbench` (default: typed,cascade,tandem with the embedded model)",
    )
    parser.add_argument(
        "--questions", type=whole_number, default=0, metavar="N", help="how many (default: 40, of a --set all)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the questions that are made")
    add_folder(parser, "--set", "Big Bench Audio in place of questions that are made; its systems hear and speak")
    parser.add_argument("--voice", default="", metavar="VOICE", help="who asks questions that are made")
    parser.add_argument("--simulated", action="store_true", help="in simulated time: sooner done, the same everywhere")


def _reasoning(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    from app.research.benches.reasoning import generate, load_big_bench_audio, run_reasoning
    from app.services import backends
    from app.tts.voices import make_voice

    wanted = [one for one in args.systems if isinstance(one, System)]
    if args.set is not None:
        wanted = [one for one in wanted if one.speaks]  # its questions are sound alone
        asked = load_big_bench_audio(args.set, args.questions)
    else:
        asked = generate(args.questions or 40, args.seed)
        if any(one.speaks for one in wanted):
            with make_voice(args.voice) as voice:
                asked = [replace(one, samples=voice.synthesize(one.text).result().samples) for one in asked]
    check_systems(wanted, simulated=args.simulated)
    if not wanted:
        raise UserError("Name at least one system that hears and speaks, such as tandem.")
    with talks(simulated=args.simulated) as (make, run_talk, costs):
        return run_reasoning(wanted, asked, make, backends.backend, backends.cost, run_talk, progress, costs=costs)


BENCHES = (
    Bench("mtbench", "spoken MT-Bench: systems against each other, with or without a judge", _add_mtbench, _mtbench),
    Bench("reasoning", "questions with one right answer, made by rule, typed and spoken", _add_reasoning, _reasoning),
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
