"""Skips a test that needs a program, library or file of the system that set-up could not install."""

import sys
from pathlib import Path

import pytest

PACKAGING = str(Path(__file__).resolve().parents[2] / "packaging")
if PACKAGING not in sys.path:
    sys.path.append(PACKAGING)  # pytest has done it, a script that uses the tests' support has not

from installation.system_parts import TESTED_PARTS, missing_parts  # noqa: E402

LEFT_OUT = "left out for want of "


def need(*names: str) -> None:
    """Skips the running test if one of these parts is missing; they are named as in packaging's list of parts."""
    parts = {part.name: part for part in TESTED_PARTS}
    missing = missing_parts([parts[name] for name in names])
    if missing:
        pytest.skip(LEFT_OUT + ", ".join(part.name for part in missing))
