"""Runs all checks of the project: import rules, linter, formatter, type checker and tests."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

from installation.places import Places
from installation.problems import Problem
from installation.steps import Steps, end_child, output_of, start_child
from installation.system_parts import (
    WINDOW_PARTS,
    WINDOWS_TEST_PARTS,
    Part,
    complete_system,
    find_manager,
    package_names,
    typed_command,
)

# One more than the number of cores, since some tests wait for child processes and servers; at most four, since more
# would need more memory than most machines have.
WORKERS = min(4, (os.cpu_count() or 1) + 1)

WINDOWS_TEST_SECONDS = 1500

SIDE_BY_SIDE = ("-n", str(WORKERS), "--dist", "worksteal")

ALONE = "tests/live"
"""The folder that contains all timing-sensitive tests; running only this one saves collecting the others again."""

WITHOUT_QT = ("tests/unit", "tests/session", "tests/live", "tests/fuzz")
"""The folders to test if Qt can't be loaded. Modules in them that import Qt are skipped during collection."""

# mypy ends with 2 if its workers take more than 3 s to start, as on a busy machine. It is then run without them.
TYPES = """\
import subprocess, sys
command = [sys.executable, "-m", "mypy"]
code = subprocess.call(command)
sys.exit(subprocess.call([*command, "--num-workers", "0"]) if code == 2 else code)
"""

Check = tuple  # its name and its command


class Times:
    """The durations of the individual checks, for the table at the end."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, float]] = []

    def add(self, name: str, seconds: float) -> None:
        self._rows.append((name, seconds))

    def print_table(self) -> None:
        rows = [*self._rows, ("All together", sum(seconds for _, seconds in self._rows))]
        width = max(len(name) for name, _ in rows)
        print("== How long it took")
        for name, seconds in rows:
            print(f"{name:<{width}}  {int(seconds) // 60:3}:{int(seconds) % 60:02}")


def run_tests(
    places: Places,
    env: Mapping[str, str],
    arguments: Sequence[str],
    *,
    everything: bool,
    missing: Sequence[Part],
    times: Times,
) -> int:
    """Runs all checks, pytest last; returns the first nonzero exit code, or 0.

    - `arguments`: arguments for pytest, which then runs in a single process
    - `everything`: also runs the tests marked as slow
    - `missing`: missing system components; skipping the tests that need them is an error only if CI is set
    - `times`: where the durations are recorded
    """
    code = _run_all(places, env, [*_lint(places), *_tests(places, env, arguments, everything, missing)], times)
    times.print_table()
    if not everything:
        print("Left to “test --all”: the tests that are marked slow.")
    if missing:
        code = code or int(env.get("CI", "").lower() not in ("", "0", "false"))
        print(_left_out(missing))
    return code


def run_windows_tests(places: Places, env: Mapping[str, str], steps: Steps, arguments: Sequence[str]) -> int:
    """Runs the Windows tests under Wine and returns pytest's exit code. Raises Problem if a program is missing."""
    missing = complete_system(steps, env, WINDOWS_TEST_PARTS)
    if missing:
        raise Problem(
            f"Programs are missing: {', '.join(part.name for part in missing)}.",
            "The Windows tests run a Windows Python under Wine, and take its library from Debian 12.",
            "Run them on Debian 12, as root or with the packages that are named above.",
        )
    # One of these tests runs all tests that work on Windows, so each gets a long timeout.
    pytest = [str(places.python), "-m", "pytest", "--timeout", str(WINDOWS_TEST_SECONDS)]
    return _run_all(places, env, [("The tests on Windows", [*pytest, *(arguments or ["tests/windows"])])], Times())


def _lint(places: Places) -> list[Check]:
    python = str(places.python)
    imports = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    return [
        ("The imports' rules", [python, "-c", imports]),
        ("The style", [python, "-m", "ruff", "check", "."]),
        ("The layout", [python, "-m", "ruff", "format", "--check", "--quiet", "."]),
        ("The types", [python, "-c", TYPES]),
    ]


def _tests(
    places: Places, env: Mapping[str, str], arguments: Sequence[str], everything: bool, missing: Sequence[Part]
) -> list[Check]:
    pytest = [str(places.python), "-m", "pytest", *([] if everything else ["--short"])]
    if arguments:
        return [("The tests", [*pytest, *arguments])]
    folders: Sequence[str] = ()
    if any(part in WINDOW_PARTS for part in missing):
        loaded = output_of([str(places.python), "-c", "import PySide6.QtWidgets, PySide6.QtNetwork"], env, 60)
        if loaded is None:
            pytest += ["-p", "no:pytest-qt"]
            folders = WITHOUT_QT
    return [
        ("The tests, side by side", [*pytest, "-m", "not alone", *SIDE_BY_SIDE, *folders]),
        ("The tests that follow the clock, one by one", [*pytest, "-m", "alone", ALONE]),
    ]


def _left_out(missing: Sequence[Part]) -> str:
    names = ", ".join(part.name for part in missing)
    manager = find_manager()
    todo = f"type: {typed_command(manager, package_names(missing, manager))}" if manager else "install them"
    return f"Left out: the tests that need {names}, which this machine lacks. To run them too, {todo}"


def _run_all(places: Places, env: Mapping[str, str], checks: Sequence[Check], times: Times) -> int:
    """Runs the checks one after another; returns the first nonzero exit code, or 0."""
    # Hundreds of processes import the same modules, so they share compiled bytecode, even if the environment variables
    # disable that.
    env = {**env, "PYTHONPYCACHEPREFIX": str(places.build / "pycache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    first = 0
    for name, command in checks:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        child = start_child(command, env=dict(env), cwd=str(places.root))
        try:
            code = child.wait()
        except BaseException as reason:
            end_child(child, reason)
            raise
        times.add(name, time.monotonic() - began)
        if code < 0:
            code = 128 - code
        first = first or code
    return first
