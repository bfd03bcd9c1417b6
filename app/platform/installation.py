"""How this copy of the app was installed, its version, commands that install missing parts, and resource paths.

The resources are in `resources` next to `app` in a checkout or installation, and in `app/_resources` in a wheel.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from app.untrusted.files import read_json_file
from app.untrusted.limits import SMALL_FILE


def resource(*parts: str) -> Path:
    """Returns the path of a resource, which may not exist."""
    app = Path(__file__).resolve().parent.parent
    inside = app / "_resources"
    return (inside if inside.is_dir() else app.parent / "resources").joinpath(*parts)


CHECKOUT, WHEEL = "checkout", "wheel"


@dataclass(frozen=True, slots=True)
class Installed:
    """How the app was installed. `kind`: "checkout", "wheel", or the kind of installer ("deb", "run", ...)."""

    kind: str
    version: str
    commit: str = ""


@cache
def installed() -> Installed:
    """Returns how the app was installed, based on the installer's `installed.json`; a wheel or checkout has none."""
    root = Path(__file__).resolve().parents[2]
    try:
        written = read_json_file(root / "installed.json", SMALL_FILE)
        return Installed(str(written["kind"]), str(written["version"]), str(written.get("commit", "")))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
        return Installed(CHECKOUT, str(project["version"]))
    except (OSError, ValueError, KeyError):
        pass
    try:
        return Installed(WHEEL, metadata.version("kame-desktop"))
    except metadata.PackageNotFoundError:
        return Installed(WHEEL, "")


def completing_command() -> str:
    """Returns the command that installs the app's missing packages and models."""
    return _command("kame-desktop models get default", "kame-desktop repair")


def packages_command() -> str:
    """Returns the command that reinstalls the app's Python packages."""
    return _command('uv tool install --force "kame-desktop[embedded] @ FILE.whl"', "kame-desktop repair")


def card_command() -> str:
    """Returns the command that installs the packages needed for a graphics card."""
    # The Windows build of torch on PyPI has no CUDA support.
    torch = " --torch-backend auto" if sys.platform == "win32" else ""
    return _command(
        f'uv tool install --force{torch} "kame-desktop[embedded,gpu] @ FILE.whl"', "kame-desktop card install"
    )


def _command(of_wheel: str, of_installer: str) -> str:
    commands = {CHECKOUT: "python3 packaging/bootstrap.py setup", WHEEL: of_wheel}
    return commands.get(installed().kind, of_installer)
