"""Interrupt an installed app's first set-up at random moments, and tell whether the next start mends it."""

from __future__ import annotations

import random
import subprocess
import sys
import time

from tests.linux.failing_proxy import failing_proxy
from tests.linux.guest import UID, Guest, mounted

WHOLE = "All files are as they should be."
DOWNLOAD, ROOM = 450, 1600
"""MB that a set-up fetches, and that it finds room with, about."""
SHARE = ".local/share"
KINDS = ("all killed", "launcher killed", "disk full", "network gone")


class Interruptions:
    """Each method interrupts one set-up, lets the next one run, and returns what there is to tell."""

    def __init__(self, linux: Guest, command: str, chance: random.Random) -> None:
        self._linux, self._command, self._chance = linux, command, chance
        self._data = linux.home / SHARE / "kame-desktop"
        self._usual = 0.0

    def try_all(self, number: int) -> None:
        """Interrupt `number` set-ups, of each kind about as many, and print how each went on."""
        began = time.monotonic()
        self._afresh()
        self._linux.run(f"{self._command} setup", user=True)
        self._usual = time.monotonic() - began
        print(f"a set-up without an interruption: {self._usual:.1f} s", flush=True)
        for index in range(number):
            self._afresh()
            kind = KINDS[index % len(KINDS)]
            told = {
                "all killed": lambda: self._killed(whole=True),
                "launcher killed": lambda: self._killed(whole=False),
                "disk full": self._disk_full,
                "network gone": self._network_gone,
            }[kind]()
            print(f"{index + 1}. {kind}: {told}", flush=True)

    def _killed(self, whole: bool) -> str:
        seconds = self._chance.uniform(0.3, max(1.0, self._usual - 0.5))
        child = self._linux.start(f"exec {self._command} setup")
        try:
            child.wait(seconds)
            return f"it was done before {seconds:.1f} s; {self._mended()}"
        except subprocess.TimeoutExpired:
            self._linux.kill_all() if whole else child.kill()
            child.wait(20)
        return f"after {seconds:.1f} s; {self._mended()}"

    def _disk_full(self) -> str:
        """A disk that has room enough at first, until something else fills it. In memory it is much quicker."""
        seconds = self._chance.uniform(0.3, max(1.0, self._usual / 4))
        filler = f"(sleep {seconds:.1f}; head -c {2 * ROOM}M /dev/zero >{self._data.name}-filler) >/dev/null 2>&1"
        with mounted("-t", "tmpfs", "-o", f"size={ROOM}m,uid={UID},gid={UID}", "tmpfs", self._data.parent):
            told = self._problem(f"cd {SHARE} && {filler} & exec ")
            self._linux.kill_all()
            (self._data.parent / f"{self._data.name}-filler").unlink(missing_ok=True)
            return f"after {seconds:.1f} s; {told}; with room again {self._mended()}"

    def _network_gone(self) -> str:
        size = self._chance.randrange(1, DOWNLOAD)
        with failing_proxy(size * 10**6) as proxy:
            told = self._problem(f"env HTTPS_PROXY={proxy.url} ")
        return f"after {size} MB: {told}; with the network again {self._mended()}"

    def _problem(self, before: str) -> str:
        """What the interrupted set-up says to its user. It has to end with a sentence that tells what to do."""
        began = time.monotonic()
        done = self._linux.tried(f"{before}{self._command} setup")
        seconds = time.monotonic() - began
        if done.returncode == 0:
            return f"it was enough ({seconds:.1f} s)"
        return f"stopped after {seconds:.1f} s with “{problem_told(done.returncode, done.stdout)}”"

    def _mended(self) -> str:
        """How the next start went: it has to end well, and every file has to be as its package says."""
        began = time.monotonic()
        self._linux.run(f"{self._command} setup", user=True)
        seconds = time.monotonic() - began
        checked = self._linux.run(f"{self._command} repair", user=True)
        if WHOLE not in checked:
            sys.exit(f"The set-up ended well, but its files are not whole:\n{checked}")
        rest = sorted(path.name for path in self._data.glob("environment?*"))
        return f"the next start made it whole in {seconds:.1f} s (left beside it: {', '.join(rest) or 'nothing'})"

    def _afresh(self) -> None:
        self._linux.run(f"rm -rf {SHARE}/kame-desktop && mkdir -p {SHARE}", user=True)


def problem_told(code: int, printed: str) -> str:
    """The last lines of a set-up that failed. Ends the trial where they don't tell the user what to do."""
    last = " ".join(printed.strip().splitlines()[-3:])
    if code != 2 or "again" not in last or "Traceback" in printed:
        sys.exit(f"The set-up ended with {code} and without a sentence that helps:\n{printed}")
    return last
