"""Sets up, upgrades and repairs the environment of an installed app."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from installation.card import (
    UNPROVEN,
    WINDOWS_BUILDS,
    CardFailed,
    Cost,
    TorchBuild,
    check_card,
    cost_of,
    is_proven,
    missing_pins,
    pins_of,
    torch_for_windows,
    torch_pin,
)
from installation.environment import add_project_to_path, candidates, find_pythons, venv_version
from installation.exclusion import only_one
from installation.handing_over import window_is_open
from installation.locks import (
    EMBEDDED,
    Variant,
    bytes_in,
    installed_pins,
    locks_of_variant,
    read_sizes,
    split_torch,
    variant_of,
    with_device,
)
from installation.places import WINDOWS, InstalledPlaces, Places, read_json, write_whole
from installation.problems import USERS, NothingFits, Problem, ToolFailed, problem_of
from installation.replacement import adopt_next, clean_up, clone, recover, remove_discarded, remove_leftovers, replace
from installation.stamp import base_version, is_current, is_ready, linked_python, read_stamp, same_base, write_stamp
from installation.steps import HASHED, Steps

LOCKS = EMBEDDED.locks
"""The locks that every installation needs."""

WITHOUT_CARD = "To continue without what the graphics card needs, type: kame-desktop card remove"
DOWNLOADED_PYTHON = "3.12"


def tool_variables(places: InstalledPlaces, env: Mapping[str, str]) -> dict[str, str]:
    """Returns `env` with variables that make uv write only next to the environment."""
    more = {"UV_CACHE_DIR": str(places.cache), "UV_LINK_MODE": "hardlink", "UV_PYTHON_INSTALL_DIR": str(places.pythons)}
    return {**env, **more}


class Provision:
    """A set-up, upgrade or repair of an installed app."""

    def __init__(self, places: InstalledPlaces, steps: Steps, env: Mapping[str, str]) -> None:
        self.places, self.steps, self.env = places, steps, tool_variables(places, env)

    def ensure(self, repair: bool = False, adopt: bool = True) -> None:
        """Sets up what is missing; with `repair`, also reinstalls damaged packages. Raises Problem on failure.

        `adopt`: allows a waiting environment to replace the current one, though never while the app's window is open.
        """
        adopt = adopt and self.places.next.venv.exists() and not window_is_open()
        remove_discarded(self.places)
        if not repair and is_ready(self.places, adopt):
            return
        with only_one(self.places.set_up_lock, self.steps) as hold:
            self.hold = hold
            recover(self.places)
            if adopt or not is_current(self.places):
                adopt_next(self.places)
            if not repair and is_current(self.places):
                return
            clean_up(self.places)
            damaged = self._damaged() if repair else []
            if repair and not damaged and self._is_whole():
                self.steps.say("All files are as they should be.")
                return
            self._make(damaged)
            self.put_in_place()

    def put_in_place(self) -> None:
        """Replaces the environment in use with the new one."""
        with self.steps.step("Putting it in place"):
            replace(self.places, self.places.new)
            remove_leftovers(self.places)

    def _damaged(self) -> list[str]:
        """Returns the .dist-info names of damaged packages. Raises Problem if the app's own files are damaged."""
        with self.steps.step("Checking all files"):
            broken = damaged_program_files(self.places.root)
            if broken:
                raise Problem(
                    f"Files of the program are missing or changed: {', '.join(broken[:3])}"
                    + (f" and {len(broken) - 3} more." if len(broken) > 3 else "."),
                    "They came with the installer and can't be fetched one by one.",
                    "Install KAME Desktop again over it; your settings and conversations stay.",
                )
            folder = self.places.site_packages
            return [path.name for path in damaged_packages(folder, self.steps)] if folder else []

    def _is_whole(self) -> bool:
        """Returns whether all locked packages are installed and the app can be imported."""
        places, stamp = self.places, read_stamp(self.places)
        version = venv_version(places, self.env)
        if not is_current(places) or version != stamp.get("python"):
            return False
        missing = missing_pins(places.locks, version, variant_of(stamp), places.site_packages)
        return not missing and self._imports_app(places)

    def _imports_app(self, places: Places) -> bool:
        try:
            self.steps.run([places.python, "-P", "-c", "import app"], self.env, self.hold, self.places.venv.parent)
        except ToolFailed:
            return False
        return True

    def _make(self, damaged: list[str]) -> None:
        """Builds a new environment of the current variant, or without the card's packages if they don't work.

        Other failures, such as a network outage, are temporary and don't cause the card's packages to be removed.
        """
        chosen = variant_of(read_stamp(self.places))
        try:
            self.build(chosen, damaged)
            return
        except (CardFailed, NothingFits) as problem:
            if not chosen.backend:
                raise
            lost = problem
        except Problem as problem:
            if not chosen.backend:
                raise
            remedy = f"{problem.remedy} {WITHOUT_CARD}"
            raise Problem(problem.happened, problem.meaning, remedy, problem.details) from problem
        self.steps.say(f"{lost.happened} {lost.meaning} KAME Desktop continues with the built-in voice.")
        clean_up(self.places)
        self.build(EMBEDDED, damaged, lost=f"{lost.happened} {lost.meaning}")

    def build(self, variant: Variant, damaged: Sequence[str] = (), lost: str = "") -> None:
        """Builds a new environment next to the one in use and checks that it works. Raises Problem if it doesn't.

        - `variant`: the contents of the environment
        - `damaged`: the .dist-info folders of packages to reinstall
        - `lost`: why the environment no longer contains a card's packages, for the stamp
        """
        places, new = self.places, self.places.new
        version, stamp = venv_version(places, self.env), read_stamp(places)
        if version and stamp.get("python") == version and same_base(places, stamp):
            with self.steps.step("Preparing the environment"):
                clone(places, new.venv, self.steps)
            for name in damaged:
                # A package without metadata counts as missing and is reinstalled.
                shutil.rmtree(str(new.site_packages / name))
        else:
            self._make_empty()
            version = venv_version(new, self.env) or ""
        Fetching(places, self.steps, self._tool).install(variant, version)
        add_project_to_path(new)
        if not self._imports_app(new):
            raise Problem(
                "The new environment does not work.",
                "Its Python does not start or can't load the app, although all files are there.",
                f"Try again. If it stays so, install KAME Desktop again. All output is in {places.log}.",
            )
        if variant.backend:
            check_card(places, self.steps, with_device(self.env, variant), self.hold)
            card = {"backend": variant.backend, "device": variant.device}
        else:
            card = {"lost": lost} if lost else {}
        made = {
            "python": version,
            "base": base_version(places),
            "linked": linked_python(new),
            "locks": locks_of_variant(places, variant),
            "card": card,
        }
        write_stamp(new, made, venv=places.venv)

    def _make_empty(self) -> None:
        try:
            with self.steps.step("Making the environment"):
                python = self._base_python()
                self._tool("venv", "--relocatable", "--no-project", "--python", python, self.places.new.venv)
        except ToolFailed as failure:
            raise problem_of("Making the environment", failure, self.places.log, USERS) from failure

    def _base_python(self) -> str:
        """Returns the path of the base Python: the installation's own, the system's best, or one that uv downloads."""
        if self.places.base_python.exists():
            return str(self.places.base_python)
        running = getattr(sys, "_base_executable", None) or sys.executable
        found = find_pythons(candidates(self.env, running), self.env)
        if found and found[0].fits:
            # Not a link like /bin/python3, which may point to another version after a system upgrade.
            return os.path.realpath(found[0].executable)
        self._tool("python", "install", DOWNLOADED_PYTHON)
        return self._tool("python", "find", "--managed-python", DOWNLOADED_PYTHON).strip().splitlines()[-1]

    def _tool(self, *words: object) -> str:
        return self.steps.run([self.places.uv, *words], self.env, self.hold, self.places.venv.parent)


