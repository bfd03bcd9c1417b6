"""Report which system libraries of KAME Desktop are missing, and how to install them.

python3 system_check.py     print a sentence and end with 1 if something is missing
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = str(Path(__file__).resolve().parent.parent)
if FOLDER not in sys.path:
    sys.path.append(FOLDER)

from installation.package_managers import find_manager, package_names, typed_command  # noqa: E402
from installation.system_parts import missing_parts, system_parts  # noqa: E402


def sentence() -> str:
    """Return what is missing and what to type; empty if nothing is."""
    missing = missing_parts(system_parts("run"))
    if not missing:
        return ""
    manager = find_manager()
    if manager is None:
        names = ", ".join(part.look for part in missing)
        return f"Libraries of the system are missing: {names}. Install them with its package manager."
    command = typed_command(manager, package_names(missing, manager))
    return f"Libraries of the system are missing. Please type: {command}"


if __name__ == "__main__":
    report = sentence()
    if report:
        print(report)
    sys.exit(1 if report else 0)
