"""The `bench` measurements that hold talks: latency, answers, facts, turns, overlap and sounds.

The `bench` measurement `rivals`: this app beside other open voice assistants.

The `bench` measurement `reasoning`: questions with one right answer, typed against spoken.
"""

from __future__ import annotations

import argparse
import asyncio
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from app.cli.arguments import add_backend, choice_of, whole_number
from app.cli.bench_command import Bench, Progress, add_folder
from app.research.benches.mtbench.plan import System, check_systems
from app.research.commands.bench_mtbench import systems
from app.session.control import BackendChoice, SessionChoice
from app.session.errors import UserError


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
    from app.research.benches.timed_parts import SimulatedParts
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
    from app.models.selection import load_speeds
    from app.research.benches.answers import load_facts, run_facts
    from app.research.benches.timed_parts import SimulatedParts
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
    from app.research.benches.endpointing import run_sounds

    return run_sounds(args.folder, args.speech, progress=progress)


def _add_remote(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=int, default=10, help="how many of the ten (default: all)")
    add_backend(parser)


def _remote(args: argparse.Namespace, progress: Progress) -> Any:
    from app import main as compose
    from app.research.benches.latency import run_remote

    choice = SessionChoice(backend=choice_of(args), openings=False, duplex=True)
    return asyncio.run(run_remote(compose.session, choice, args.questions, progress))


def _add_rivals(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `bench rivals`."""
    parser.add_argument("--assistants", default="", metavar="LIST", help="with commas between (default: all)")
    parser.add_argument("--questions", type=whole_number, default=10, metavar="N", help="of the bench's ten")
    add_folder(parser, "--people", "also real speakers: manifest.jsonl and the recordings that it names")
    parser.add_argument("--utterances", type=whole_number, default=10, metavar="N", help="how many of theirs")
    parser.add_argument("--model", default="", help="the embedded model that all ask (default: the smallest)")
    parser.add_argument("--base-url", default="", metavar="URL", help="another server of OpenAI's protocol instead")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="results and the assistants' logs")


def _rivals(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    return asyncio.run(_run(args, progress))


async def _run(args: argparse.Namespace, progress: Progress) -> Any:
    import importlib.util

    if importlib.util.find_spec("psutil") is None:
        raise UserError("This bench needs the package psutil. Run it in a checkout that was set up for tests.")
    from app.backend.embedded import EmbeddedBackend
    from app.research.benches.rivals.process import chosen
    from app.research.benches.rivals.run import load_items, run_rivals

    assistants = chosen([name.strip() for name in args.assistants.split(",") if name.strip()])
    items = await asyncio.to_thread(load_items, args.questions, args.people, args.utterances)
    if args.base_url:
        server = {"url": args.base_url, "key": "", "model": args.model or "default"}
        return await asyncio.to_thread(run_rivals, assistants, items, server, 0, args.out, progress)
    backend = EmbeddedBackend(args.model)
    await backend.open()
    stopped = threading.Event()

    def goes_on(text: str) -> None:
        """Tells the progress; ends the measuring thread once the command is being stopped."""
        if stopped.is_set():
            raise InterruptedError
        progress(text)

    try:
        served = backend.served
        server = {"url": f"{served.url}/v1", "key": served.key, "model": backend.model}
        return await asyncio.to_thread(run_rivals, assistants, items, server, served.pid, args.out, goes_on)
    finally:
        stopped.set()
        await backend.close()


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
    from app import main as compose
    from app.models.selection import load_speeds
    from app.research.benches.reasoning import Asked, generate, load_big_bench_audio, run_reasoning
    from app.research.benches.timed_parts import SimulatedParts
    from app.services import backends
    from app.session.clock import run_simulated
    from app.tts.voices import make_voice

    wanted = [one for one in args.systems if isinstance(one, System)]
    if args.set is not None:
        wanted = [one for one in wanted if one.speaks]  # its questions are sound alone
        found = load_big_bench_audio(args.set, args.questions)
        asked = [Asked(one.number, one.category, "", one.answer, one.samples) for one in found]
    else:
        with make_voice(args.voice) if any(one.speaks for one in wanted) else nullcontext() as voice:
            asked = [
                Asked(
                    one.number,
                    one.form,
                    one.text,
                    one.answer,
                    np.zeros(0, np.float32) if voice is None else voice.synthesize(one.text).result().samples,
                )
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


BENCHES = (
    Bench("latency", "ten spoken questions in real time, in both answer modes", _add_latency, _latency),
    Bench("answers", "the first words of answers to sixty short questions", _add_answers, _answers),
    Bench("facts", "120 short questions with one right answer, by model", _add_facts, _facts),
    Bench("turns", "ends of turns, on spoken questions with pauses in them", _add_turns, _turns),
    Bench("remote", "spoken questions here and by a voice server", _add_remote, _remote),
    Bench("overlap", "questions spoken over a new conversation", _add_overlap, _overlap),
    Bench("sounds", "laughter and other sounds that are no turn", _add_sounds, _sounds),
    Bench("rivals", "this app beside Pipecat, LiveKit and RealtimeSTT/TTS", _add_rivals, _rivals),
    Bench("reasoning", "questions with one right answer, made by rule, typed and spoken", _add_reasoning, _reasoning),
)
