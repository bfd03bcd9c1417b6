"""Install the packages of a variant into a new environment, if there is room for them."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from installation.files import write_whole
from installation.installed_places import InstalledPlaces
from installation.locks import split_torch
from installation.problems import USERS, Problem, ToolFailed, problem_of
from installation.setup import HASHED
from installation.sizes import bytes_in, installed_pins, read_sizes
from installation.steps import Steps
from installation.system import WINDOWS
from installation.torch_builds import (
    WINDOWS_BUILDS,
    Cost,
    TorchBuild,
    cost_of,
    missing_pins,
    pins_of,
    torch_for_windows,
    torch_pin,
)
from installation.variants import Variant

ROOM_TO_SPARE = 100 * 10**6


class Fetching:
    """One installation of packages; `tool` runs the package tool with the given arguments."""

    def __init__(self, places: InstalledPlaces, steps: Steps, tool: Callable[..., str]) -> None:
        self._places, self._steps, self._tool = places, steps, tool

    def install(self, variant: Variant, version: str) -> None:
        """Install exactly what the variant's locks name into the new environment."""
        places = self._places
        cost = self._cost(variant, version)
        self._check_room(cost.unpacked - bytes_in(places.cache))
        doing = "Installing what the graphics card needs" if variant.backend else "Installing the app's packages"
        if variant.backend or not places.wheels.exists():
            self._show_cost(cost)
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

    def _show_cost(self, cost: Cost) -> None:
        if cost.download:
            download, unpacked = (f"{size / 10**6:,.0f} MB" for size in cost[:2])
            about = "about " if cost.estimated else ""
            self._steps.say(f"There are {about}{download} to download, which take {about}{unpacked} on the disk.")

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
        """Return where packages come from: the installer's own wheels, and for a card also the network."""
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
        """Install all but torch by hash, then the build of torch that fits the driver, from torch's own index.

        Keeps a build that is already installed, which a sync would remove.
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
