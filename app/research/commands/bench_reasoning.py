"""The `bench` measurement `reasoning`: questions with one right answer, typed against spoken."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from app.cli.arguments import whole_number
from app.cli.bench import Bench, Progress, add_folder
from app.research.benches.mtbench.systems import System, check_systems
from app.research.commands.bench_mtbench import systems
from app.session.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    from app import main as compose
    from app.models.speeds import load_speeds
    from app.research.benches.reasoning.big_bench_audio import load_big_bench_audio
    from app.research.benches.reasoning.generate import generate
    from app.research.benches.reasoning.run import Asked, run_reasoning
    from app.research.benches.simulated_parts import SimulatedParts
    from app.services import backends
    from app.session.clock import run_simulated
    from app.tts.voices import make_voice

    wanted = [one for one in args.systems if isinstance(one, System)]
    if args.set is not None:
        wanted = [one for one in wanted if one.speaks]  # its questions are sound alone
        found = load_big_bench_audio(args.set, args.questions)
        asked = [Asked(one.number, one.category, "", one.answer, one.samples) for one in found]
    else:
        with make_voice(args.voice) as voice:
            asked = [
                Asked(one.number, one.form, one.text, one.answer, voice.synthesize(one.text).result().samples)
                for one in generate(args.questions or 40, args.seed)
            ]
    check_systems(wanted, simulated=args.simulated)
    if not wanted:
        raise UserError("Name at least one system that hears and speaks, such as tandem.")
    make, cost = backends.backend, backends.cost
    if not args.simulated:
        return run_reasoning(wanted, asked, compose.session, make, cost, asyncio.run, progress)
    with SimulatedParts(lambda made: backends.backend(made.backend), load_speeds()) as parts:
        return run_reasoning(wanted, asked, parts.session, make, cost, run_simulated, progress, costs=parts.costs)


BENCHES = (Bench("reasoning", "questions with one right answer, made by rule, typed and spoken", add_arguments, run),)
