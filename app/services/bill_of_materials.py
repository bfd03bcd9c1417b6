"""Reader for the bill of materials of a build, which lists its components with their versions and licences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.platform.installation import resource
from app.untrusted.files import read_json_file
from app.untrusted.limits import BILL


@dataclass(frozen=True, slots=True)
class Part:
    """A component: the app itself, a package, a model or a data set. `version` may be empty."""

    name: str
    version: str
    licence: str
    optional: bool


def read_bill(path: Path | None = None) -> list[Part]:
    """Returns all components, sorted by name; empty if the file is missing, as in a source checkout.

    Raises ValueError if it is malformed.
    """
    try:
        bill = read_json_file(path or resource("bom.json"), BILL)
    except OSError:
        return []
    except ValueError as error:
        raise ValueError(f"The bill of materials can't be read: {error}") from error
    try:
        parts = [_part(component) for component in (bill["metadata"]["component"], *bill["components"])]
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"The bill of materials can't be read: {error!r}") from error
    return sorted(parts, key=lambda part: (part.name.lower(), part.version))


def _part(component: dict) -> Part:
    licence = component["licenses"][0]
    told = licence.get("expression") or licence["license"]["name"]
    optional = component.get("scope") == "optional"
    return Part(component["name"], component.get("version", ""), told, optional)
