"""Sets up KAME Desktop on a bare machine, then starts it or runs its tests.

    python3 packaging/bootstrap.py run [arguments of the app]
    python3 packaging/bootstrap.py test [--all | --windows] [arguments of pytest]
    python3 packaging/bootstrap.py setup
    python3 packaging/bootstrap.py lock

Finds a suitable Python, creates `.venv`, installs the packages pinned by hash in `locks`, writes the `kame-desktop`
command, installs missing system libraries, and then starts the app or the tests. A stamp in `.venv` records what is
already installed, so that no step is repeated.

This script is for developers; what users install is started by launcher.py instead. Both use the modules in
`installation`. Since all of this runs before anything is installed, it uses only the standard library and supports
Python 3.8 and later. This folder has no `__init__.py`, so that it doesn't shadow the library `packaging`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.append(str(HERE))

from installation.checks import Times, run_tests, run_windows_tests  # noqa: E402
from installation.handing_over import run_app  # noqa: E402
from installation.locks import write_locks  # noqa: E402
from installation.places import Places  # noqa: E402
from installation.preparation import prepare  # noqa: E402
from installation.problems import DEVELOPERS, USER_CAN_FIX, Problem, problem_of_system  # noqa: E402
from installation.steps import CANCELLED, Steps, Stopped, catch_signals, clean_environment  # noqa: E402

USAGE = """Usage: python3 packaging/bootstrap.py [--no-gpu] COMMAND

  run [arguments]    set up what is missing, then start the app with these arguments
  test [arguments]   set up what is missing, then check the imports' rules, style, layout and types, and run the tests
                     but the slow ones (the arguments go to pytest, which then runs one test at a time)
  test --all [...]   the same with all tests, for which it installs torch
  test --windows     set up what is missing, then check the app on Windows, under Wine (Debian 12)
  setup              set up only; tries a graphics card's part again if it failed before
  lock               resolve the locks again from pyproject.toml (for developers)

  --no-gpu           leave the parts for an NVIDIA graphics card out

Exit codes: 0; 2 for what you can put right, with a sentence that says how; of the tests, the first failure's. Tests
that need a program or library which this machine lacks are left out, and named at the end. That is a failure only where
the variable CI is set.
"""


def main(words: Sequence[str], root: Path | None = None) -> int:
    """Runs the command line `words` and returns the exit code."""
    use_gpu = "--no-gpu" not in words[:1]
    command, *arguments = list(words[0 if use_gpu else 1 :]) or [""]
    if command not in ("run", "test", "setup", "lock"):
        help_wanted = command in ("-h", "--help", "help")
        print(USAGE, end="", file=sys.stdout if help_wanted else sys.stderr)
        return 0 if help_wanted else USER_CAN_FIX
    places = Places(root or HERE.parent)
    env = clean_environment(os.environ)
    catch_signals()
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(errors="replace")
        sys.stderr.reconfigure(errors="replace")
    try:
        if command == "lock":
            write_locks(places, env)
            return 0
        if command == "test":
            return test(places, env, arguments)
        prepare(places, Steps(places.log), env, command, use_gpu)
        if command == "run":
            run_app(places, env, arguments)
        return 0
    except Problem as problem:
        print(problem, file=sys.stderr)
        return USER_CAN_FIX
    except OSError as error:
        print(problem_of_system(error, places.root, DEVELOPERS), file=sys.stderr)
        return USER_CAN_FIX
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to continue.", file=sys.stderr)
        return CANCELLED
    except Stopped as stop:
        return 128 + stop.number


def test(places: Places, env: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Sets up what the tests need and runs them; returns the exit code."""
    kind = arguments[0] if arguments[:1] in (["--all"], ["--windows"]) else ""
    arguments = arguments[1:] if kind else arguments
    steps, times, began = Steps(places.log), Times(), time.monotonic()
    missing = prepare(places, steps, env, "test --all" if kind == "--all" else "test", use_gpu=False)
    if kind == "--windows":
        return run_windows_tests(places, env, steps, arguments)
    times.add("Set-up: downloads", steps.downloading)
    times.add("Set-up: the rest", time.monotonic() - began - steps.downloading)
    return run_tests(places, env, arguments, everything=kind == "--all", missing=missing, times=times)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
