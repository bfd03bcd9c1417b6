"""Creates environments: finds the installed Pythons, selects the most suitable one, and installs uv."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from installation.locks import digest
from installation.places import WINDOWS, Places, read_json, write_whole
from installation.problems import Problem, ToolFailed, problem_of
from installation.stamp import begin_install, read_stamp
from installation.steps import HASHED, Setup, output_of
from installation.system_parts import find_manager, install_packages

PREFERRED_PYTHONS = ((3, 12), (3, 13), (3, 11))

# Must run on Python 3.4 and later; an older Python fails, and so is ignored. In a virtual environment,
# `_base_executable` is the path of the Python that it was created from.
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
    """A Python interpreter and the properties that it reports.

    `fits`: whether the app can run on it; `makes_venvs`: whether it can create virtual environments.
    """

    executable: str
    version: tuple
    fits: bool
    makes_venvs: bool


def candidates(environ: Mapping[str, str], running: str) -> list[str]:
    """Returns the paths of possible Pythons without duplicates: `running`, then those on PATH, of `py` and of pyenv."""
    found = [running]
    suffix = ".exe" if WINDOWS else ""
    folders = [part for part in environ.get("PATH", "").split(os.pathsep) if part]
    for name in ("python3.12", "python3.13", "python3.11", "python3", "python"):
        # All matches on PATH, not just the first, which may be pyenv's shim for an inactive version.
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
    """Returns the paths of the Pythons that the Windows launcher `py` lists."""
    return launcher_paths(output_of(["py", "-0p"], environ, 20) or "")


def launcher_paths(printed: str) -> list[str]:
    """Parses the output of `py -0p`, whose lines look like ` -V:3.12 *  C:\\...\\python.exe`."""
    matches = (re.match(r"\s*-\S+\s+(?:\*\s+)?(.*\S\.exe)\s*$", line) for line in printed.splitlines())
    return [match.group(1) for match in matches if match]


def probe(path: str, env: Mapping[str, str]) -> Python | None:
    """Runs a candidate and returns its properties; None if it doesn't start or isn't Python 3."""
    match = ANSWER.search(output_of([path, "-I", "-c", PROBE], env, 20) or "")
    if match is None:
        return None
    version = tuple(int(part) for part in match.group(1, 2, 3))
    fits = version[:2] in PREFERRED_PYTHONS and match.group(4) == "64" and match.group(5) == "1"
    return Python(match.group(7).strip(), version, fits, match.group(6) == "1")


def find_pythons(paths: Iterable[str], env: Mapping[str, str]) -> list[Python]:
    """Probes all candidates and returns those that work, most suitable first.

    Suitable Pythons are ordered by whether they can create virtual environments, then by `PREFERRED_PYTHONS`.
    """
    answers = (probe(path, env) for path in paths)
    known = {os.path.realpath(python.executable): python for python in answers if python}

    def rank(python: Python) -> tuple:
        if not python.fits:
            return (2, 0)
        return (0 if python.makes_venvs else 1, PREFERRED_PYTHONS.index(python.version[:2]))

    return sorted(known.values(), key=rank)


def debian_venv_package(python: Python) -> str | None:
    """Returns the Debian package that a system Python needs for creating environments; None if not applicable."""
    if not os.path.realpath(python.executable).startswith("/usr/bin/") or find_manager() != "apt-get":
        return None
    return f"python{python.version[0]}.{python.version[1]}-venv"


def no_python(seen: Sequence[Python]) -> Problem:
    """Returns the error for a system without a suitable Python, with instructions. `seen`: the Pythons found."""
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


def venv_version(places: Places, env: Mapping[str, str]) -> str | None:
    """Runs the environment's Python and returns its version, such as `3.12`; None if it doesn't start."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    printed = output_of([str(places.python), "-I", "-S", "-c", code], env, 60)
    return None if printed is None else printed.strip()


def make_environment(setup: Setup) -> tuple:
    """Ensures that there is a working `.venv` with uv; returns its Python version and whether it was newly created.

    Raises Problem on failure.
    """
    places = setup.places
    version = venv_version(places, setup.env)
    known = version in [f"{major}.{minor}" for major, minor in PREFERRED_PYTHONS]
    stamp_fits = not places.stamp.exists() or read_stamp(places).get("python") == version
    usable = known and stamp_fits and not places.unfinished.exists() and has_installer(setup)
    if not usable:
        remake(setup)
        version = venv_version(places, setup.env)
    begin_install(places)
    if not places.uv.exists() or uv_is_old(setup):
        install_uv(setup)
    return version or "", not usable


def has_installer(setup: Setup) -> bool:
    if setup.places.uv.exists():
        return True
    try:
        setup.tool(setup.places.python, "-I", "-c", "import pip")
    except ToolFailed:
        return False
    return True


