"""Options of the research commands, described as data, and benches made of them.

Most options of a bench are named after parameters of its `run_…` function, which is imported only when it is called.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from app.cli.arguments import add_backend, number, whole_number
from app.cli.bench_command import Bench, Progress

Option = tuple[str, dict[str, Any]]
"""An option's name and its keyword arguments for argparse's `add_argument`."""
Run = Callable[[argparse.Namespace, Progress], Any]


def at_least(least: Any, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Wraps a number parser so that values below `least` are raised to it."""
    return wraps(read)(lambda text: max(least, read(text)))


def value(name: str, help: str, metavar: str = "", **more: Any) -> Option:
    """Returns an option for text, empty by default."""
    return name, {"default": "", "help": help} | ({"metavar": metavar} if metavar else {}) | more


def count(name: str, default: int, help: str, least: int = 0, none: str = "all", **more: Any) -> Option:
    """Returns an integer option; values below `least` are raised to it. `none`: what a default of 0 means."""
    how = {"type": at_least(least, whole_number), "default": default, "metavar": "N"}
    return name, how | {"help": f"{help} (default: {default or none})"} | more


def real(name: str, default: float, metavar: str, help: str, least: float = 0.0, **more: Any) -> Option:
    """Returns an option for a real number; values below `least` are raised to it."""
    how = {"type": at_least(least, number), "default": default, "metavar": metavar}
    return name, how | {"help": f"{help} (default: {default:g})"} | more


def folder(name: str, help: str, metavar: str = "FOLDER", **more: Any) -> Option:
    """Returns an option for a folder or file, None by default."""
    return name, {"type": Path, "metavar": metavar, "help": help} | more


def flag(name: str, help: str, **more: Any) -> Option:
    """Returns an option without a value."""
    return name, {"action": "store_true", "help": help} | more


def one_of(name: str, choices: Sequence[Any], help: str, **more: Any) -> Option:
    """Returns an option with a fixed set of values; the first is the default."""
    return name, {"choices": choices, "default": choices[0], "help": help} | more


def add(parser: argparse.ArgumentParser, *options: Option) -> argparse.ArgumentParser:
    """Adds options to a parser and returns it."""
    for name, how in options:
        parser.add_argument(name, **how)
    return parser


def calls(function: str) -> Run:
    """Returns a `Bench.run` that calls a function, passing options to the parameters of the same name."""

    def run(args: argparse.Namespace, progress: Progress) -> Any:
        module, _, name = function.rpartition(".")
        called = getattr(import_module(module), name)
        options = {**vars(args), "progress": progress}
        return called(**{name: options[name] for name in signature(called).parameters if name in options})

    return run


def bench(
    name: str, help: str, run: Run | str, *options: Option, backend: bool = False, can_fail: bool = False
) -> Bench:
    """Creates a bench. `run` may be a function's name, see `calls`.

    `backend`: adds the options that choose a back-end.
    """

    def arguments(parser: argparse.ArgumentParser) -> None:
        add(parser, *options)
        if backend:
            add_backend(parser)

    return Bench(name, help, arguments, calls(run) if isinstance(run, str) else run, can_fail)
