"""The `bench` measurements of speech recognition and voices: hearing, recognisers, voices and audio."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli.arguments import number, whole_number
from app.cli.bench import Bench, Progress, add_folder


def _add_hearing(parser: argparse.ArgumentParser) -> None:
    manifest_help = "recordings, and a manifest.jsonl: file, session, text"
    parser.add_argument("recordings", type=Path, metavar="FOLDER", help=manifest_help)
    part_help = "only speakers whose number has this remainder by 3 (2: held out)"
    parser.add_argument("--part", type=int, choices=(0, 1, 2), default=None, help=part_help)
    parser.add_argument("--peak", type=number, default=None, metavar="LEVEL", help="make all as loud as this (0 to 1)")
    parser.add_argument("--answering", action="store_true", help="the app answers: who goes on speaks over it")
    parser.add_argument("--cases", type=whole_number, default=0, metavar="N", help="how many (default: all)")


def _hearing(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.live_recognition import run_live_recognition

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
    from app.research.benches.recognisers import run_recognisers

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
    from app.frontend.kame.codec.codec_file import load_codec
    from app.models.catalogue import DEFAULTS
    from app.models.layout import read_layout
    from app.models.locations import model_path
    from app.research.benches.codec import run_codec
    from app.research.benches.reader import Reader

    reader = Reader(args.reader or model_path(DEFAULTS["stt"]))
    return run_codec(load_codec(read_layout(args.codec).mimi), model_path(args.voice), reader.read, progress=progress)


BENCHES = (
    Bench("codec", "the codec of a small model: what it keeps of its voice", _add_codec, _codec),
    Bench("hearing", "words recognised live, against one pass over the same sound", _add_hearing, _hearing),
    Bench("recognisers", "the speech recognisers that are here", _add_recognisers, _recognisers),
    Bench("voices", "how quick, clear and loud the voices are that are here", _add_voices, _voices),
    Bench("audio", "from the loudspeaker back through the microphone", _add_audio, _audio),
)
