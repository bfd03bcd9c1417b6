"""The stamp, a file that records what an environment contains."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from installation.files import write_whole
from installation.places import Places

STAMP_SCHEMA = 1


def read_json(path: Path) -> dict:
    """Read an object from a JSON file; empty if there is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def read_stamp(places: Places) -> dict:
    """Read the stamp; empty if there is none, it can't be read, or an install was interrupted."""
    if places.unfinished.exists():
        return {}
    stamp = read_json(places.stamp)
    if stamp.get("schema") != STAMP_SCHEMA:
        return {}
    # Scripts in an environment contain its path: one that was moved or copied does not work.
    return stamp if stamp.get("venv") == str(places.venv) else {}


def write_stamp(places: Places, stamp: Mapping, venv: Path | None = None) -> None:
    """Write the stamp atomically, then remove the mark of an unfinished install.

    `venv`: where the environment will be, if that is elsewhere.
    """
    text = json.dumps({"schema": STAMP_SCHEMA, "venv": str(venv or places.venv), **stamp}, indent=1, sort_keys=True)
    write_whole(places.stamp, text + "\n")
    with contextlib.suppress(FileNotFoundError):
        places.unfinished.unlink()


def begin_install(places: Places) -> None:
    """Mark the environment as unfinished until the stamp is written: an interrupted install is made again."""
    places.unfinished.write_text("An install is going on, or was interrupted.\n", encoding="utf-8")


def up_to_date(stamp: Mapping, wanted: Mapping[str, str]) -> bool:
    installed = stamp.get("locks", {})
    return bool(stamp) and all(installed.get(name) == value for name, value in wanted.items())
