"""The command `bench`: runs a benchmark and prints its result as a table or a JSON document.

Installed apps provide only `frame`, which measures whether a machine is fast enough; in a checkout, `app.research` adds
others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli.arguments import whole_number
from app.cli.output import Terminal
from app.models.fit import PRECISIONS

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark. `run` returns an object with `table()` and `document()`, and with `ok` if `can_fail` is set."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Progress], Any]
    can_fail: bool = False


def add_folder(parser: argparse.ArgumentParser, option: str, help: str, metavar: str = "FOLDER") -> None:
    """Adds an option that takes the path of a folder or file and defaults to None."""
    parser.add_argument(option, type=Path, default=None, metavar=metavar, help=help)


COMMANDS = ("bench",)


def _add_frame(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--random-weights",
        action="store_true",
        required=True,
        help="weights of the true shape; their values don't matter to the speed",
    )
    parser.add_argument("--size", choices=("7b", "tiny"), default="7b", help="the published shape, or a small one")
    parser.add_argument("--precision", choices=("all", *PRECISIONS), default="bf16")
    context_help = "frames of memory (default: 3000)"
    parser.add_argument("--context", type=whole_number, default=0, metavar="FRAMES", help=context_help)
    fill_help = "how many of them are filled (default: all)"
    parser.add_argument("--context-fill", type=whole_number, default=None, metavar="FRAMES", help=fill_help)
    parser.add_argument("--frames", type=whole_number, default=200, metavar="N", help="how many steps are timed")
    parser.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--check", action="store_true", help="also compare this machine's paths, to the bit")


def _frame(args: argparse.Namespace, progress: Progress) -> Any:
    from app.services.frame_bench import run_frame

    return run_frame(
        [args.size],
        list(PRECISIONS) if args.precision == "all" else [args.precision],
        device=args.device,
        context=args.context or None,
        fill=args.context_fill,
        frames=max(1, args.frames),
        check=args.check,
        progress=progress,
    )


BENCHES = {
    "frame": Bench("frame", "one step of the model, in parts, on this machine", _add_frame, _frame, can_fail=True),
}


def add_benches(benches: Sequence[Bench]) -> None:
    """Registers additional benchmarks for `bench`."""
    BENCHES.update({bench.name: bench for bench in benches})


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
    benches = commands.add_parser("bench", parents=[common], help="measure").add_subparsers(
        dest="bench", metavar="WHAT", required=True
    )
    for bench in BENCHES.values():
        bench.add_arguments(benches.add_parser(bench.name, parents=[common], help=bench.help))


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs a benchmark; returns the exit code, 1 if the benchmark failed. Raises UserError."""
    bench = BENCHES[args.bench]
    result = bench.run(args, terminal.progress)
    ok = not bench.can_fail or result.ok
    terminal.say(result.table())
    terminal.document({"ok": ok, "bench": bench.name, **result.document()})
    return 0 if ok else 1
