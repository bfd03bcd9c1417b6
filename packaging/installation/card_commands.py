"""Installs or removes the packages for an NVIDIA card, even while the app is running, and reports their state."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from installation.card import UNPROVEN, CardFailed, TorchBuild, choose_build, cost_of, is_proven, nvidia, torch_pin
from installation.environment import remove_tree
from installation.exclusion import only_one
from installation.handing_over import window_is_open
from installation.locks import EMBEDDED, Variant, for_card, installed_pins, variant_of
from installation.places import WINDOWS, InstalledPlaces, read_json
from installation.problems import Problem
from installation.provision import Provision
from installation.replacement import clean_up, is_complete, move, recover, remove_leftovers
from installation.stamp import is_current, read_stamp
from installation.steps import Steps

COMMANDS = ("status", "install", "remove")
RESTART = "Restart KAME Desktop to use it."
ANOTHER_CARD = "What is installed for a graphics card is for another one."
NO_CARD = "There is no NVIDIA card with a driver. The built-in voice needs none."


def card_status(places: InstalledPlaces) -> dict[str, Any]:
    """Returns the state of the graphics card's packages, with these keys:

    - `state`: "none", "unfit", "offered", "waiting" (until the app's next start), or "installed"
    - `sentence`: a user-facing message
    - `build`: the uv backend of the torch build, or empty
    - `download`, `room`: the number of bytes still to download and to write to disk
    - `estimated`: whether these are approximate
    - `free`: the free disk space in bytes; only if the state is "offered"
    - `device`: the UUID of the card to use if there are several, else empty; only if the state is "offered"
    """
    driver = nvidia().look()
    stamp = read_stamp(places)
    there = places.site_packages
    pin = torch_pin(places.locks)
    obstacle = nvidia().obstacle(driver) if driver else NO_CARD
    build = None if obstacle else choose_build(places.locks, driver)
    waiting = variant_of(read_json(places.next.stamp)) if is_complete(places.next, places) else EMBEDDED
    if waiting.backend and fits(waiting, driver, build):
        return _status("waiting", f"What the graphics card needs is installed. {RESTART}")
    has_torch = any(one.partition("+")[0] == pin for one in installed_pins(there))
    if has_torch and fits(variant_of(stamp), driver, build):
        return _status("installed", obstacle or f"What the graphics card needs is installed ({pin}).")
    if build is None:
        return _status("unfit" if driver else "none", obstacle)
    cost = cost_of(places, stamp.get("python", "3.12"), build, there)
    card = nvidia().best_card(driver)
    size = f"about {cost.download / 10**9:.1f} GB" if cost.download else "several GB"
    needed = build.words if has_torch and not cost.download else f"{build.words}, {size}"
    sentence = (
        f"{'An' if card.name.startswith('NVIDIA') else 'A'} {card.name} with {nvidia().gigabytes(card.total)} GB is "
        f"here. KAME can run on it: what it needs ({needed}) isn't installed."
    )
    lost = stamp.get("card", {}).get("lost", "")
    if WINDOWS and not is_proven(places.locks, build.backend):
        sentence = f"{sentence} {UNPROVEN}"
    if has_torch:
        sentence = f"{ANOTHER_CARD} {sentence}"
    elif lost:
        sentence = f"{lost} It was taken away. {sentence}"
    return {
        **_status("offered", sentence),
        "build": build.backend,
        "download": cost.download,
        "room": cost.unpacked,
        "estimated": cost.estimated,
        "free": shutil.disk_usage(str(existing(places.venv))).free,
        "device": card.uuid if len(driver.cards) > 1 else "",
    }


def fits(variant: Variant, driver: Any, build: TorchBuild | None) -> bool:
    """Returns whether an environment matches the current cards; True if that is unknown."""
    if build is None or not variant.backend:
        return True
    has_device = not variant.device or any(card.uuid == variant.device for card in driver.cards)
    return variant.backend == build.backend and has_device


def existing(folder: Path) -> Path:
    """Returns `folder` if it exists, otherwise its nearest existing ancestor."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _status(state: str, sentence: str) -> dict[str, Any]:
    return {"state": state, "sentence": sentence, "build": "", "download": 0, "room": 0, "estimated": False}


def install_card(places: InstalledPlaces, steps: Steps, env: Mapping[str, str]) -> str:
    """Builds an environment with the card's packages for the app's next start; returns a user-facing message.

    Never changes the environment in use. Raises Problem on failure.
    """
    provision = Provision(places, steps, env)
    with only_one(places.set_up_lock, steps) as hold:
        provision.hold = hold
        recover(places)
        with steps.step("Looking at the graphics card"):
            status = card_status(places)
        if status["state"] in ("installed", "waiting"):
            return status["sentence"]
        if status["state"] != "offered":
            raise Problem(status["sentence"], "Nothing was installed.", "KAME continues with the built-in voice.")
        _build_next(provision, for_card(status["build"], status["device"]))
    return f"What the graphics card needs is installed. {RESTART}"


def remove_card(places: InstalledPlaces, steps: Steps, env: Mapping[str, str]) -> str:
    """Removes the card's packages, usually on the app's next start; returns a user-facing message."""
    provision = Provision(places, steps, env)
    with only_one(places.set_up_lock, steps) as hold:
        provision.hold = hold
        recover(places)
        if places.next.venv.exists():
            remove_tree(places.next.venv)
        if variant_of(read_stamp(places)).backend and not is_current(places) and not window_is_open():
            # The app was upgraded without the network access or disk space needed for the card's new packages.
            clean_up(places)
            provision.build(EMBEDDED)
            provision.put_in_place()
            return "What the graphics card needed is removed."
        if variant_of(read_stamp(places)).backend:
            _build_next(provision, EMBEDDED)
            return "What the graphics card needed goes with the next start of KAME Desktop."
        clean_up(places)
        if places.cache.exists():
            remove_tree(places.cache)
            return "What was fetched for a graphics card is removed."
    return "Nothing is installed for a graphics card."


def _build_next(provision: Provision, variant: Variant) -> None:
    places = provision.places
    if not is_current(places):
        raise Problem(
            "KAME Desktop itself is not set up completely.",
            "The card's packages are added to what is there.",
            "Start KAME Desktop once, then try again.",
        )
    clean_up(places)
    if places.next.venv.exists():
        remove_tree(places.next.venv)
    try:
        provision.build(variant)
        move(places.new.venv, places.next.venv)
    except BaseException as error:
        # Downloads are kept for a retry, unless the packages don't work on this machine.
        with contextlib.suppress(Problem):  # the next set-up removes the rest; the original error is reported
            clean_up(places)
        if isinstance(error, CardFailed) and not error.may_work:
            remove_leftovers(places)
        raise
    remove_leftovers(places)
