"""The `bench` measurements of single parts of the app, of speech, and of the window, and `duplex`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli.arguments import add_backend, choice_of, number, whole_number
from app.cli.bench_command import Bench, Progress, add_folder
from app.session.control import SessionChoice
from app.session.errors import UserError


def _add_routing(parser: argparse.ArgumentParser) -> None:
    add_folder(parser, "--mt-bench", "MT-Bench's question.jsonl", "FILE")
    add_folder(parser, "--questions", "labelled questions in place of the app's own", "FILE")


def _routing(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.routing import run_routing

    try:
        return run_routing(args.mt_bench, args.questions)
    except (OSError, ValueError, KeyError) as error:
        raise UserError(
            f"The questions can't be read ({error}). Give files of lines like those in resources/routing."
        ) from error


def _add_startup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--starts", type=whole_number, default=5, metavar="N", help="how many are timed")
    parser.add_argument("--microphone", default="", metavar="NAME", help="an input device by name")
    parser.add_argument("--loudspeaker", default="", metavar="NAME", help="an output device by name")


def _startup(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.window_speed import run_startup

    return run_startup(max(1, args.starts), microphone=args.microphone, loudspeaker=args.loudspeaker, progress=progress)


def _add_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=number, default=10.0, metavar="N", help="of talk, at full speed")
    parser.add_argument("--live", type=number, default=40.0, metavar="SECONDS", help="of talk, in real time")
    parser.add_argument("--turns", type=whole_number, default=2000, metavar="N", help="of the long conversation")


def _window(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.window_speed import run_smoothness

    return run_smoothness(
        max(0.05, args.minutes), live_seconds=max(2.0, args.live), turns=max(2, args.turns), progress=progress
    )


def _add_first_word(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--who", choices=("both", "synthetic", "people"), default="both", help="whose questions")
    parser.add_argument("--way", choices=("both", "hands-free", "talk button"), default="both", help="how turns end")
    add_folder(parser, "--people", "recordings of the WUW Corpus II: manifest.jsonl and the files that it names")
    parser.add_argument(
        "--out", type=Path, default=None, metavar="DIR", help="keeps the answers there; a stopped run continues"
    )
    parser.add_argument(
        "--talks",
        type=whole_number,
        default=0,
        metavar="N",
        help="with --out: only so many talks this time, of ten questions and some three minutes each",
    )
    parser.add_argument("--busy", action="store_true", help="measure even if the machine does other work")


def _first_word(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.first_word.asking import WAYS
    from app.research.benches.first_word.run import WHO, run_first_word

    return run_first_word(
        who=[who for who in WHO if args.who in ("both", who)],
        ways=[way for way in WAYS if args.way in ("both", way)],
        people=args.people,
        out=args.out,
        talks=args.talks,
        busy=args.busy,
        progress=progress,
    )


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", type=Path, metavar="A", help="a folder that a bench has written, or its --json")
    parser.add_argument("after", type=Path, metavar="B", help="another of the same bench")
    tolerance_help = "how many percent a figure may differ and count as the same (default: 10)"
    parser.add_argument("--tolerance", type=number, default=10.0, metavar="PERCENT", help=tolerance_help)
    add_folder(parser, "--html", "also write one page with all figures", "FILE")


def _compare(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.comparison import compare, page

    found = compare(args.before, args.after, max(0.0, args.tolerance) / 100)
    if args.html is not None:
        args.html.write_text(page(found, args.before, args.after), "utf-8")
    return found


def _add_hearing(parser: argparse.ArgumentParser) -> None:
    manifest_help = "recordings, and a manifest.jsonl: file, session, text"
    parser.add_argument("recordings", type=Path, metavar="FOLDER", help=manifest_help)
    part_help = "only speakers whose number has this remainder by 3 (2: held out)"
    parser.add_argument("--part", type=int, choices=(0, 1, 2), default=None, help=part_help)
    parser.add_argument("--peak", type=number, default=None, metavar="LEVEL", help="make all as loud as this (0 to 1)")
    parser.add_argument("--answering", action="store_true", help="the app answers: who goes on speaks over it")
    parser.add_argument("--cases", type=whole_number, default=0, metavar="N", help="how many (default: all)")


def _hearing(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.recognition import run_live_recognition

    return run_live_recognition(
        args.recordings,
        part=args.part,
        peak=args.peak,
        cases=args.cases,
        answers=args.answering,
        progress=progress,
    )


def _add_recognisers(parser: argparse.ArgumentParser) -> None:
    add_folder(parser, "--people", "real speakers, as for “hearing”; only those that nothing was fitted to")
    add_folder(parser, "--recordings", "other recordings, in place of ten synthetic questions")
    parser.add_argument("--only", action="append", default=[], metavar="MODEL", help="may be given again")
    parser.add_argument("--language", default="en", metavar="XX", help="what is spoken (default: en)")
    parser.add_argument("--cases", type=whole_number, default=0, metavar="N", help="how many (default: all)")


def _recognisers(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.recognition import run_recognisers

    return run_recognisers(
        people=args.people,
        folder=args.recordings,
        keys=args.only,
        language=args.language,
        cases=args.cases,
        progress=progress,
    )


def _add_voices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("voice", nargs="*", metavar="VOICE", help="voices of “models list” (default: all here)")
    parser.add_argument("--sentences", type=whole_number, default=20, metavar="N", help="the first so many, of 20")


@dataclass(frozen=True, slots=True)
class _VoicesResult:
    figures: Sequence[Any]

    def table(self) -> str:
        from app.research.benches.voices import table

        return table(self.figures)

    def document(self) -> dict[str, Any]:
        from app.research.benches.voices import document

        return document(self.figures)


def _voices(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.voices import run_voices

    return _VoicesResult(run_voices(args.voice, max(1, args.sentences), progress))


def _add_audio(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--microphone", default="", metavar="NAME", help="an input device by name")
    parser.add_argument("--loudspeaker", default="", metavar="NAME", help="an output device by name")
    parser.add_argument("--rounds", type=whole_number, default=40, metavar="N", help="how many round trips")


def _audio(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.audio import run_audio

    return run_audio(args.microphone, args.loudspeaker, rounds=max(5, args.rounds), progress=progress)


def _add_codec(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("codec", type=Path, metavar="FOLDER", help="weights with a voice's codec")
    parser.add_argument("--voice", default="piper-joe", metavar="KEY", help="the voice that it is of")
    add_folder(parser, "--reader", "a Whisper model for CTranslate2 that reads back (default: the app's)")


def _codec(args: argparse.Namespace, progress: Progress) -> Any:
    from app.frontend import require_torch

    require_torch()
    from app.frontend.kame.codec.voice_codec import load_codec
    from app.models.catalogue import DEFAULTS
    from app.models.layout import read_layout
    from app.models.locations import model_path
    from app.research.benches.recordings import Reader
    from app.research.benches.voices import run_codec

    reader = Reader(args.reader or model_path(DEFAULTS["stt"]))
    return run_codec(load_codec(read_layout(args.codec).mimi), model_path(args.voice), reader.read, progress=progress)


def _add_duplex(parser: argparse.ArgumentParser) -> None:
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


def _duplex(args: argparse.Namespace, progress: Progress) -> Any:
    """Runs the measurement. Raises UserError."""
    from app.models.selection import load_speeds
    from app.research.benches.duplex.run import run_duplex
    from app.research.benches.duplex.samples import find_samples
    from app.research.benches.timed_parts import SimulatedParts
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
    from app.research.benches.duplex.samples import make_sets
    from app.research.benches.pauses import people, spoken_cases
    from app.research.benches.recordings import SPEAKER_PARTS
    from app.research.benches.timed_parts import speech_models
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
    Bench(
        "first-word",
        "how soon the real window answers: sound, first word, first new word",
        _add_first_word,
        _first_word,
    ),
    Bench("routing", "the router's classifier on questions it has not seen", _add_routing, _routing),
    Bench("startup", "from the click to the window, and until one can talk", _add_startup, _startup, can_fail=True),
    Bench("compare", "two results of a bench, and what has become worse", _add_compare, _compare, can_fail=True),
    Bench("window", "whether the window stays smooth through a dense talk", _add_window, _window, can_fail=True),
    Bench("codec", "the codec of a small model: what it keeps of its voice", _add_codec, _codec),
    Bench("hearing", "words recognised live, against one pass over the same sound", _add_hearing, _hearing),
    Bench("recognisers", "the speech recognisers that are here", _add_recognisers, _recognisers),
    Bench("voices", "how quick, clear and loud the voices are that are here", _add_voices, _voices),
    Bench("audio", "from the loudspeaker back through the microphone", _add_audio, _audio),
    Bench("duplex", "pauses, ends of turns, backchannels, interruptions: Full-Duplex-Bench", _add_duplex, _duplex),
)
