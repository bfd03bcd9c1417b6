"""The `bench` measurements of single parts of the app, and of its window: routing, start, smoothness, first words."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.cli.arguments import number, whole_number
from app.cli.bench import Bench, Progress, add_folder
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
    from app.research.benches.startup import run_startup

    return run_startup(max(1, args.starts), microphone=args.microphone, loudspeaker=args.loudspeaker, progress=progress)


def _add_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=number, default=10.0, metavar="N", help="of talk, at full speed")
    parser.add_argument("--live", type=number, default=40.0, metavar="SECONDS", help="of talk, in real time")
    parser.add_argument("--turns", type=whole_number, default=2000, metavar="N", help="of the long conversation")


def _window(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.smoothness import run_smoothness

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
    from app.research.benches.comparison import compare
    from app.research.benches.comparison_page import page

    found = compare(args.before, args.after, max(0.0, args.tolerance) / 100)
    if args.html is not None:
        args.html.write_text(page(found, args.before, args.after), "utf-8")
    return found


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
)
