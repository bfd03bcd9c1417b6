"""Make a virtual environment that contains uv."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from installation.children import output_of
from installation.locks import digest
from installation.package_managers import install_packages
from installation.places import Places
from installation.problems import Problem, ToolFailed, problem_of
from installation.pythons import (
    PREFERRED_PYTHONS,
    Python,
    candidates,
    debian_venv_package,
    find_pythons,
    no_python,
    probe,
)
from installation.setup import HASHED, Setup
from installation.stamp import begin_install, read_json, read_stamp


def venv_version(places: Places, env: Mapping[str, str]) -> str | None:
    """Start the environment's Python and return its version as `3.12`; None if it doesn't start."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    printed = output_of([str(places.python), "-I", "-S", "-c", code], env, 60)
    return None if printed is None else printed.strip()


def make_environment(setup: Setup) -> tuple:
    """Ensure a working `.venv` with uv; return its Python's version, and whether it is new."""
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
    """Remove the environment and make it again from the most suitable Python."""
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
    """Install Debian's package for a system Python that can't make environments."""
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
    """Return uv from PATH, or install the pinned version with any Python's pip; None if neither works."""
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
                    # A running uv can't replace itself on Windows: let pip do it.
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


def remove_tree(folder: Path) -> None:
    """Remove a folder with its content, or a link. Raise Problem if that fails."""
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