ROOM_TO_SPARE = 100 * 10**6


class Fetching:
    """Installs packages into the new environment. `tool` runs uv with the given arguments."""

    def __init__(self, places: InstalledPlaces, steps: Steps, tool: Callable[..., str]) -> None:
        self._places, self._steps, self._tool = places, steps, tool

    def install(self, variant: Variant, version: str) -> None:
        """Installs exactly the packages in the variant's locks. Raises Problem on failure.

        `version`: the environment's Python version, such as `3.12`.
        """
        places = self._places
        cost = self._cost(variant, version)
        self._check_room(cost.unpacked - bytes_in(places.cache))
        doing = "Installing what the graphics card needs" if variant.backend else "Installing the app's packages"
        if variant.backend or not places.wheels.exists():
            self._show_cost(cost, variant)
        try:
            amount = (lambda: (min(cost.unpacked, bytes_in(places.cache)), cost.unpacked)) if cost.unpacked else None
            with self._steps.step(self._what(variant), amount):
                if variant.backend and WINDOWS:
                    self._install_with_torch_for_windows(variant)
                else:
                    self._sync(variant)
        except ToolFailed as failure:
            raise problem_of(doing, failure, places.log, USERS) from failure

    def _cost(self, variant: Variant, version: str) -> Cost:
        there = self._places.new.site_packages
        if variant.backend:
            known = [build for build in WINDOWS_BUILDS if WINDOWS and build.backend == variant.backend]
            return cost_of(self._places, version, known[0] if known else TorchBuild(variant.backend, ()), there)
        sizes = read_sizes(self._places.locks, version)
        missing = [sizes[pin] for pin in missing_pins(self._places.locks, version, variant, there)]
        return Cost(sum(size.download for size in missing), sum(size.unpacked for size in missing), False)

    def _what(self, variant: Variant) -> str:
        if variant.backend:
            return "Fetching and unpacking what the graphics card needs"
        doing = "Unpacking" if self._places.wheels.exists() else "Fetching and unpacking"
        return f"{doing} the app's packages and models"

    def _show_cost(self, cost: Cost, variant: Variant) -> None:
        if cost.download:
            download, unpacked = (f"{size / 10**6:,.0f} MB" for size in cost[:2])
            about = "about " if cost.estimated else ""
            self._steps.say(f"There are {about}{download} to download, which take {about}{unpacked} on the disk.")
            if WINDOWS and variant.backend and not is_proven(self._places.locks, variant.backend):
                self._steps.say(UNPROVEN)

    def _check_room(self, needed: int) -> None:
        folder = self._places.venv.parent
        free = shutil.disk_usage(str(folder)).free
        if needed > 0 and free < needed + ROOM_TO_SPARE:
            raise Problem(
                f"There is not enough room on the disk: {free / 10**6:,.0f} MB are free.",
                f"The packages need {(needed + ROOM_TO_SPARE) / 10**6:,.0f} MB in {folder}.",
                "Make room, then try again.",
            )

    def _sources(self, variant: Variant) -> tuple:
        """Returns uv's source options: an offline installer's own wheels and, for a card, also the network."""
        if not self._places.wheels.exists():
            return ()
        only = () if variant.backend else ("--offline", "--no-index")
        return (*only, "--find-links", self._places.wheels)

    def _sync(self, variant: Variant) -> None:
        places = self._places
        self._tool(
            "pip",
            "sync",
            *HASHED,
            *self._sources(variant),
            "--python",
            places.new.python,
            *(places.locks / name for name in variant.locks),
        )

    def _install_with_torch_for_windows(self, variant: Variant) -> None:
        """Installs everything except torch by hash, then the torch build for the driver from torch's own index.

        Keeps a matching build that is already installed; `uv pip sync` would remove it.
        """
        places, new = self._places, self._places.new
        wanted_torch = f"{torch_pin(places.locks)}+{variant.backend}"
        there = installed_pins(new.site_packages)
        extra = sorted(there - pins_of(places.locks, variant.locks) - {wanted_torch})
        if extra:
            self._tool("pip", "uninstall", "--python", new.python, *(pin.partition("==")[0] for pin in extra))
        rest = new.venv / "card-without-torch.txt"
        others = [word for name in variant.locks if name != "card.txt" for word in ("-r", places.locks / name)]
        write_whole(rest, split_torch((places.locks / "card.txt").read_text(encoding="utf-8"))[0])
        self._tool(
            "pip", "install", *HASHED, "--no-deps", *self._sources(variant), "--python", new.python, "-r", rest, *others
        )
        if wanted_torch not in there:
            self._tool(*torch_for_windows(places.locks, new.python, variant.backend))


