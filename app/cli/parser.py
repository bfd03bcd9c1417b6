"""Reads the command line and runs a command, which prints lines or one JSON document.

Exit codes: 0 success, 2 for what the user can fix, 1 for a fault of the app.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from app.cli.output import Terminal
from app.platform.autostart import HIDDEN
from app.platform.standard_streams import show_unseen
from app.session.errors import UserError

MODULES = (
    "talk_command",
    "demo_command",
    "ptt_command",
    "model_commands",
    "doctor_command",
    "ask_command",
    "keys_command",
    "devices_command",
    "bench_command",
    "corpus_command",
    "train_command",
)
"""Each has `COMMANDS`, `add_commands` and `run`; in the order of the help."""


def build_parser(modules: Sequence[ModuleType]) -> argparse.ArgumentParser:
    """Builds the parser of the commands of `modules` and their options."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser = argparse.ArgumentParser(
        prog="kame-desktop",
        description="Talk with KAME: it speaks while it thinks. Without a command the window opens.",
        parents=[common],
    )
    parser.add_argument("--report-start", type=Path, help=argparse.SUPPRESS)  # for `bench startup`
    parser.add_argument(
        HIDDEN, action="store_true", help="open the window minimised, or in the tray where its icon is switched on"
    )
    if modules:
        commands = parser.add_subparsers(dest="command", metavar="COMMAND")
        for module in modules:
            module.add_commands(commands, common)
    return parser


def main(argv: list[str]) -> int:
    """Runs the command line; returns the exit code."""
    opens_window = not argv or argv[0] in (
        "--report-start",
        HIDDEN,
    )  # the window doesn't wait for the commands' imports
    modules = [] if opens_window else [import_module(f"app.cli.{name}") for name in MODULES]
    args = build_parser(modules).parse_args(argv)
    terminal = Terminal(args.json)
    try:
        return _run(args, modules, terminal)
    except UserError as error:
        code, sentence = 2, str(error)
    except KeyboardInterrupt:
        return 0
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        code, sentence = (
            1,
            (
                f"The app itself failed ({type(error).__name__}: {error}). This is a fault of the app; "
                "the lines above help to find it."
            ),
        )
    terminal.note(sentence)
    terminal.document({"ok": False, "error": sentence})
    if not args.json:
        show_unseen(sentence)
    return code


def _run(args: argparse.Namespace, modules: Sequence[ModuleType], terminal: Terminal) -> int:
    module = next((module for module in modules if args.command in module.COMMANDS), None)
    if module is None:
        from app.main import open_window

        return open_window(args.report_start, hidden=args.hidden)
    code: int = module.run(args, terminal)
    return code
