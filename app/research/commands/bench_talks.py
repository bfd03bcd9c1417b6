"""The `bench` measurements that hold talks: latency, answers, facts, turns, overlap and sounds."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

from app.cli.arguments import whole_number
from app.cli.backend_options import add_backend, choice_of
from app.cli.bench import Bench, Progress, add_folder
from app.session.control import BackendChoice, SessionChoice


def _add_latency(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=int, default=10, help="how many of the ten (default: all)")
    add_backend(parser)


def _latency(args: argparse.Namespace, progress: Progress) -> Any:
    from app import main as compose
    from app.research.benches.latency import run_latency

    choice = SessionChoice(backend=choice_of(args), openings=False, duplex=True)  # the answers are timed
    return asyncio.run(run_latency(compose.session, choice, args.questions, progress))


def _add_answers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=whole_number, default=60, metavar="N", help="the first so many")
    parser.add_argument("--way", choices=("both", "hands-free", "talk button"), default="both", help="how turns end")
    add_folder(parser, "--recordings", "also the questions as other voices say them: VOICE/01.wav and so on")
    add_folder(parser, "--reader", "a Whisper model for CTranslate2 that transcribes the spoken answers")
    parser.add_argument(
        "--simulated", action="store_true", help="in simulated time: the same on every machine, and sooner done"
    )
    parser.add_argument("--no-openings", action="store_true", help="keep silent until the answer is there")
    add_backend(parser)


def _answers(args: argparse.Namespace, progress: Progress) -> Any:
    from app import main as compose
    from app.research.benches.answers import WAYS, load_asked, run_answers
    from app.research.benches.simulated_parts import SimulatedParts
    from app.services import backends
    from app.session.clock import run_simulated

    choice = SessionChoice(backend=choice_of(args), openings=not args.no_openings)
    asked = load_asked(max(1, args.questions), args.recordings)
    ways = [way for way in WAYS if args.way in ("both", way)]
    if not args.simulated:
        return asyncio.run(run_answers(compose.session, choice, asked, progress, ways=ways, reader=args.reader))
    with SimulatedParts(lambda made: backends.backend(made.backend)) as parts:
        return run_simulated(
            run_answers(parts.session, choice, asked, progress, ways=ways, reader=args.reader, costs=parts.costs)
        )


def _add_facts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=whole_number, default=120, metavar="N", help="the first so many")
    parser.add_argument(
        "--way",
        action="append",
        choices=("typed", "hands-free", "talk button"),
        default=[],
        help="how they are asked; may be given again (default: typed and hands-free)",
    )
    parser.add_argument(
        "--simulated", action="store_true", help="in simulated time, with the speeds that “models bench” has measured"
    )
    parser.add_argument("--backend", default="", help="a back-end in place of the language models that are here")
    parser.add_argument("--model", action="append", default=[], help="its model, or one of the app's own; again")
    parser.add_argument("--base-url", default="")


def _facts(args: argparse.Namespace, progress: Progress) -> Any:
    from app import main as compose
    from app.models.catalogue import models_of
    from app.models.locations import is_here
    from app.models.speeds import load_speeds
    from app.research.benches.facts import load_facts, run_facts
    from app.research.benches.simulated_parts import SimulatedParts
    from app.services import backends
    from app.session.clock import run_simulated

    provider = args.backend or ("compatible" if args.base_url else "embedded")
    names = args.model or ([m.key for m in models_of("llm") if is_here(m.key)] if provider == "embedded" else [""])
    models = [BackendChoice(provider, name, args.base_url) for name in names]
    ways = args.way or ["typed", "hands-free"]
    facts = load_facts(max(1, args.questions))
    if not args.simulated:
        return asyncio.run(run_facts(compose.session, models, facts, progress, ways=ways))
    with SimulatedParts(lambda made: backends.backend(made.backend), load_speeds()) as parts:
        return run_simulated(run_facts(parts.session, models, facts, progress, ways=ways, costs=parts.costs))


def _add_turns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cases", type=whole_number, default=0, metavar="N", help="how many (default: all)")
    part_help = "fitted to (0), chosen by (1), or neither (2, the default)"
    parser.add_argument("--part", type=int, choices=(0, 1, 2), default=2, help=part_help)
    add_folder(parser, "--recordings", "also MT-Bench's turns as spoken there: VOICE/QUESTION_TURN.flac")
    add_folder(parser, "--people", "also real speakers: manifest.jsonl and the recordings that it names")


def _turns(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.endpointing import run_endpointing

    return run_endpointing(
        cases=args.cases, part=args.part, recordings=args.recordings, people_in=args.people, progress=progress
    )


def _add_overlap(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=whole_number, default=30, metavar="N", help="how many in each place")
    add_folder(parser, "--recordings", "spoken questions (.flac, .wav) in place of the bench's own ten")
    parser.add_argument("--seed", type=int, default=0, help="of rooms, moments and the choice of recordings")


def _overlap(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.overlap import run_overlap

    return run_overlap(args.questions, recordings=args.recordings, seed=args.seed, progress=progress)


def _add_sounds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, required=True, metavar="FOLDER", help="recordings of such sounds")
    add_folder(parser, "--speech", "recordings of speech, which is to interrupt")


def _sounds(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.sounds import run_sounds

    return run_sounds(args.folder, args.speech, progress=progress)


def _add_remote(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=int, default=10, help="how many of the ten (default: all)")
    add_backend(parser)


def _remote(args: argparse.Namespace, progress: Progress) -> Any:
    from app import main as compose
    from app.research.benches.remote import run_remote

    choice = SessionChoice(backend=choice_of(args), openings=False, duplex=True)
    return asyncio.run(run_remote(compose.session, choice, args.questions, progress))


BENCHES = (
    Bench("latency", "ten spoken questions in real time, in both answer modes", _add_latency, _latency),
    Bench("answers", "the first words of answers to sixty short questions", _add_answers, _answers),
    Bench("facts", "120 short questions with one right answer, by model", _add_facts, _facts),
    Bench("turns", "ends of turns, on spoken questions with pauses in them", _add_turns, _turns),
    Bench("remote", "spoken questions here and by a voice server", _add_remote, _remote),
    Bench("overlap", "questions spoken over a new conversation", _add_overlap, _overlap),
    Bench("sounds", "laughter and other sounds that are no turn", _add_sounds, _sounds),
)
