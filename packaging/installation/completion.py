"""Install the missing parts of the system, and check whether a window can open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from installation.package_managers import find_manager, install_packages, package_names, typed_command
from installation.places import Places
from installation.problems import Problem, ToolFailed
from installation.steps import Steps
from installation.system_parts import WINDOW_PARTS, Part, missing_parts


def complete_system(steps: Steps, env: Mapping[str, str], parts: Sequence[Part]) -> list[Part]:
    """Install missing parts of the system; report and return what is still missing."""
    missing = missing_parts(parts)
    if not missing:
        return []
    manager = find_manager()
    if manager is None:
        names = ", ".join(part.look.split(":")[-1] for part in missing)
        steps.say(f"Please install these missing parts of the system with its package manager: {names}.")
        return missing
    install_packages(steps, env, manager, package_names(missing, manager))
    missing = missing_parts(missing)
    if missing:
        packages = package_names(missing, manager)
        steps.say(
            "Some parts of the system are missing and could not be installed from here; please type: "
            + typed_command(manager, packages)
        )
    return missing


WINDOW_PROBE = """
import os
from PySide6.QtWidgets import QApplication
if any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
    QApplication([])
"""


def check_window(places: Places, steps: Steps, env: Mapping[str, str], missing: Sequence[Part]) -> None:
    """Raise Problem if a window can't open because of missing parts; tries it instead of guessing."""
    if not any(part in WINDOW_PARTS for part in missing):
        return
    try:
        with steps.step("Trying to open a window"):
            steps.run([places.python, "-I", "-c", WINDOW_PROBE], env)
    except ToolFailed as failure:
        manager = find_manager()
        names = ", ".join(part.look for part in missing)
        todo = typed_command(manager, package_names(missing, manager)) if manager else f"install {names}"
        raise Problem(
            "The app's window cannot open.",
            f"Libraries of the system are missing: {names}.",
            f"Please type: {todo} and run the same command again.",
        ) from failure
