"""`bench startup`: how long from the click until the window is seen, and until one can talk to the embedded default.

The real app is started as a child process again and again, with a home of its own, and says itself when it was where
(`app.gui.shell.start_report`). There a second talk takes the place of the first one, with the models that are loaded then.
One start before does not count: it warms the disk. One more is run with Python's own profile of imports.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.session.errors import UserError

PATIENCE_SECONDS = 120.0
WINDOW_GOAL, READY_GOAL, AGAIN_GOAL = 1.0, 4.0, 0.5
"""Seconds, medians."""
STEPS = {
    "imported": "the window's code is imported",
    "made": "the window is made",
    "painted": "the window is on the screen",
    "running": "ready to talk",
    "again": "a second talk, from its own start",
}
GOALS = {"painted": WINDOW_GOAL, "running": READY_GOAL, "again": AGAIN_GOAL}
HEAVIEST = 15
_PAINTED_LINE = "window painted"
_IMPORT = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| ( *)(\S+)")


@dataclass(frozen=True, slots=True)
class PackageImport:
    """A package that is imported until the window is seen: its modules' own milliseconds, and how many there are."""

    name: str
    own_ms: float
    modules: int


@dataclass(slots=True)
class StartupResult:
    """Seconds from the process's start to each step, start by start, and those that a second talk took from its own
    start; `problem`: why one could not talk.
    """

    times: dict[str, list[float]] = field(default_factory=dict)
    problem: str = ""
    packages: list[PackageImport] = field(default_factory=list)
    imported_ms: float = 0.0
    """All imports until the window is seen, as the profile has them: it makes them slower."""
    imported_modules: int = 0

    @property
    def ok(self) -> bool:
        """Whether all that could be measured is within its goal."""
        return all(self.median(step) <= goal for step, goal in GOALS.items() if self.times.get(step))

    def median(self, step: str) -> float:
        """Seconds."""
        return statistics.median(self.times[step])

    def table(self) -> str:
        """For people."""
        lines = [f"{'seconds from the start of the process':40} {'median':>8} {'min':>8} {'max':>8}"]
        for step, words in STEPS.items():
            if times := self.times.get(step):
                goal = f"   (goal {GOALS[step]:.1f})" if step in GOALS else ""
                lines.append(f"{words:40} {self.median(step):8.2f} {min(times):8.2f} {max(times):8.2f}{goal}")
        if self.problem:
            lines.append(f"Only the window was timed, for no talk could begin: {self.problem}")
        lines += [
            "",
            f"Imports until the window is on the screen: {self.imported_modules} modules, {self.imported_ms:.0f} ms "
            "while Python takes their times. The heaviest packages:",
            f"{'package':40} {'own ms':>8} {'modules':>8}",
        ]
        lines += [f"{row.name:40} {row.own_ms:8.0f} {row.modules:8}" for row in self.packages]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """For programs; seconds, and milliseconds where it says so."""
        return {
            "starts": len(self.times.get("painted", ())),
            "steps": {
                step: {"median": round(self.median(step), 3), "min": round(min(times), 3), "max": round(max(times), 3)}
                for step, times in self.times.items()
            },
            "goals": GOALS,
            "within_goal": self.ok,
            "problem": self.problem,
            "imports": {
                "all_ms": round(self.imported_ms, 1),
                "modules": self.imported_modules,
                "packages": [
                    {"name": row.name, "own_ms": round(row.own_ms, 1), "modules": row.modules} for row in self.packages
                ],
            },
        }


def run_startup(
    starts: int = 5, *, microphone: str = "", loudspeaker: str = "", progress: Callable[[str], None] = lambda _: None
) -> StartupResult:
    """Starts the app so many times: once before to warm the disk for several, and once behind for the profile. Raises
    UserError where the window doesn't even come.
    """
    result = StartupResult()
    with tempfile.TemporaryDirectory(prefix="kame-") as folder:
        home = _Home(Path(folder))
        home.settle(microphone=microphone, loudspeaker=loudspeaker)
        if starts > 1:
            progress("a start that does not count, to warm the disk")
            home.start()
        for number in range(starts):
            progress(f"start {number + 1} of {starts}")
            times, problem, _ = home.start()
            for step, seconds in times.items():
                result.times.setdefault(step, []).append(seconds)
            result.problem = result.problem or problem
        progress("a start with the profile of its imports")
        *_, said = home.start("-X", "importtime")
    result.times = {step: result.times[step] for step in STEPS if len(result.times.get(step, ())) == starts}
    result.packages, result.imported_ms, result.imported_modules = read_profile(said)
    return result


