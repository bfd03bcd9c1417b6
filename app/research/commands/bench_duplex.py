"""The `bench` measurement `duplex`: pauses, ends of turns, backchannels and interruptions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.cli.arguments import whole_number
from app.cli.backend_options import add_backend, choice_of
from app.cli.bench import Bench, Progress, add_folder
from app.session.control import SessionChoice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `bench duplex`."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="samples in Full-Duplex-Bench's layout (1.0 or 1.5)")
    parser.add_argument(
        "--make", type=whole_number, default=0, metavar="N", help="first make N samples of each task there"
    )
    add_folder(parser, "--people", "for --make: also real speakers, manifest.jsonl and the recordings that it names")
    parser.add_argument("--count", type=whole_number, default=0, metavar="N", help="the first so many of each task")
    parser.add_argument("--outputs", action="store_true", help="score the outputs that are there, whoever made them")
    parser.add_argument("--answer-mode", choices=("after", "thinking"), default="thinking")
    add_backend(parser)


def run(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    from app.models.speeds import load_speeds
    from app.research.benches.duplex.run import run_duplex
    from app.research.benches.duplex.samples import find_samples
    from app.research.benches.simulated_parts import SimulatedParts
    from app.services import backends
    from app.session.clock import run_simulated

    if args.make:
        _make(args, progress)
    samples = find_samples(args.folder, args.count)
    choice = SessionChoice(backend=choice_of(args), answer_mode=args.answer_mode, openings=False, duplex=True)
    if args.outputs:
        return run_duplex(samples, None, run_simulated, choice, progress)
    with SimulatedParts(lambda made: backends.backend(made.backend), load_speeds()) as parts:
        return run_duplex(samples, parts.session, run_simulated, choice, progress, costs=parts.costs)


def _make(args: argparse.Namespace, progress: Progress) -> None:
    from app.research.benches.duplex.making import make_sets
    from app.research.benches.pauses import spoken_cases
    from app.research.benches.people import people
    from app.research.benches.recordings import SPEAKER_PARTS
    from app.research.benches.speech_models import speech_models
    from app.tts.voices import make_voice

    with speech_models() as models, make_voice() as voice:

        def say(text: str) -> Any:
            return voice.synthesize(text).result().samples

        held_out = SPEAKER_PARTS - 1
        pauses = spoken_cases(say, models.transcribe, held_out, ("flow",), most=3 * args.make).made
        found = []
        if args.people is not None:
            found = people(args.people, models.transcribe, models.voice_detector, held_out)
        make_sets(args.folder, args.make, say, pauses, found, progress)


BENCHES = (
    Bench("duplex", "pauses, ends of turns, backchannels, interruptions: Full-Duplex-Bench", add_arguments, run),
)
