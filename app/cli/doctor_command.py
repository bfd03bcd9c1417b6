"""The command `doctor`: reports this machine's hardware and software, and whether the app can run on it."""

from __future__ import annotations

import argparse
from typing import Any

from app.cli.output import Terminal

COMMANDS = ("doctor",)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
    doctor = commands.add_parser("doctor", parents=[common], help="what this machine has, and whether it will do")
    doctor.add_argument("--weights", default="", metavar="FOLDER", help="where KAME's weights are")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Examines the machine and prints the report; returns the exit code."""
    from app.services.doctor import examine
    from app.settings.declarations import Settings

    report = examine(Settings.load(), args.weights, terminal.progress)
    terminal.say(report.table())
    terminal.document({"ok": report.ok, **report.document()})
    return 0 if report.ok else 2
