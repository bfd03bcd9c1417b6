"""Interrupts the installed app's set-up on an empty Windows machine at random moments, and checks the next one.

    python -m tests.windows.try_interruptions SETUP.exe [--number 10] [--seed N]

`SETUP.exe` is the online installer. Needs root, to make a disk that can fill up, and the prefix that the Windows tests
have made. Ends with 1 if a set-up is not repaired by the next one, or stops without saying what to do.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tests.linux.failing_proxy import failing_proxy
from tests.linux.guest import mounted
from tests.linux.interruptions import WHOLE, problem_told
from tests.support.screen import virtual_screen
from tests.support.virtual_audio import virtual_audio
from tests.windows import installer_checks as checks
from tests.windows.conftest import give_desktop
from tests.windows.installation import SYSTEM
from tests.windows.wine import Wine

KINDS = ("power failure", "launcher killed", "disk full", "network gone")
ROOM, DOWNLOAD = 1600, 420
"""The size of the program's disk, and roughly the download of a set-up, in MB."""


class Interruptions:
    """Interrupts set-ups of the program in `folder`; each method returns a description."""

    def __init__(self, machine: Wine, folder: Path, chance: random.Random) -> None:
        self._machine, self._folder, self._chance = machine, folder, chance
        self._usual = 0.0

    def try_all(self, number: int) -> None:
        """Interrupts this many set-ups, in all ways in turn, and prints the results."""
        began = time.monotonic()
        checks.set_up(self._machine, self._folder)
        self._usual = time.monotonic() - began
        print(f"a set-up without an interruption: {self._usual:.1f} s", flush=True)
        for index in range(number):
            removed = checks.command(self._machine, self._folder, "remove-environment")
            assert removed.code == 0, removed.printed
            kind = KINDS[index % len(KINDS)]
            result = {
                "power failure": self._cut_off,
                "launcher killed": self._killed,
                "disk full": self._disk_full,
                "network gone": self._network_gone,
            }[kind]()
            print(f"{index + 1}. {kind}: {result}; {self._mended()}", flush=True)

    def _moment(self) -> float:
        return self._chance.uniform(0.3, max(1.0, self._usual - 1.0))

    def _cut_off(self) -> str:
        seconds = self._moment()
        with self._machine.started(self._folder / "KAME Desktop.exe", "setup") as running:
            code = _ended_within(running, seconds)
            self._machine.end()
        return f"after {seconds:.1f} s" if code is None else f"it was done before {seconds:.1f} s"

    def _killed(self) -> str:
        seconds = self._moment()
        with self._machine.started(self._folder / "KAME Desktop.exe", "setup") as running:
            if _ended_within(running, seconds) is not None:
                return f"it was done before {seconds:.1f} s"
        return f"after {seconds:.1f} s"

    def _disk_full(self) -> str:
        """Fills the disk while the set-up runs."""
        seconds = self._chance.uniform(0.3, max(1.0, self._usual / 4))
        filler = self._folder.parent / "filler"
        code = "import sys, time; time.sleep(float(sys.argv[1])); open(sys.argv[2], 'wb').write(bytes(1 << 31))"
        with subprocess.Popen([sys.executable, "-c", code, str(seconds), str(filler)], stderr=subprocess.DEVNULL):
            result = self._problem({})
        filler.unlink(missing_ok=True)
        return f"after {seconds:.1f} s; {result}"

    def _network_gone(self) -> str:
        size = self._chance.randrange(1, DOWNLOAD)
        with failing_proxy(size * 10**6) as proxy:
            result = self._problem({"HTTPS_PROXY": proxy.url})
        return f"after {size} MB; {result}"

    def _problem(self, env: Mapping[str, str]) -> str:
        """The interrupted set-up's message; it must end with what to do."""
        done = self._machine.run(
            self._folder / "kame-desktop.exe", "setup", seconds=checks.SET_UP_SECONDS, cwd=self._machine.home, env=env
        )
        if done.code == 0:
            return "it was enough"
        return f"it said “{problem_told(done.code, done.printed)}”"

    def _mended(self) -> str:
        """How the next set-up went: it has to end well, and every file has to be as its package says."""
        began = time.monotonic()
        checks.set_up(self._machine, self._folder)
        seconds = time.monotonic() - began
        checked = checks.command(self._machine, self._folder, "repair", seconds=checks.SET_UP_SECONDS)
        if checked.code != 0 or WHOLE not in checked.printed:
            sys.exit(f"The set-up ended well, but its files are not whole:\n{checked.printed}")
        return f"the next made it whole in {seconds:.1f} s"


def _ended_within(running: subprocess.Popen, seconds: float) -> int | None:
    """The exit code of a program that has ended by itself after some seconds; None if it runs still."""
    try:
        return running.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def main() -> None:
    """Runs the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setup", type=Path)
    parser.add_argument("--number", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    place = Path(tempfile.mkdtemp(prefix="kame-windows-"))
    machine = Wine(place / "prefix")
    try:
        with virtual_screen("1400x1000") as screen, virtual_audio(48_000) as audio:
            give_desktop(machine, screen, audio)
            machine.boot(SYSTEM)
            programs = checks.folder_of(machine).parent
            programs.mkdir(parents=True)
            with mounted("-t", "tmpfs", "-o", f"size={ROOM}m", "tmpfs", programs):
                try:
                    folder = checks.install(machine, args.setup.resolve())
                    Interruptions(machine, folder, random.Random(args.seed)).try_all(args.number)
                finally:
                    machine.end()
    finally:
        machine.end()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
