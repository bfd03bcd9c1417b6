"""Find the Pythons on this machine and choose the most suitable one."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from installation.children import output_of
from installation.package_managers import find_manager
from installation.problems import Problem
from installation.system import WINDOWS

PREFERRED_PYTHONS = ((3, 12), (3, 13), (3, 11))

# Runs on any Python since 3.4; an older one fails, and is ignored too. In a virtual
# environment `_base_executable` names the Python that it was made from.
PROBE = """
import struct, sys, sysconfig
try:
    import ensurepip, venv
    makes = 1
except ImportError:
    makes = 0
plain = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
print("kame-python %d.%d.%d %d %d %d %s" % (sys.version_info[:3] + (struct.calcsize("P") * 8, plain, makes,
      getattr(sys, "_base_executable", None) or sys.executable)))
"""

ANSWER = re.compile(r"^kame-python (\d+)\.(\d+)\.(\d+) (\d+) ([01]) ([01]) (.+)$", re.MULTILINE)


class Python(NamedTuple):
    """What a Python has reported about itself."""

    executable: str
    version: tuple
    fits: bool
    makes_venvs: bool


def candidates(environ: Mapping[str, str], running: str) -> list[str]:
    """Return every program that may be a Python, each once: the running one, those on PATH, of `py`, and of pyenv."""
    found = [running]
    suffix = ".exe" if WINDOWS else ""
    folders = [part for part in environ.get("PATH", "").split(os.pathsep) if part]
    for name in ("python3.12", "python3.13", "python3.11", "python3", "python"):
        # All of PATH, not the first hit: pyenv's shim of a version that is not active comes first.
        found += [os.path.join(folder, name + suffix) for folder in folders]
    if WINDOWS:
        found += launcher_pythons(environ)
        pyenv = environ.get("PYENV") or os.path.join(os.path.expanduser("~"), ".pyenv", "pyenv-win")
        found += sorted(glob.glob(os.path.join(pyenv, "versions", "*", "python.exe")), reverse=True)
    else:
        pyenv = environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
        found += sorted(glob.glob(os.path.join(pyenv, "versions", "*", "bin", "python3")), reverse=True)
    return [path for path in dict.fromkeys(found) if path and os.path.isfile(path)]


def launcher_pythons(environ: Mapping[str, str]) -> list[str]:
    """Return the Pythons that Windows' launcher `py` lists."""
    return launcher_paths(output_of(["py", "-0p"], environ, 20) or "")


def launcher_paths(printed: str) -> list[str]:
    """Parse the launcher's list, whose lines look like ` -V:3.12 *  C:\\...\\python.exe`."""
    matches = (re.match(r"\s*-\S+\s+(?:\*\s+)?(.*\S\.exe)\s*$", line) for line in printed.splitlines())
    return [match.group(1) for match in matches if match]


def probe(path: str, env: Mapping[str, str]) -> Python | None:
    """Run a candidate and return what it is; None if it doesn't start or isn't a Python 3."""
    match = ANSWER.search(output_of([path, "-I", "-c", PROBE], env, 20) or "")
    if match is None:
        return None
    version = tuple(int(part) for part in match.group(1, 2, 3))
    fits = version[:2] in PREFERRED_PYTHONS and match.group(4) == "64" and match.group(5) == "1"
    return Python(match.group(7).strip(), version, fits, match.group(6) == "1")


def find_pythons(paths: Iterable[str], env: Mapping[str, str]) -> list[Python]:
    """Run all candidates and sort them: first those that can make environments; then 3.12, 3.13, 3.11, the rest."""
    answers = (probe(path, env) for path in paths)
    known = {os.path.realpath(python.executable): python for python in answers if python}

    def rank(python: Python) -> tuple:
        if not python.fits:
            return (2, 0)
        return (0 if python.makes_venvs else 1, PREFERRED_PYTHONS.index(python.version[:2]))

    return sorted(known.values(), key=rank)


def debian_venv_package(python: Python) -> str | None:
    """Name the package that lets a Debian system's own Python make environments."""
    if not os.path.realpath(python.executable).startswith("/usr/bin/") or find_manager() != "apt-get":
        return None
    return f"python{python.version[0]}.{python.version[1]}-venv"


def no_python(seen: Sequence[Python]) -> Problem:
    """Explain that there is no suitable Python, and what to install on this system."""
    names = ", ".join(sorted({".".join(map(str, python.version)) for python in seen})) or "none"
    lacking = [debian_venv_package(python) for python in seen if python.fits]
    if any(lacking):
        remedy = f"Type: sudo apt-get install {next(filter(None, lacking))}"
    elif WINDOWS:
        remedy = "Install Python 3.12 (64-bit) from python.org or the Microsoft Store"
    elif shutil.which("apt-get"):
        remedy = (
            "Type: sudo apt-get install python3 python3-venv (on a release before Debian 12 or Ubuntu 24.04 "
            "install Python 3.12 with pyenv or uv)"
        )
    elif shutil.which("dnf"):
        remedy = "Type: sudo dnf install python3.12"
    elif shutil.which("zypper"):
        remedy = "Type: sudo zypper install python312"
    else:
        remedy = "Install Python 3.12 with your system's package manager, pyenv or uv"
    return Problem(
        f"No Python that fits was found (found: {names}).",
        "KAME Desktop needs a 64-bit CPython 3.11, 3.12 or 3.13 that can make virtual environments, and "
        "none could be downloaded.",
        f"{remedy}, then run the same command again.",
    )
