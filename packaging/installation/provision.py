"""Set up, upgrade and repair the environment of an installed app."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from installation.app_modules import window_is_open
from installation.card_check import CardFailed, check_card
from installation.environment import venv_version
from installation.exclusion import only_one
from installation.fetching import Fetching
from installation.installed_places import InstalledPlaces
from installation.integrity import damaged_packages, damaged_program_files
from installation.packages import add_project_to_path
from installation.places import Places
from installation.problems import USERS, NothingFits, Problem, ToolFailed, problem_of
from installation.pythons import candidates, find_pythons
from installation.readiness import base_version, is_current, is_ready, linked_python, same_base
from installation.replacement import adopt_next, clean_up, clone, recover, remove_discarded, remove_leftovers, replace
from installation.stamp import read_stamp, write_stamp
from installation.steps import Steps
from installation.torch_builds import missing_pins
from installation.variants import EMBEDDED, Variant, variant_of, wanted_locks, with_device

LOCKS = EMBEDDED.locks
"""The locks of every installation."""

WITHOUT_CARD = "To go on without what the graphics card needs, type: kame-desktop card remove"
DOWNLOADED_PYTHON = "3.12"


def tool_variables(places: InstalledPlaces, env: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables with which uv writes only beside the environment."""
    more = {"UV_CACHE_DIR": str(places.cache), "UV_LINK_MODE": "hardlink", "UV_PYTHON_INSTALL_DIR": str(places.pythons)}
    return {**env, **more}


class Provision:
    """One set-up, upgrade or repair of an installed app."""

    def __init__(self, places: InstalledPlaces, steps: Steps, env: Mapping[str, str]) -> None:
        self.places, self.steps, self.env = places, steps, tool_variables(places, env)

    def ensure(self, repair: bool = False, adopt: bool = True) -> None:
        """Set up what is missing; with `repair`, also reinstall packages with damaged files.

        `adopt`: a waiting environment may replace the current one now, though never while the app's window is open.
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
        """Replace the environment in use by the new one."""
        with self.steps.step("Putting it in place"):
            replace(self.places, self.places.new)
            remove_leftovers(self.places)

    def _damaged(self) -> list[str]:
        """Return the names of damaged packages' metadata folders. Raise Problem if the program itself is damaged."""
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
        """Tell whether all packages of the locks are installed, and the app can be imported."""
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
        """Make a new environment of the chosen variant, or without a card's packages if they don't work.

        Other failures, such as a lost network, can be fixed and are no reason to remove those packages.
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
        self.steps.say(f"{lost.happened} {lost.meaning} KAME Desktop goes on with the embedded voice.")
        clean_up(self.places)
        self.build(EMBEDDED, damaged, lost=f"{lost.happened} {lost.meaning}")

    def build(self, variant: Variant, damaged: Sequence[str] = (), lost: str = "") -> None:
        """Make a new environment beside the one in use, and check that it works.

        `damaged`: packages to install again; `lost`: why a card's packages are no longer in it.
        """
        places, new = self.places, self.places.new
        version, stamp = venv_version(places, self.env), read_stamp(places)
        if version and stamp.get("python") == version and same_base(places, stamp):
            with self.steps.step("Preparing the environment"):
                clone(places, new.venv, self.steps)
            for name in damaged:
                # Without its metadata a package counts as missing, and is installed again.
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
            "locks": wanted_locks(places, variant),
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
        """Return the base Python: the installation's own, the system's most suitable one, or one that uv downloads."""
        if self.places.base_python.exists():
            return str(self.places.base_python)
        running = getattr(sys, "_base_executable", None) or sys.executable
        found = find_pythons(candidates(self.env, running), self.env)
        if found and found[0].fits:
            # Not a name like /bin/python3, which may be another version after an upgrade of the system.
            return os.path.realpath(found[0].executable)
        self._tool("python", "install", DOWNLOADED_PYTHON)
        return self._tool("python", "find", "--managed-python", DOWNLOADED_PYTHON).strip().splitlines()[-1]

    def _tool(self, *words: object) -> str:
        return self.steps.run([self.places.uv, *words], self.env, self.hold, self.places.venv.parent)
