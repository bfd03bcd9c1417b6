"""The software bill of materials: each component's version, licence and hashes, as CycloneDX 1.6 JSON.

The packages come from the lock files, and the licences from the tables in `resources/licences.md`. A component that the
installation contains is listed with its own hash, and a downloaded package with all hashes that the locks accept.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from building.payload import json_bytes
from building.source import BuildError, Source
from installation.locks import normal_name
from licences import first_piece

if TYPE_CHECKING:
    from building.wheels import Target

SPEC = "1.6"
LOCKS = (
    ("app.txt", "required", "fetched when the app is set up"),
    ("models.txt", "required", "fetched when the app is set up"),
    ("models-optional.txt", "optional", "fetched when the user asks for it"),
    ("card.txt", "optional", "fetched for an NVIDIA graphics card, when the user agrees"),
)
"""For each lock, the scope of its packages and how they are obtained. A package's first lock takes precedence."""

SHIPPED = "part of the installation"

LICENCE = "Apache-2.0"
"""The app's own licence."""

UNIVERSE = uuid.UUID("5d3d0d3e-6f0f-5f5e-9a39-3c3d7f2c9a10")
"""The UUID namespace of the serial numbers, which are derived from commits."""

# A table cell that consists of an SPDX licence expression only.
EXPRESSION = re.compile(r"(?:[A-Z][\w.+-]*)(?: (?:OR|AND|WITH) [A-Z][\w.+-]*)*")


class Pin(NamedTuple):
    """A package in a lock. `marker`: its environment marker, which limits it to some systems, or empty."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def pins(lock: str) -> Iterator[Pin]:
    """Yields the packages in a lock, except those for Emscripten, since the app doesn't run in browsers."""
    for block in re.split(r"(?m)^(?=[A-Za-z0-9])", lock):
        match = re.match(r"([A-Za-z0-9][\w.-]*)==([^\s;\\]+)(?:\s*;\s*([^\\\n]+))?", block)
        if match and "sys_platform == 'emscripten'" not in (match[3] or ""):
            hashes = tuple(sorted(re.findall(r"--hash=sha256:([0-9a-f]{64})", block)))
            yield Pin(normal_name(match[1]), match[2], (match[3] or "").strip(), hashes)


def tables(page: str) -> Iterator[dict[str, str]]:
    """Yields the rows of all tables on the licence page as dictionaries keyed by column heading."""
    heading: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            heading = []
        elif not heading:
            heading = cells
        elif not set(line) <= set("|- "):
            yield dict(zip(heading, cells, strict=True))


SYSTEM_PYTHON = {
    "type": "platform",
    "bom-ref": "python",
    "name": "CPython",
    "version": "3.11 to 3.13",
    "scope": "required",
    "licenses": [{"expression": "PSF-2.0"}],
    "properties": [{"name": "kame-desktop:comes", "value": "the system's, or fetched by uv when the app is set up"}],
}
"""The Python component of an installation that doesn't include its own Python."""


