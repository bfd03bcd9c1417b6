"""Set up what a command of bootstrap.py needs, and do nothing twice."""

from __future__ import annotations

from collections.abc import Mapping

from installation.card import gpu_settled, worth_another_try
from installation.card_packages import install_gpu
from installation.command import write_launcher
from installation.completion import complete_system
from installation.environment import make_environment, venv_version
from installation.exclusion import only_one
from installation.locks import INCLUDES, TESTS, digest, wanted_locks
from installation.packages import add_project_to_path, install_locks
from installation.places import Places
from installation.problems import Problem
from installation.setup import Setup
from installation.stamp import read_stamp, up_to_date, write_stamp
from installation.steps import Steps
from installation.system_parts import Part, system_parts


def is_ready(places: Places, env: Mapping[str, str], command: str, use_gpu: bool, stamp: Mapping) -> bool:
    """Tell whether a command needs no set-up. A second start does nothing else."""
    try:
        wanted = wanted_locks(places, command)
        gpu_lock = digest(places.locks / "gpu.txt")
    except OSError as error:
        raise Problem(
            f"A lock file is missing: {error}.",
            "This copy of the project is incomplete.",
            "Get the project again, all of it.",
        ) from error
    if not up_to_date(stamp, wanted) or (command not in TESTS and not gpu_settled(stamp, use_gpu, gpu_lock)):
        return False
    if command == "setup" and use_gpu and worth_another_try(stamp["gpu"]):
        return False
    version = venv_version(places, env)
    return version is not None and version == stamp.get("python")


def prepare(places: Places, steps: Steps, env: Mapping[str, str], command: str, use_gpu: bool) -> list[Part]:
    """Set up everything that a command (one of `LOCKS_FOR`) needs; return what the system still lacks."""
    stamp = read_stamp(places)
    parts = system_parts(command)
    if is_ready(places, env, command, use_gpu, stamp):
        write_launcher(places)
        if command == "run" and not stamp.get("missing"):
            return []
    else:
        with only_one(places.set_up_lock, steps) as hold:
            # The set-up that we waited for may have done everything.
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
    # Packages of an earlier set-up stay: those of the tests outlive a later start of the app.
    locks = dict(before.get("locks", {}))
    wanted = wanted_locks(places, command)
    if any(locks.get(name) != value for name, value in wanted.items()):
        install_locks(setup, command)
    locks.update(wanted)
    for name in wanted:
        locks.update({inner: digest(places.locks / inner) for inner in INCLUDES.get(name, ())})
    add_project_to_path(places)
    gpu = before.get("gpu", {})
    again = command == "setup" and use_gpu and worth_another_try(gpu)
    settled = command in TESTS or gpu_settled(before, use_gpu, digest(places.locks / "gpu.txt"))
    if again or not settled:
        gpu = install_gpu(setup, use_gpu)
    write_stamp(places, {"python": python, "locks": locks, "gpu": gpu, "missing": before.get("missing", [])})
