"""Starts an installed KAME Desktop after setting up anything that is missing.

    launcher.py [--report] [start] [arguments of the app]
    launcher.py [--report] setup | repair | remove-environment
    launcher.py [--report] card status | install | remove
    launcher.py restart

The code is in the parent folder; the environment with the app's packages is in a separate folder that the user can
write to. A stamp records whether the environment is complete, so that a normal start is not delayed. With `--report`,
the launcher writes its progress to standard output, one JSON object per line, and starts the app without a console. The
program that reads the reports (on Windows, a native window) cancels by closing the launcher's standard input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.append(str(HERE))

from installation.handing_over import run_app, start_in_background  # noqa: E402
from installation.locks import variant_of, with_device  # noqa: E402
from installation.places import InstalledPlaces, environment_folder  # noqa: E402
from installation.problems import USER_CAN_FIX, USERS, Problem, problem_of_system  # noqa: E402
from installation.provision import Provision  # noqa: E402
from installation.replacement import remove_environment  # noqa: E402
from installation.reports import EndOfInput, ReportedSteps, Reports  # noqa: E402
from installation.stamp import read_stamp  # noqa: E402
from installation.steps import CANCELLED, Steps, Stopped, catch_signals, clean_environment  # noqa: E402

STOPPED = "Stopped. The next start continues from here."
STOPPED_CARD = "Stopped. What was fetched is kept for another try; “kame-desktop card remove” frees its room."
COMMANDS = ("start", "setup", "repair", "remove-environment", "card", "restart")


def carry_out(command: str, arguments: Sequence[str], places: InstalledPlaces, steps: Steps, reports: Reports) -> int:
    """Runs one of `COMMANDS` and returns the exit code; `reports` is None without `--report`."""
    if command == "card" and list(arguments) == ["status"]:
        from installation.card_commands import card_status

        # Also works for a checkout, whose environment is inside it.
        status = card_status(places if places.is_installed else InstalledPlaces(places.root, places.root / ".venv"))
        reports.write(card=status) if reports is not None else print(status["sentence"])
        return 0
    if not places.is_installed:
        raise Problem(
            f"The folder {places.root} is not an installation of KAME Desktop.",
            "Either its file installed.json is missing, or this is a developer's checkout.",
            "Install KAME Desktop again; in a checkout type: python3 packaging/bootstrap.py run",
        )
    if command == "remove-environment":
        remove_environment(places, steps)
        return 0
    env = clean_environment(os.environ)
    if command == "restart":
        from installation.handing_over import wait_and_start

        wait_and_start(places)
        return 0
    if command == "card":
        return change_card(arguments, places, steps, env, reports)
    if command == "start" and list(arguments[:1]) == ["ptt"] and places.python.exists():
        run_app(places, env, arguments)  # run by a global hotkey: the window is already open
    opens_window = not arguments or arguments[0].startswith("-")
    Provision(places, steps, env).ensure(repair=command == "repair", adopt=command != "start" or opens_window)
    if reports is not None:
        reports.write(ready=True)
    if command != "start":
        return 0
    env = with_device(env, variant_of(read_stamp(places)))
    if reports is not None:
        return start_in_background(places, env, arguments)
    run_app(places, env, arguments)


def change_card(
    arguments: Sequence[str], places: InstalledPlaces, steps: Steps, env: Mapping[str, str], reports: Reports | None
) -> int:
    """Installs or removes the packages for a graphics card and returns 0. Raises Problem for an unknown command."""
    from installation.card_commands import COMMANDS as KNOWN
    from installation.card_commands import install_card, remove_card

    action = " ".join(arguments)
    if action not in KNOWN:
        raise Problem(
            f"“card {action}” is not known.",
            "The launcher can install what a graphics card needs, and remove it.",
            f"Type one of: {', '.join(f'card {name}' for name in KNOWN)}",
        )
    sentence = (install_card if action == "install" else remove_card)(places, steps, env)
    steps.say(sentence)
    if reports is not None:
        reports.write(ready=True)
    return 0


def main(words: Sequence[str], root: Path | None = None) -> int:
    """Runs the command line `words`, shows errors as user-facing messages, and returns the exit code."""
    words = list(words)
    report = words[:1] == ["--report"]
    words = words[1:] if report else words
    command = words.pop(0) if words and words[0] in COMMANDS else "start"
    root = root or HERE.parent
    reports = Reports(sys.stdout.buffer) if report else None
    try:
        places = InstalledPlaces(root, environment_folder(root, os.environ))
    except Problem as problem:
        return tell(problem, reports)
    steps = ReportedSteps(places.log, reports, EndOfInput(sys.stdin.fileno())) if reports else Steps(places.log)
    catch_signals()
    try:
        return carry_out(command, words, places, steps, reports)
    except Problem as problem:
        return tell(problem, reports)
    except OSError as error:
        return tell(problem_of_system(error, places.venv.parent, USERS), reports)
    except (KeyboardInterrupt, Stopped):
        if reports is None:
            print(f"\n{STOPPED_CARD if command == 'card' else STOPPED}", file=sys.stderr)
        return CANCELLED


def tell(problem: Problem, reports: Reports | None) -> int:
    """Sends a problem to the program that reads the reports, or prints it to stderr; returns the exit code."""
    if reports is not None:
        reports.problem(problem)
    else:
        print(problem, file=sys.stderr)
    return USER_CAN_FIX


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