def bill_of_materials(
    source: Source,
    kind: str,
    *,
    uv_shipped: bool = True,
    target: Target | None = None,
    shipped: Mapping[str, str] = MappingProxyType({}),
    python: dict[str, Any] = SYSTEM_PYTHON,
) -> bytes:
    """Returns the bill of materials for one kind of installation, built from one commit.

    - `kind`: the kind of installation, such as `deb`
    - `uv_shipped`: whether the installation includes uv
    - `target`: limits the bill to one system and Python version
    - `shipped`: the SHA-256 digests of the wheels that are included rather than downloaded, keyed by package name
    - `python`: the CycloneDX component for the Python that the app runs on
    """
    rows = list(tables(source.file("resources/licences.md").decode("utf-8")))
    licences = {normal_name(row["Package"]): row["Licence"] for row in rows if "Package" in row}
    components = list(_packages(source, licences, target, shipped))
    packages = {component["name"]: component for component in components}
    if uv_shipped:
        components += _uv(source, licences, shipped)
    models = (row for row in rows if "What" in row and "tests" not in row["How it comes to the user"])
    components += [_model(row, packages) for row in models]
    components.append(python)
    components.sort(key=lambda component: (component["type"], component["name"], component.get("version", "")))
    return json_bytes(
        {
            "bomFormat": "CycloneDX",
            "specVersion": SPEC,
            "serialNumber": uuid.uuid5(UNIVERSE, f"{source.commit} {kind}").urn,
            "version": 1,
            "metadata": {
                "timestamp": datetime.fromtimestamp(source.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "component": {
                    "type": "application",
                    "bom-ref": "kame-desktop",
                    "name": "kame-desktop",
                    "version": source.version,
                    "licenses": [{"expression": LICENCE}],
                    "properties": [_property("commit", source.commit), _property("kind", kind)],
                },
            },
            "components": components,
        }
    )


def _packages(
    source: Source, licences: dict[str, str], target: Target | None, shipped: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    if target:
        # Requires the library `packaging`, which the Linux builds don't need.
        from building.wheels import requirements_for
    seen: set[tuple[str, str]] = set()
    for name, scope, how in LOCKS:
        lock = source.file(f"packaging/locks/{name}").decode("utf-8")
        wanted = requirements_for(lock, target) if target else ()
        for pin in pins(lock):
            if (pin.name, pin.version) in seen or (target and f"{pin.name}=={pin.version}" not in wanted):
                continue
            seen.add((pin.name, pin.version))
            yield _package(_for_target(pin, target), scope, how, licences, shipped)


def _for_target(pin: Pin, target: Target | None) -> Pin:
    """Returns `pin` without its marker, and without hashes that don't apply to the target."""
    if target is None:
        return pin
    # Torch for Windows comes from its own index, whose hashes are not in the locks.
    hashes = () if target.system == "windows" and pin.name == "torch" else pin.hashes
    return pin._replace(marker="", hashes=hashes)


def _package(pin: Pin, scope: str, how: str, licences: dict[str, str], shipped: Mapping[str, str]) -> dict[str, Any]:
    hashes = (shipped[pin.name],) if pin.name in shipped else pin.hashes
    purl = f"pkg:pypi/{pin.name}@{pin.version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": pin.name,
        "version": pin.version,
        "scope": scope,
        "purl": purl,
        "licenses": [_licence(_licence_of(pin, licences))],
        "hashes": [{"alg": "SHA-256", "content": each} for each in hashes],
        "properties": [
            _property("comes", SHIPPED if pin.name in shipped else how),
            *([_property("only-where", pin.marker)] if pin.marker else ()),
        ],
    }


def _uv(source: Source, licences: dict[str, str], shipped: Mapping[str, str]) -> list[dict[str, Any]]:
    every = pins(source.file("packaging/locks/uv.txt").decode("utf-8"))
    return [{**_package(pin, "required", SHIPPED, licences, shipped), "type": "application"} for pin in every]


def _licence_of(pin: Pin, licences: dict[str, str]) -> str:
    # A model may be split across several packages; the page lists only the first.
    text = licences.get(pin.name) or licences.get(first_piece(pin.name))
    if text is None:
        raise BuildError(
            f"resources/licences.md does not tell the licence of {pin.name}. Run python packaging/licences.py first."
        )
    return text


def _licence(text: str) -> dict[str, Any]:
    """Returns the licence as an SPDX expression if `text` is one; otherwise as a licence name."""
    if EXPRESSION.fullmatch(text):
        return {"expression": text}
    return {"license": {"name": text}}


def _model(row: dict[str, str], packages: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Returns the component for a model or data set; if it comes in a package, with the hashes of that package."""
    how = row["How it comes to the user"]
    inside = how.startswith("in `resources")
    component = {
        "type": "data" if inside else "machine-learning-model",
        "bom-ref": "model:" + re.sub(r"[^a-z0-9]+", "-", row["What"].lower()).strip("-"),
        "name": row["What"],
        "licenses": [{"license": {"name": row["Licence"]}}],
        "properties": [_property("comes", how.replace("`", ""))],
    }
    package = packages.get(how.removeprefix("in the package ").split()[0].rstrip(",;"))
    if package:
        component["hashes"] = package["hashes"]
        component["properties"].append(_property("package", package["purl"]))
    if row["Project"]:
        component["supplier"] = {"name": row["Project"]}
    return component


def _property(name: str, value: str) -> dict[str, str]:
    return {"name": f"kame-desktop:{name}", "value": value}
