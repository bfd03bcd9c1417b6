"""The command line: reads arguments, runs a command, prints words or one JSON document.

Exit codes: 0 well, 2 for what the user can put right, 1 for a fault of ours. Knows no adapter.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import sys
from pathlib import Path

from app.cli import backend_commands, demo_command, model_commands, ptt_command, talk_command
from app.cli.output import Terminal
from app.models.fit import PRECISIONS
from app.platform.standard_streams import show_unseen
from app.session.control import BackendChoice, SessionChoice
from app.session.errors import UserError


def build_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser = argparse.ArgumentParser(
        prog="kame-desktop",
        description="Talk with KAME: it speaks while it thinks. Without a command the window opens.",
        parents=[common],
    )
    parser.add_argument("--report-start", type=Path, help=argparse.SUPPRESS)  # for `bench startup`
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    talk_command.add_commands(commands, common)
    demo_command.add_commands(commands, common)
    ptt_command.add_commands(commands, common)

    model_commands.add_commands(commands, common)

    doctor = commands.add_parser("doctor", parents=[common], help="what this machine has, and whether it will do")
    doctor.add_argument("--weights", default="", metavar="FOLDER", help="where KAME's weights are")

    backend_commands.add_commands(commands, common)

    commands.add_parser("devices", parents=[common], help="list microphones and loudspeakers")

    bench = commands.add_parser("bench", parents=[common], help="measure").add_subparsers(
        dest="bench", metavar="WHAT", required=True
    )
    latency = bench.add_parser("latency", parents=[common], help="ten spoken questions in real time, in both manners")
    latency.add_argument("--questions", type=int, default=10, help="how many of the ten (default: all)")
    latency.add_argument("--backend", default="")
    latency.add_argument("--model", default="")
    latency.add_argument("--base-url", default="")
    answers = bench.add_parser("answers", parents=[common], help="the first words of answers to sixty short questions")
    answers.add_argument("--questions", type=talk_command.frames, default=60, metavar="N", help="the first so many")
    answers.add_argument("--way", choices=("both", "hands-free", "talk button"), default="both", help="how turns end")
    answers.add_argument(
        "--recordings",
        default="",
        metavar="FOLDER",
        help="also the questions as other voices say them: VOICE/01.wav and so on",
    )
    answers.add_argument(
        "--reader", default="", metavar="FOLDER", help="a Whisper model for CTranslate2 that reads back what was heard"
    )
    answers.add_argument(
        "--simulated", action="store_true", help="in simulated time: the same on every machine, and sooner done"
    )
    answers.add_argument("--no-openings", action="store_true", help="keep silent until the answer is there")
    answers.add_argument("--backend", default="")
    answers.add_argument("--model", default="")
    answers.add_argument("--base-url", default="")
    facts = bench.add_parser("facts", parents=[common], help="120 short questions with one right answer, by model")
    facts.add_argument("--questions", type=talk_command.frames, default=120, metavar="N", help="the first so many")
    facts.add_argument(
        "--way",
        action="append",
        choices=("typed", "hands-free", "talk button"),
        default=[],
        help="how they are asked; may be given again (default: typed and hands-free)",
    )
    facts.add_argument(
        "--simulated", action="store_true", help="in simulated time, with the speeds that “models bench” has measured"
    )
    facts.add_argument("--backend", default="", help="a back-end in place of the language models that are here")
    facts.add_argument("--model", action="append", default=[], help="its model, or a model of the app's own; again")
    facts.add_argument("--base-url", default="")
    routing = bench.add_parser("routing", parents=[common], help="the router's classifier on questions it has not seen")
    routing.add_argument("--mt-bench", default="", metavar="FILE", help="MT-Bench's question.jsonl")
    routing.add_argument("--questions", default="", metavar="FILE", help="labelled questions in place of the app's own")
    audio = bench.add_parser("audio", parents=[common], help="from the loudspeaker back through the microphone")
    audio.add_argument("--microphone", default="", metavar="NAME", help="an input device by name")
    audio.add_argument("--loudspeaker", default="", metavar="NAME", help="an output device by name")
    audio.add_argument("--rounds", type=talk_command.frames, default=40, metavar="N", help="how many round trips")
    turns = bench.add_parser("turns", parents=[common], help="ends of turns, on spoken questions with pauses in them")
    turns.add_argument("--cases", type=talk_command.frames, default=0, metavar="N", help="how many (default: all)")
    turns.add_argument(
        "--part",
        type=int,
        choices=(0, 1, 2),
        default=2,
        help="fitted to (0), chosen by (1), or neither (2, the default)",
    )
    turns.add_argument(
        "--recordings",
        default="",
        metavar="FOLDER",
        help="also MT-Bench's turns as spoken there: VOICE/QUESTION_TURN.flac",
    )
    turns.add_argument(
        "--people",
        default="",
        metavar="FOLDER",
        help="also real speakers: manifest.jsonl and the recordings that it names",
    )
    hearing = bench.add_parser("hearing", parents=[common], help="words heard live, against one look at the same sound")
    hearing.add_argument("recordings", metavar="FOLDER", help="recordings, and a manifest.jsonl: file, session, text")
    hearing.add_argument(
        "--part",
        type=int,
        choices=(0, 1, 2),
        default=None,
        help="only speakers whose number has this remainder by 3 (2: held out)",
    )
    hearing.add_argument("--peak", type=float, default=None, metavar="LEVEL", help="make all as loud as this (0 to 1)")
    hearing.add_argument("--answering", action="store_true", help="the app answers: who goes on speaks over it")
    hearing.add_argument("--cases", type=talk_command.frames, default=0, metavar="N", help="how many (default: all)")
    recognisers = bench.add_parser("recognisers", parents=[common], help="the recognisers of speech that are here")
    recognisers.add_argument(
        "--people",
        default="",
        metavar="FOLDER",
        help="real speakers, as for “hearing”; only those that nothing was fitted to",
    )
    recognisers.add_argument(
        "--recordings", default="", metavar="FOLDER", help="other recordings, in place of ten synthetic questions"
    )
    recognisers.add_argument("--only", action="append", default=[], metavar="MODEL", help="may be given again")
    recognisers.add_argument("--language", default="en", metavar="XX", help="what is spoken (default: en)")
    recognisers.add_argument(
        "--cases", type=talk_command.frames, default=0, metavar="N", help="how many (default: all)"
    )
    sounds = bench.add_parser("sounds", parents=[common], help="laughter and other sounds that are no turn")
    sounds.add_argument("--folder", required=True, metavar="FOLDER", help="recordings of such sounds")
    sounds.add_argument("--speech", default="", metavar="FOLDER", help="recordings of speech, which is to interrupt")
    overlap = bench.add_parser("overlap", parents=[common], help="questions spoken over a fresh talk")
    overlap.add_argument(
        "--questions", type=talk_command.frames, default=30, metavar="N", help="how many in each place"
    )
    overlap.add_argument(
        "--recordings",
        default="",
        metavar="FOLDER",
        help="spoken questions (.flac, .wav) in place of the bench's own ten",
    )
    overlap.add_argument("--seed", type=int, default=0, help="of rooms, moments and the choice of recordings")
    voices = bench.add_parser("voices", parents=[common], help="how quick, clear and loud the voices are that are here")
    voices.add_argument("voice", nargs="*", metavar="VOICE", help="voices of “models list” (default: all here)")
    voices.add_argument(
        "--sentences", type=talk_command.frames, default=20, metavar="N", help="the first so many, of 20"
    )
    frame = bench.add_parser("frame", parents=[common], help="one step of the model, in parts, on this machine")
    frame.add_argument(
        "--random-weights",
        action="store_true",
        required=True,
        help="weights of the true shape; their values don't matter to the speed",
    )
    frame.add_argument("--size", choices=("7b", "tiny"), default="7b", help="the published shape, or a small one")
    frame.add_argument("--precision", choices=("all", *PRECISIONS), default="bf16")
    frame.add_argument(
        "--context", type=talk_command.frames, default=0, metavar="FRAMES", help="frames of memory (default: 3000)"
    )
    frame.add_argument(
        "--context-fill",
        type=talk_command.frames,
        default=None,
        metavar="FRAMES",
        help="how many of them are filled (default: all)",
    )
    frame.add_argument("--frames", type=talk_command.frames, default=200, metavar="N", help="how many steps are timed")
    frame.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    frame.add_argument("--check", action="store_true", help="also compare this machine's paths, to the bit")
    startup = bench.add_parser("startup", parents=[common], help="from the click to the window, and until one can talk")
    startup.add_argument("--starts", type=talk_command.frames, default=5, metavar="N", help="how many are timed")
    startup.add_argument("--microphone", default="", metavar="NAME", help="an input device by name")
    startup.add_argument("--loudspeaker", default="", metavar="NAME", help="an output device by name")
    window = bench.add_parser("window", parents=[common], help="whether the window stays smooth through a dense talk")
    window.add_argument("--minutes", type=float, default=10.0, metavar="N", help="of talk, at full speed")
    window.add_argument("--live", type=float, default=40.0, metavar="SECONDS", help="of talk, in real time")
    window.add_argument("--turns", type=talk_command.frames, default=2000, metavar="N", help="of the long conversation")
    return parser


def main(argv: list[str]) -> int:
    """Runs the command line; returns the exit code."""
    args = build_parser().parse_args(argv)
    terminal = Terminal(args.json)
    run = {
        **dict.fromkeys(talk_command.COMMANDS, lambda: talk_command.run(args, terminal)),
        "ptt": lambda: ptt_command.perform(args.word, as_json=args.json),
        "devices": lambda: _devices(terminal),
        "bench": lambda: {
            "frame": lambda: _bench_frame(args, terminal),
            "routing": lambda: _bench_routing(args, terminal),
            "latency": lambda: asyncio.run(_bench(args, terminal)),
            "answers": lambda: _bench_answers(args, terminal),
            "facts": lambda: _bench_facts(args, terminal),
            "audio": lambda: _bench_audio(args, terminal),
            "turns": lambda: _bench_turns(args, terminal),
            "hearing": lambda: _bench_hearing(args, terminal),
            "recognisers": lambda: _bench_recognisers(args, terminal),
            "sounds": lambda: _bench_sounds(args, terminal),
            "overlap": lambda: _bench_overlap(args, terminal),
            "voices": lambda: _bench_voices(args, terminal),
            "startup": lambda: _bench_startup(args, terminal),
            "window": lambda: _bench_window(args, terminal),
        }[args.bench](),
        "demo": lambda: _demo(args, terminal),
        "models": lambda: model_commands.run(args, terminal),
        "doctor": lambda: _doctor(args, terminal),
        **dict.fromkeys(backend_commands.COMMANDS, lambda: backend_commands.run(args, terminal)),
        None: lambda: _window(args),
    }[args.command]
    try:
        return run()
    except UserError as error:
        terminal.note(str(error))
        terminal.document({"ok": False, "error": str(error)})
        if not args.json:
            show_unseen(str(error))
        return 2
    except KeyboardInterrupt:
        return 0
    except Exception as error:
        import traceback

        traceback.print_exc(file=sys.stderr)
        sentence = (
            f"The app itself failed ({type(error).__name__}: {error}). This is a fault of ours; "
            "the lines above help to find it."
        )
        terminal.note(sentence)
        terminal.document({"ok": False, "error": sentence})
        if not args.json:
            show_unseen(sentence)
        return 1


def _devices(terminal: Terminal) -> int:
    from app.audio.devices.listing import list_devices
    from app.audio.io.errors import AudioError

    try:
        devices = list_devices()
    except AudioError as error:
        raise UserError(str(error)) from error
    if not devices:
        terminal.say("There is no sound device. Plug in a microphone and a loudspeaker, and try again.")
    for device in devices:
        what = [f"{device.inputs} in" if device.inputs else "", f"{device.outputs} out" if device.outputs else ""]
        marks = [
            "default microphone" if device.is_default_input else "",
            "default loudspeaker" if device.is_default_output else "",
        ]
        chosen = ", ".join(filter(None, marks))
        terminal.say(
            f"{device.name}  ({device.host_api}; {', '.join(filter(None, what))}; {device.default_rate:.0f} Hz)"
            + (f"  ← {chosen}" if chosen else "")
        )
    terminal.document({"ok": True, "devices": [dataclasses.asdict(d) for d in devices]})
    return 0


async def _bench(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.latency import run_latency

    choice = SessionChoice(backend=backend_commands.choice_of(args), openings=False, duplex=True)  # answers are timed
    try:
        result = await run_latency(compose.session, choice, args.questions, terminal.progress)
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_answers(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.answers import WAYS, load_asked, run_answers
    from app.evaluation.simulated_parts import SimulatedParts
    from app.services import backends
    from app.session.clock import run_simulated

    choice = SessionChoice(backend=backend_commands.choice_of(args), openings=not args.no_openings)
    try:
        asked = load_asked(max(1, args.questions), Path(args.recordings) if args.recordings else None)
        options = {
            "ways": [way for way in WAYS if args.way in ("both", way)],
            "reader": Path(args.reader) if args.reader else None,
        }
        if args.simulated:
            with SimulatedParts(lambda made: backends.backend(made.backend)) as parts:
                asking = run_answers(parts.session, choice, asked, terminal.progress, simulated=True, **options)
                result = run_simulated(asking)
        else:
            result = asyncio.run(run_answers(compose.session, choice, asked, terminal.progress, **options))
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_facts(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.facts import load_facts, run_facts
    from app.evaluation.simulated_parts import SimulatedParts
    from app.models.catalogue import models_of
    from app.models.locations import is_here
    from app.models.speeds import load_speeds
    from app.services import backends
    from app.session.clock import run_simulated

    provider = args.backend or ("compatible" if args.base_url else "embedded")
    names = args.model or ([m.key for m in models_of("llm") if is_here(m.key)] if provider == "embedded" else [""])
    models = [BackendChoice(provider, name, args.base_url) for name in names]
    ways = args.way or ["typed", "hands-free"]
    try:
        facts = load_facts(max(1, args.questions))
        if args.simulated:
            with SimulatedParts(lambda made: backends.backend(made.backend), load_speeds()) as parts:
                asking = run_facts(parts.session, models, facts, terminal.progress, ways=ways, simulated=True)
                result = run_simulated(asking)
        else:
            asking = run_facts(compose.session, models, facts, terminal.progress, ways=ways)
            result = asyncio.run(asking)
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_audio(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.audio import run_audio

    try:
        result = run_audio(args.microphone, args.loudspeaker, rounds=max(5, args.rounds), progress=terminal.progress)
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_turns(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.endpointing import run_turns

    try:
        recordings = Path(args.recordings) if args.recordings else None
        people = Path(args.people) if args.people else None
        result = run_turns(
            cases=args.cases, part=args.part, recordings=recordings, people_in=people, progress=terminal.progress
        )
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_hearing(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.live_recognition import run_hearing

    try:
        result = run_hearing(
            Path(args.recordings),
            part=args.part,
            peak=args.peak,
            cases=args.cases,
            answers=args.answering,
            progress=terminal.progress,
        )
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_recognisers(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.recognisers import run_recognisers

    try:
        result = run_recognisers(
            people=Path(args.people) if args.people else None,
            folder=Path(args.recordings) if args.recordings else None,
            keys=args.only,
            language=args.language,
            cases=args.cases,
            progress=terminal.progress,
        )
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_sounds(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.sounds import run_sounds

    try:
        speech = Path(args.speech) if args.speech else None
        result = run_sounds(Path(args.folder), speech, progress=terminal.progress)
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_overlap(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.overlap import run_overlap

    try:
        recordings = Path(args.recordings) if args.recordings else None
        result = run_overlap(args.questions, recordings=recordings, seed=args.seed, progress=terminal.progress)
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_routing(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.evaluation.routing import run_routing

    try:
        result = run_routing(
            Path(args.mt_bench) if args.mt_bench else None, Path(args.questions) if args.questions else None
        )
    except (OSError, ValueError, KeyError) as error:
        raise UserError(
            f"The questions can't be read ({error}). Give files of lines like those in resources/routing."
        ) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_voices(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.voices import document, run_voices, table

    try:
        figures = run_voices(args.voice, max(1, args.sentences), terminal.progress)
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(table(figures))
    terminal.document({"ok": True, **document(figures)})
    return 0


def _bench_frame(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.frame import run_frame

    try:
        result = run_frame(
            [args.size],
            list(PRECISIONS) if args.precision == "all" else [args.precision],
            device=args.device,
            context=args.context or None,
            fill=args.context_fill,
            frames=max(1, args.frames),
            check=args.check,
            progress=terminal.progress,
        )
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": result.ok, **result.document()})
    return 0 if result.ok else 1


def _bench_startup(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.evaluation.startup import run_startup

    result = run_startup(
        max(1, args.starts), microphone=args.microphone, loudspeaker=args.loudspeaker, progress=terminal.progress
    )
    terminal.say(result.table())
    terminal.document({"ok": result.ok, **result.document()})
    return 0 if result.ok else 1


def _bench_window(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.evaluation.smoothness import run_smoothness

    result = run_smoothness(
        max(0.05, args.minutes), live_seconds=max(2.0, args.live), turns=max(2, args.turns), progress=terminal.progress
    )
    terminal.say(result.table())
    terminal.document({"ok": result.ok, **result.document()})
    return 0 if result.ok else 1


def _doctor(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.services.doctor import examine

    report = examine(backends=compose.backend_states(), weights_folder=args.weights, progress=terminal.progress)
    terminal.say(report.table())
    terminal.document({"ok": report.ok, **report.document()})
    return 0 if report.ok else 2


def _demo(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose

    return demo_command.run(args, terminal, compose.make_demo_service, lambda order: compose.open_window(order=order))


def _window(args: argparse.Namespace) -> int:
    from app.main import open_window

    return open_window(args.report_start)