def read_profile(said: str) -> tuple[list[PackageImport], float, int]:
    """From what `-X importtime` says: the heaviest packages until the window is seen, all milliseconds, all modules."""
    own: dict[str, list[float]] = {}
    for line in said.partition(_PAINTED_LINE)[0].splitlines():
        if match := _IMPORT.match(line):
            own.setdefault(match[4].partition(".")[0], []).append(int(match[1]) / 1000)
    rows = sorted(
        (PackageImport(name, sum(times), len(times)) for name, times in own.items()),
        key=lambda row: row.own_ms,
        reverse=True,
    )
    return rows[:HEAVIEST], sum(row.own_ms for row in rows), sum(row.modules for row in rows)


class _Home:
    """A user's folders that the app finds nothing in, and leaves nothing behind outside of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = dict(os.environ)
        for name in ("config", "data", "state", "cache", "run"):
            (folder / name).mkdir(mode=0o700)
        if self._environment.pop("PYTHONDONTWRITEBYTECODE", ""):
            # Users' Pythons keep what they have compiled; where this one is not to, it is kept here.
            self._environment["PYTHONPYCACHEPREFIX"] = str(folder / "cache" / "python")
        if sys.platform == "win32":
            for name in ("APPDATA", "LOCAL_APPDATA"):
                self._environment[f"WIN_PD_OVERRIDE_{name}"] = str(folder / "config")
            self._environment["USERNAME"] = folder.name  # a window that is open is reached by the user's name
        else:
            self._move_runtime()
            for name in ("CONFIG", "DATA", "STATE", "CACHE"):
                self._environment[f"XDG_{name}_HOME"] = str(folder / name.lower())
            if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
                self._environment.setdefault("QT_QPA_PLATFORM", "offscreen")
        self.count = 0

    def _move_runtime(self) -> None:
        """A window that is open is reached in the folder for sockets; sound and screen are, too."""
        env, before = self._environment, os.environ.get("XDG_RUNTIME_DIR", "")
        env["XDG_RUNTIME_DIR"] = str(self._folder / "run")
        if not before:
            return
        env.setdefault("PIPEWIRE_RUNTIME_DIR", before)
        if os.path.exists(server := os.path.join(before, "pulse", "native")):
            env.setdefault("PULSE_SERVER", f"unix:{server}")
        if os.path.exists(bus := os.path.join(before, "bus")):
            env.setdefault("DBUS_SESSION_BUS_ADDRESS", f"unix:path={bus}")
        if display := env.get("WAYLAND_DISPLAY"):
            env["WAYLAND_DISPLAY"] = os.path.join(before, display)

    def settle(self, **values: str) -> None:
        """What the user has chosen, and that the first questions are answered."""
        folder = self._folder / "config" / "kame-desktop"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"first_run_done": True, **values}), "utf-8")

    def start(self, *options: str) -> tuple[dict[str, float], str, str]:
        """(seconds from the process's start to each step, why one could not talk, what it said on the error output)."""
        self.count += 1
        report, log = self._folder / f"report {self.count}", self._folder / "said"
        command = [sys.executable, *options, "-m", "app", "--report-start", str(report)]
        with open(log, "wb") as said:
            root = Path(__file__).resolve().parents[2]
            began = time.monotonic()
            child = subprocess.Popen(
                command, cwd=root, env=self._environment, stdout=said, stderr=said, stdin=subprocess.DEVNULL
            )
            try:
                child.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                raise UserError(
                    f"The window has not come, or could not be left, within {PATIENCE_SECONDS:.0f} seconds. See that "
                    "there is a screen, and that the app itself starts."
                ) from None
            finally:
                if child.poll() is None:
                    child.kill()
                    child.wait()
        words = log.read_text("utf-8", "replace")
        try:
            found = json.loads(report.read_text("utf-8"))
        except (OSError, ValueError):
            last = " ".join(words.split("\n")[-4:]).strip()
            raise UserError(f"The window did not come. The last that the app said: {last or 'nothing'}") from None
        times = found["times"]
        steps = {step: at - began for step, at in times.items()}
        if "running again" in times:
            steps["again"] = times["running again"] - times["begun again"]
        return steps, found["problem"], words
