"""Parses the command line and runs a command, which prints lines of text or one JSON document.

Exit codes: 0 for success, 2 for errors that the user can fix, 1 for an error in the app, 141 if the reader has closed
the output.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from app.cli.output import OutputLost, Terminal
from app.platform.autostart import HIDDEN
from app.platform.standard_streams import CLOSED_PIPE, show_unseen
from app.session.control import UserError
from app.untrusted.text import harmless, one_line

MODULES = (
    "talk_command",
    "serve_command",
    "demo_command",
    "ptt_command",
    "model_commands",
    "doctor_command",
    "ask_command",
    "keys_command",
    "devices_command",
    "bench_command",
)
"""The command modules in the order in which the help lists them; each defines `COMMANDS`, `add_commands` and `run`."""

RESEARCH = "app.research.commands"
"""The module with additional commands and benchmarks, which only a checkout contains."""
RESEARCH_COMMANDS = ("corpus", "train")


class _Parser(argparse.ArgumentParser):
    """Removes terminal control sequences from help and error messages, which may quote the user's arguments."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(harmless(message), file)


def build_parser(modules: Sequence[ModuleType]) -> argparse.ArgumentParser:
    """Builds the parser for the commands in `modules` and their options."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser = _Parser(
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
    )  # which needs none of the commands
    modules = [] if opens_window else _modules()
    parser = build_parser(modules)
    if any("\0" in word for word in argv):
        parser.error("an argument holds a NUL character, which no name has")
    absent = _absent(argv, modules)
    if absent:
        parser.error(absent)
    args = parser.parse_args(argv)
    terminal = Terminal(args.json)
    try:
        return _run(args, modules, terminal)
    except UserError as error:
        code, sentence = 2, str(error)
    except KeyboardInterrupt:
        return 0
    except OutputLost as lost:
        if not lost.sentence:
            return CLOSED_PIPE
        code, sentence = 2, lost.sentence
    except OSError as error:
        code, sentence = _about_path(error)
    except Exception as error:
        code, sentence = _explained(error)
    try:
        terminal.note(sentence)
        terminal.document({"ok": False, "error": sentence})
    except OutputLost:
        return code
    if not args.json:
        show_unseen(sentence)
    return code


def _modules() -> list[ModuleType]:
    """Imports the modules of all commands, including the research commands if they are installed."""
    modules = [import_module(f"app.cli.{name}") for name in MODULES]
    if find_spec(RESEARCH.rpartition(".")[0]) is not None:
        research = import_module(RESEARCH)
        import_module("app.cli.bench_command").add_benches(research.BENCHES)
        modules += research.COMMANDS
    return modules


def _absent(argv: Sequence[str], modules: Sequence[ModuleType]) -> str:
    """Returns an error message if `argv` names a research command that isn't installed; otherwise an empty string."""
    words = [word for word in argv[:2] if not word.startswith("-")]
    if not words or any(module.COMMANDS == ("corpus",) for module in modules):
        return ""
    known = import_module("app.cli.bench_command").BENCHES
    if words[0] in RESEARCH_COMMANDS or (words[0] == "bench" and len(words) > 1 and words[1] not in known):
        name = " ".join(words if words[0] == "bench" else words[:1])
        return (
            f"“{name}” is one of the project's research tools, which the installed app leaves out. In a copy of the "
            f"source code, “python3 packaging/bootstrap.py run {name}” runs it."
        )
    return ""


def _explained(error: Exception) -> tuple[int, str]:
    """Returns the exit code and a user-facing message for an exception, which is logged if the user can't fix it."""
    from app.cli.fault_log import logged

    with suppress(ImportError):  # of a package that is missing, which may also be the error itself
        from app.main import USER_ERRORS

        if isinstance(error, USER_ERRORS):
            return 2, str(error)
    return 1, logged(error)


def _about_path(error: OSError) -> tuple[int, str]:
    """Returns the exit code and a user-facing message for an OSError; users can fix it if it names a file."""
    from app.cli.fault_log import logged

    sentence = logged(error)
    if not isinstance(error.filename, str):
        return 1, sentence
    return 2, f"“{one_line(error.filename, 300)}” can't be used: {error.strerror}. Check the path and your rights."


def _run(args: argparse.Namespace, modules: Sequence[ModuleType], terminal: Terminal) -> int:
    module = next((module for module in modules if args.command in module.COMMANDS), None)
    if module is None:
        from app.main import open_window

        return open_window(args.report_start, hidden=args.hidden)
    from app.cli.fault_log import faults_logged

    with faults_logged(terminal):
        code: int = module.run(args, terminal)
    return code
