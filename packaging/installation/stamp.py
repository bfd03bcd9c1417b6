"""What an environment contains, by the stamp inside it, and whether that is what the app needs."""

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
    """Reads the stamp; empty if there is none, it can't be read, or an install was interrupted."""
    if places.unfinished.exists():
        return {}
    stamp = read_json(places.stamp)
    if stamp.get("schema") != STAMP_SCHEMA:
        return {}
    # Scripts in an environment contain its path: one that was moved or copied does not work.
    return stamp if stamp.get("venv") == str(places.venv) else {}


def write_stamp(places: Places, stamp: Mapping, venv: Path | None = None) -> None:
    """Writes the stamp atomically, then removes the mark of an unfinished install.

    `venv`: where the environment will be, if that is elsewhere.
    """
    text = json.dumps({"schema": STAMP_SCHEMA, "venv": str(venv or places.venv), **stamp}, indent=1, sort_keys=True)
    write_whole(places.stamp, text + "\n")
    with contextlib.suppress(FileNotFoundError):
        places.unfinished.unlink()


def begin_install(places: Places) -> None:
    """Marks the environment as unfinished until the stamp is written: an interrupted install is made again."""
    places.unfinished.write_text("An install is going on, or was interrupted.\n", encoding="utf-8")


def up_to_date(stamp: Mapping, wanted: Mapping[str, str]) -> bool:
    installed = stamp.get("locks", {})
    return bool(stamp) and all(installed.get(name) == value for name, value in wanted.items())


def is_ready(places: InstalledPlaces, adopt: bool = True) -> bool:
    """Returns whether the app can start immediately. Starts no process, to keep a normal start fast.

    `adopt`: a waiting environment must replace it first.
    """
    return is_current(places) and not (adopt and places.next.venv.exists())


def is_current(places: InstalledPlaces) -> bool:
    """Returns whether the environment contains the packages in the locks."""
    stamp = read_stamp(places)
    wanted = locks_of_variant(places, variant_of(stamp))
    return up_to_date(stamp, wanted) and same_base(places, stamp) and same_python(places, stamp)


def base_version(places: InstalledPlaces) -> str:
    """Returns the version of the installation's own Python, which runs this; empty if it has none."""
    return sys.version if places.base_python.exists() else ""


def same_base(places: InstalledPlaces, stamp: Mapping) -> bool:
    """Returns whether the environment was made with the installation's current Python."""
    return stamp.get("base", "") == base_version(places)


def linked_python(places: Places) -> str:
    """Returns the target if an environment's Python is a link, else an empty string."""
    return os.path.realpath(str(places.python)) if places.python.is_symlink() else ""


def same_python(places: InstalledPlaces, stamp: Mapping) -> bool:
    """Returns whether the environment still runs on the Python that it was made with. Starts no process.

    An upgrade of the system can remove that Python or replace it by another version.
    """
    if not places.python.exists():
        return False
    linked = linked_python(places)
    if "linked" in stamp:
        return linked == stamp["linked"]
    # Stamps of earlier versions don't name the program, but its own name usually contains its version.
    named = re.search(r"python(3\.\d+)$", linked)
    return named is None or named.group(1) == stamp.get("python")
