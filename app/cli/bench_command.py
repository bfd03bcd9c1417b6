"""The command `bench`: measures the app, and prints one table or document for each measurement."""

from __future__ import annotations

import argparse
from typing import Any

from app.cli import bench_duplex, bench_mtbench, bench_parts, bench_reasoning, bench_rivals, bench_speech, bench_talks
from app.cli.faults import faults_as_sentences
from app.cli.output import Terminal

COMMANDS = ("bench",)
_MODULES = (bench_talks, bench_mtbench, bench_reasoning, bench_duplex, bench_rivals, bench_speech, bench_parts)
BENCHES = {bench.name: bench for module in _MODULES for bench in module.BENCHES}


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    benches = commands.add_parser("bench", parents=[common], help="measure").add_subparsers(
        dest="bench", metavar="WHAT", required=True
    )
    for bench in BENCHES.values():
        bench.add_arguments(benches.add_parser(bench.name, parents=[common], help=bench.help))


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs one measurement; returns the exit code, 1 if it has failed. Raises UserError."""
    bench = BENCHES[args.bench]
    with faults_as_sentences():
        result = bench.run(args, terminal.progress)
    ok = not bench.can_fail or result.ok
    terminal.say(result.table())
    terminal.document({"ok": ok, "bench": bench.name, **result.document()})
    return 0 if ok else 1