BLOCK = 1 << 20


def sha256(path: Path) -> bytes:
    """Returns the SHA-256 digest of a file, which it reads in blocks."""
    seen = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(BLOCK), b""):
            seen.update(block)
    return seen.digest()


def recorded_files(metadata: Path) -> Iterator[tuple]:
    """Yields the entries in a package's RECORD: path, encoded digest and size; the latter two may be empty."""
    with (metadata / "RECORD").open(encoding="utf-8", newline="") as record:
        for row in csv.reader(record):
            if len(row) == 3:
                yield metadata.parent / row[0], row[1], row[2]


def is_whole(path: Path, digest: str, size: str) -> bool:
    """Returns whether a file matches its RECORD entry. Bytecode always matches, since Python regenerates it."""
    if path.suffix == ".pyc":
        return True
    try:
        if not digest.startswith("sha256="):
            return path.exists()
        if size and path.stat().st_size != int(size):
            return False
        found = sha256(path)
        # Some build tools write the digest in hexadecimal rather than base64.
        return digest[len("sha256=") :] in (base64.urlsafe_b64encode(found).rstrip(b"=").decode(), found.hex())
    except (OSError, ValueError):
        return False


def damaged_packages(site_packages: Path, steps: Steps) -> list[Path]:
    """Returns the .dist-info folders of packages with missing or modified files."""
    found = []
    for metadata in sorted(site_packages.glob("*.dist-info")):
        steps.tick()
        try:
            whole = all(is_whole(*file) for file in recorded_files(metadata))
        except (OSError, ValueError, csv.Error):
            whole = False
        if not whole:
            found.append(metadata)
    return found


def damaged_program_files(root: Path) -> list[str]:
    """Returns the paths of the app's own files that are missing or modified, according to `files.json`.

    Returns an empty list if there is no `files.json`; a package manager is then responsible for checking the files.
    """
    listed = read_json(root / "files.json")

    def is_damaged(name: str) -> bool:
        try:
            return sha256(root / name).hex() != listed[name]
        except OSError:
            return True

    return [name for name in sorted(listed) if is_damaged(name)]
