"""Install the missing parts of the system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from installation.package_managers import find_manager, install_packages, package_names, typed_command
from installation.steps import Steps
from installation.system_parts import Part, missing_parts


def complete_system(steps: Steps, env: Mapping[str, str], parts: Sequence[Part]) -> list[Part]:
    """Install missing parts of the system; report and return what is still missing."""
    missing = missing_parts(parts)
    if not missing:
        return []
    manager = find_manager()
    if manager is None:
        names = ", ".join(part.name for part in missing)
        steps.say(
            f"Parts of the system are missing, so what needs them does not work: {names}. "
            "Please install them with the system's package manager."
        )
        return missing
    install_packages(steps, env, manager, package_names(missing, manager))
    missing = missing_parts(missing)
    if missing:
        packages = package_names(missing, manager)
        steps.say(
            "Parts of the system are missing and could not be installed from here, so what needs them does not work. "
            "Please type: " + typed_command(manager, packages)
        )
    return missing
