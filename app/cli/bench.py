"""Defines what a measurement of the command `bench` consists of, and the arguments that several of them have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """One measurement. `run` returns a result with `table()` and `document()`; with `can_fail` also `ok`."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Progress], Any]
    can_fail: bool = False


def add_folder(parser: argparse.ArgumentParser, option: str, help: str, metavar: str = "FOLDER") -> None:
    """Adds an option for a folder or file, None by default."""
    parser.add_argument(option, type=Path, default=None, metavar=metavar, help=help)
