"""The variants of an environment: the app alone, or with what an NVIDIA card needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from installation.locks import digest
from installation.places import Places
from installation.problems import Problem


class Variant(NamedTuple):
    """The locks of an environment, and uv's name for the build of torch; empty without a card.

    `device`: the card to use where the machine has several.
    """

    locks: tuple
    backend: str = ""
    device: str = ""


EMBEDDED = Variant(("app.txt", "models.txt"))


def for_card(backend: str, device: str = "") -> Variant:
    """Return the variant for a card, which contains all of the app's packages too."""
    return Variant(("card.txt", "models.txt"), backend, device)


def variant_of(stamp: Mapping) -> Variant:
    """Return the variant in an environment's stamp, which upgrades keep."""
    card = stamp.get("card", {})
    return for_card(card["backend"], card.get("device", "")) if card.get("backend") else EMBEDDED


def with_device(env: Mapping[str, str], variant: Variant) -> dict[str, str]:
    """Return environment variables with which CUDA uses the variant's card, unless the user has set another."""
    return {**({"CUDA_VISIBLE_DEVICES": variant.device} if variant.device else {}), **env}


def wanted_locks(places: Places, variant: Variant) -> dict[str, str]:
    """Return the digests of a variant's locks."""
    try:
        return {name: digest(places.locks / name) for name in variant.locks}
    except OSError as error:
        raise Problem(
            f"A file of KAME Desktop is missing: {error}.",
            "The installation is incomplete.",
            "Install KAME Desktop again over it; your settings and conversations stay.",
        ) from error
