"""Reads and writes the stamp that records an environment's contents, and checks whether the app can use it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from installation.locks import locks_of_variant, variant_of
from installation.places import InstalledPlaces, Places, read_json, write_whole

STAMP_SCHEMA = 1


def read_stamp(places: Places) -> dict:
    """Returns the stamp; empty if it is missing, invalid or for another path, or if an installation was interrupted."""
    if places.unfinished.exists():
        return {}
    stamp = read_json(places.stamp)
    if stamp.get("schema") != STAMP_SCHEMA:
        return {}
    # Scripts in an environment contain its path, so a moved or copied one doesn't work.
    return stamp if stamp.get("venv") == str(places.venv) else {}


def write_stamp(places: Places, stamp: Mapping, venv: Path | None = None) -> None:
    """Writes the stamp atomically, then removes the marker of an unfinished installation.

    `venv`: the environment's final path, if it will be moved.
    """
    text = json.dumps({"schema": STAMP_SCHEMA, "venv": str(venv or places.venv), **stamp}, indent=1, sort_keys=True)
    write_whole(places.stamp, text + "\n")
    with contextlib.suppress(FileNotFoundError):
        places.unfinished.unlink()


def begin_install(places: Places) -> None:
    """Marks the environment as unfinished until `write_stamp`, so that an interrupted installation is repeated."""
    places.unfinished.write_text("An install is going on, or was interrupted.\n", encoding="utf-8")


def up_to_date(stamp: Mapping, wanted: Mapping[str, str]) -> bool:
    installed = stamp.get("locks", {})
    return bool(stamp) and all(installed.get(name) == value for name, value in wanted.items())


def is_ready(places: InstalledPlaces, adopt: bool = True) -> bool:
    """Returns whether the app can start immediately. Starts no process, to keep a normal start fast.

    `adopt`: also requires that no new environment is waiting to replace the current one.
    """
    return is_current(places) and not (adopt and places.next.venv.exists())


def is_current(places: InstalledPlaces) -> bool:
    """Returns whether the environment has the locked packages and was created with the current Python."""
    stamp = read_stamp(places)
    wanted = locks_of_variant(places, variant_of(stamp))
    return up_to_date(stamp, wanted) and same_base(places, stamp) and same_python(places, stamp)


def base_version(places: InstalledPlaces) -> str:
    """Returns the version of the installation's own Python, which runs this code; empty if it has none."""
    return sys.version if places.base_python.exists() else ""


def same_base(places: InstalledPlaces, stamp: Mapping) -> bool:
    """Returns whether the environment was created with the version of the installation's own Python."""
    return stamp.get("base", "") == base_version(places)


def linked_python(places: Places) -> str:
    """Returns the resolved path of an environment's Python if that is a link, otherwise an empty string."""
    return os.path.realpath(str(places.python)) if places.python.is_symlink() else ""


def same_python(places: InstalledPlaces, stamp: Mapping) -> bool:
    """Returns whether the environment still uses the Python that it was created with. Starts no process.

    A system upgrade can remove that Python or replace it with another version.
    """
    if not places.python.exists():
        return False
    linked = linked_python(places)
    if "linked" in stamp:
        return linked == stamp["linked"]
    # Stamps written by earlier versions don't contain the path, but its file name usually contains the version.
    named = re.search(r"python(3\.\d+)$", linked)
    return named is None or named.group(1) == stamp.get("python")
