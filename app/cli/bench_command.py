"""The command `bench`: runs a benchmark and prints its result as a table or a JSON document.

Installed apps provide only `card`, which shows whether KAME works on a graphics card, and how fast; in a checkout,
`app.research` adds others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli import card_command
from app.cli.output import Terminal

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark.

    - `run`: returns an object with `table()` and `document()`, and with `ok` if `can_fail` is set.
    - `command`: instead of `run`, prints each result as soon as it is there, and returns the exit code.
    """

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Progress], Any] | None = None
    can_fail: bool = False
    command: Callable[[argparse.Namespace, Terminal], int] | None = None


def add_folder(parser: argparse.ArgumentParser, option: str, help: str, metavar: str = "FOLDER") -> None:
    """Adds an option that takes the path of a folder or file and defaults to None."""
    parser.add_argument(option, type=Path, default=None, metavar=metavar, help=help)


COMMANDS = ("bench",)
BENCHES = {
    "card": Bench(
        "card",
        "KAME on this machine's graphics card: what works, and how fast",
        card_command.add_arguments,
        command=card_command.run,
    ),
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
    if bench.command is not None:
        return bench.command(args, terminal)
    assert bench.run is not None
    result = bench.run(args, terminal.progress)
    ok = not bench.can_fail or result.ok
    terminal.say(result.table())
    terminal.document({"ok": ok, "bench": bench.name, **result.document()})
    return 0 if ok else 1
