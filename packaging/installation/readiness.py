"""Check whether the environment is the one that the app needs, without starting a process."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from installation.installed_places import InstalledPlaces
from installation.places import Places
from installation.stamp import read_stamp, up_to_date
from installation.variants import variant_of, wanted_locks


def is_ready(places: InstalledPlaces, adopt: bool = True) -> bool:
    """Tell whether the app can start at once. Starts no process, so that a normal start waits for nothing.

    `adopt`: a waiting environment must replace it first.
    """
    return is_current(places) and not (adopt and places.next.venv.exists())


def is_current(places: InstalledPlaces) -> bool:
    """Tell whether the environment contains what the locks name."""
    stamp = read_stamp(places)
    wanted = wanted_locks(places, variant_of(stamp))
    return up_to_date(stamp, wanted) and same_base(places, stamp) and same_python(places, stamp)


def base_version(places: InstalledPlaces) -> str:
    """Return the version of the installation's own Python, which runs this; empty if it has none."""
    return sys.version if places.base_python.exists() else ""


def same_base(places: InstalledPlaces, stamp: Mapping) -> bool:
    """Tell whether the environment was made with the installation's current Python."""
    return stamp.get("base", "") == base_version(places)


def linked_python(places: Places) -> str:
    """Return the target if an environment's Python is a link, else an empty string."""
    return os.path.realpath(str(places.python)) if places.python.is_symlink() else ""


def same_python(places: InstalledPlaces, stamp: Mapping) -> bool:
    """Tell whether the environment still runs on the Python that it was made with. Starts no process.

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