def uv_is_old(setup: Setup) -> bool:
    installed = read_json(setup.places.stamp).get("locks", {})
    return installed.get("uv.txt") != digest(setup.places.locks / "uv.txt")


def remake(setup: Setup) -> None:
    """Deletes the environment and recreates it with the most suitable Python."""
    places = setup.places
    if places.venv.exists() or places.venv.is_symlink():
        with setup.steps.step("Removing the unfinished or broken environment"):
            remove_tree(places.venv)
    places.venv.mkdir()
    begin_install(places)
    with setup.steps.step("Looking for a Python"):
        running = getattr(sys, "_base_executable", None) or sys.executable
        pythons = find_pythons(candidates(os.environ, running), setup.env)
    best = pythons[0] if pythons and pythons[0].fits else None
    if best and not best.makes_venvs:
        best = add_venv_support(setup, best)
    if best and best.makes_venvs:
        make_with_venv(setup, best)
        return
    uv = uv_without_venv(setup, pythons)
    if uv is None:
        raise no_python(pythons)
    make_with_uv(setup, uv, best, pythons)


def add_venv_support(setup: Setup, python: Python) -> Python:
    """Installs the Debian package that lets a system Python create environments; returns the Python, probed again."""
    package = debian_venv_package(python)
    if package is None:
        return python
    install_packages(setup.steps, setup.env, "apt-get", [package])
    return probe(python.executable, setup.env) or python


def make_with_venv(setup: Setup, python: Python) -> None:
    name = ".".join(map(str, python.version))
    with setup.steps.step(f"Making the environment with Python {name}"):
        try:
            setup.tool(python.executable, "-I", "-m", "venv", setup.places.venv)
        except ToolFailed as failure:
            raise problem_of("Making the environment", failure, setup.places.log) from failure


def uv_without_venv(setup: Setup, pythons: Sequence[Python]) -> str | None:
    """Returns the path of uv: from PATH, or else installed with the pip of any of `pythons`; None if neither works."""
    on_path = shutil.which("uv", path=setup.env.get("PATH"))
    if on_path:
        return on_path
    target = setup.places.build / "uv"
    lock = setup.places.locks / "uv.txt"
    for python in pythons:
        with contextlib.suppress(ToolFailed), setup.steps.step("Getting the package tool uv"):
            setup.tool(
                python.executable,
                "-I",
                "-m",
                "pip",
                "install",
                "--quiet",
                "--upgrade",
                "--no-deps",
                *HASHED,
                "--target",
                target,
                "-r",
                lock,
            )
            found = [*target.glob("bin/uv"), *target.glob("bin/uv.exe"), *target.glob("Scripts/uv.exe")]
            if found:
                return str(found[0])
    return None


def make_with_uv(setup: Setup, uv: str, python: Python | None, seen: Sequence[Python]) -> None:
    if python is not None:
        wanted = python.executable
    else:
        try:
            with setup.steps.step("Getting Python 3.12"):
                setup.tool(uv, "python", "install", "3.12")
                found = setup.tool(uv, "python", "find", "--managed-python", "3.12")
                wanted = found.strip().splitlines()[-1]
        except ToolFailed as failure:
            raise no_python(seen) from failure
    try:
        with setup.steps.step("Making the environment with uv"):
            options = ("--allow-existing", "--no-project", "--python", wanted)
            setup.tool(uv, "venv", *options, setup.places.venv)
            setup.install_lock(uv, "uv.txt")
    except ToolFailed as failure:
        raise problem_of("Making the environment", failure, setup.places.log) from failure


def install_uv(setup: Setup) -> None:
    places = setup.places
    try:
        with setup.steps.step("Installing the package tool"):
            if places.uv.exists():
                try:
                    setup.install_lock(str(places.uv), "uv.txt")
                    return
                except ToolFailed:
                    # On Windows, uv can't replace itself while running, so use pip.
                    pass
            setup.tool(
                places.python,
                "-I",
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                *HASHED,
                "-r",
                places.locks / "uv.txt",
            )
    except ToolFailed as failure:
        raise problem_of("Installing the package tool", failure, places.log) from failure


def add_project_to_path(places: Places) -> None:
    """Makes `app` importable from any working directory, for the app and its child processes."""
    if places.site_packages is not None:
        # Python executes lines in .pth files that start with `import`. The line is ASCII even if the path isn't.
        line = f"import sys; sys.path.append({str(places.root)!a})\n"
        write_whole(places.site_packages / "kame_desktop.pth", line, encoding="ascii")


def remove_tree(folder: Path) -> None:
    """Deletes a folder with its contents, a file, or a link. Raises Problem on failure."""
    try:
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        else:
            shutil.rmtree(str(folder))
    except OSError as error:
        raise Problem(
            f"{folder} could not be removed: {error}.",
            "A program still uses it, or it isn't yours.",
            "Close KAME Desktop and every program that uses it, then try again.",
        ) from error
