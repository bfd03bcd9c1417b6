"""Run all checks of the project: import rules, style, layout, types and tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from installation.children import end_child, start_child
from installation.completion import complete_system
from installation.places import Places
from installation.problems import Problem
from installation.steps import Steps
from installation.system_parts import WINDOWS_TEST_PARTS

# One more than there are cores, since some tests wait for children and servers; more than four would need more memory
# than most machines have.
WORKERS = min(4, (os.cpu_count() or 1) + 1)

WINDOWS_TEST_SECONDS = 1500

SIDE_BY_SIDE = ("-m", "not alone", "-n", str(WORKERS), "--dist", "worksteal")


def run_tests(places: Places, env: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Run all checks, pytest last; return the first exit code that isn't zero."""
    python = str(places.python)
    lint = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    pytest = [python, "-m", "pytest"]
    tests = (
        [("The tests", [*pytest, *arguments])]
        if arguments
        else [
            ("The tests, side by side", [*pytest, *SIDE_BY_SIDE]),
            ("The tests that follow the clock, one by one", [*pytest, "-m", "alone"]),
        ]
    )
    checks = [
        ("The imports' rules", [python, "-c", lint]),
        ("The style", [python, "-m", "ruff", "check", "."]),
        ("The layout", [python, "-m", "ruff", "format", "--check", "--quiet", "."]),
        ("The types", [python, "-m", "mypy"]),
        *tests,
    ]
    return _run_all(places, env, checks)


def run_windows_tests(places: Places, env: Mapping[str, str], steps: Steps, arguments: Sequence[str]) -> int:
    """Run the checks of the Windows app under Wine; return pytest's exit code."""
    missing = complete_system(steps, env, WINDOWS_TEST_PARTS)
    if missing:
        raise Problem(
            f"Programs are missing: {', '.join(part.look.split(':')[-1] for part in missing)}.",
            "The Windows tests run a Windows Python under Wine, and take its library from Debian 12.",
            "Run them on Debian 12, as root or with the packages that are named above.",
        )
    # One of them runs all tests that can run on Windows, with a time limit for each.
    pytest = [str(places.python), "-m", "pytest", "--timeout", str(WINDOWS_TEST_SECONDS)]
    command = [*pytest, *(arguments or ["tests/windows"])]
    return _run_all(places, env, [("The tests on Windows", command)])


def _run_all(places: Places, env: Mapping[str, str], checks: Sequence[tuple]) -> int:
    """Run named commands one after the other; return the first exit code that isn't zero."""
    # Hundreds of processes import the same modules: what one of them has compiled serves the others, even where the
    # environment says otherwise.
    env = {**env, "PYTHONPYCACHEPREFIX": str(places.build / "pycache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    first = 0
    for name, command in checks:
        print(f"== {name}", flush=True)
        child = start_child(command, env=dict(env), cwd=str(places.root))
        try:
            code = child.wait()
        except BaseException as reason:
            end_child(child, reason)
            raise
        if code < 0:
            code = 128 - code
        first = first or code
    return first
