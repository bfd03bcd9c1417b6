"""Replaces the environment in use with a new one by two renames, and cleans up after interrupted set-ups."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

from installation.environment import remove_tree
from installation.exclusion import only_one
from installation.places import WINDOWS, InstalledPlaces, Places, read_json
from installation.problems import Problem
from installation.stamp import STAMP_SCHEMA
from installation.steps import Steps


def recover(places: InstalledPlaces) -> None:
    """Completes or rolls back a replacement that was interrupted between its two renames."""
    if places.venv.exists():
        return
    for new in (places.new, places.next):
        if is_complete(new, places):
            move(new.venv, places.venv)
            shutil.rmtree(str(places.old), ignore_errors=True)
            return
    if places.old.exists():
        move(places.old, places.venv)


def is_complete(new: Places, places: InstalledPlaces) -> bool:
    """Returns whether a new environment is complete, that is, has a stamp, which is written last."""
    stamp = read_json(new.stamp)
    return stamp.get("schema") == STAMP_SCHEMA and stamp.get("venv") == str(places.venv)


def adopt_next(places: InstalledPlaces) -> None:
    """Replaces the environment in use with the one in `next`, if any, which was built while the app was running.

    On Windows, this isn't possible while the app is still running; the new environment then stays in `next`.
    """
    if not places.next.venv.exists():
        return
    if not is_complete(places.next, places):
        remove_tree(places.next.venv)
        return
    if places.old.exists():
        remove_tree(places.old)
    try:
        replace(places, places.next)
    except Problem:
        recover(places)


def clean_up(places: InstalledPlaces) -> None:
    """Removes the leftovers of an interrupted set-up, but keeps downloaded packages in the cache."""
    for folder in (places.new.venv, places.old):
        if folder.exists():
            remove_tree(folder)
    for half in places.cache.glob(".tmp*"):
        remove_tree(half)


def clone(source: Places, target: Path, steps: Steps) -> None:
    """Copies an environment, with hard links if the file system supports them, which is fast and takes no space.

    Leaves out bytecode, which Python regenerates, and the stamp, so that an incomplete copy is never used.
    """

    def link(one: str, other: str) -> None:
        steps.tick()
        try:
            os.link(one, other)
        except OSError:
            shutil.copy2(one, other)

    def left_out(folder: str, names: list[str]) -> set[str]:
        return {"__pycache__", *([source.stamp.name] if Path(folder) == source.venv else [])} & set(names)

    shutil.copytree(str(source.venv), str(target), symlinks=True, ignore=left_out, copy_function=link)


def replace(places: InstalledPlaces, new: Places) -> None:
    """Replaces the environment in use with `new` and deletes the old one."""
    if places.venv.exists():
        move(places.venv, places.old)
    move(new.venv, places.venv)
    if places.old.exists():
        # The next set-up deletes files that are still in use.
        shutil.rmtree(str(places.old), ignore_errors=True)


def move(source: Path, target: Path) -> None:
    """Renames a folder. Raises Problem on failure.

    On Windows it retries for a few seconds, since virus scanners open every new file.
    """
    for seconds in (0.2, 0.5, 1, 2, 0) if WINDOWS else (0,):
        try:
            os.replace(str(source), str(target))
            return
        except OSError as error:
            if seconds:
                time.sleep(seconds)
                continue
            raise Problem(
                f"The folder {source} could not be renamed: {error}.",
                "A program still uses it, most likely KAME Desktop itself, so the new version can't take its place.",
                "Close KAME Desktop, then try again; what was fetched is kept.",
            ) from error


def remove_environment(places: InstalledPlaces, steps: Steps) -> None:
    """Waits for any running set-up, then deletes everything that set-ups have created."""
    if not places.traces():
        return
    with only_one(places.set_up_lock, steps):
        for path in places.traces():
            if path != places.set_up_lock:
                remove_tree(path)
        with contextlib.suppress(OSError):  # Windows doesn't delete open files
            places.set_up_lock.unlink()
    if WINDOWS:
        with contextlib.suppress(OSError):  # another set-up may hold it by now
            places.set_up_lock.unlink()


def remove_leftovers(places: InstalledPlaces) -> None:
    """Deletes the cache of downloaded packages once the environment is in place.

    The cache is renamed first, so that if the deletion fails or is interrupted, the app's next start completes it.
    """
    remove_discarded(places)
    if places.cache.exists():
        with contextlib.suppress(Problem):
            move(places.cache, places.discarded)
    for folder in (places.cache, places.discarded):
        shutil.rmtree(str(folder), ignore_errors=True)


def remove_discarded(places: InstalledPlaces) -> None:
    """Deletes what is left of a discarded cache."""
    if places.discarded.exists():
        shutil.rmtree(str(places.discarded), ignore_errors=True)
