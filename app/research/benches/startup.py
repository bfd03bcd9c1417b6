"""`bench startup`: seconds from the click until the window is visible, and until one can talk to the default back-end.

The real app is started several times as a child process with a home folder of its own, and reports itself when it
reached each step (`app.gui.window.start_report`). A second talk replaces the first one, to measure a start with loaded
models. A start before the others warms the disk and does not count; one after them runs with Python's import profile.
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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.diagnostics.tables import Progress, no_progress
from app.platform.children import child_environment
from app.session.errors import UserError
from app.settings.storage import write_stored
from app.settings.window_state import WindowState

PATIENCE_SECONDS = 120.0
WINDOW_GOAL, READY_GOAL, AGAIN_GOAL = 1.0, 4.0, 0.5
"""Medians in seconds."""
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
    """A package that is imported before the window is visible: its modules' own milliseconds and their number."""

    name: str
    own_ms: float
    modules: int


@dataclass(slots=True)
class StartupResult:
    """Seconds from the process's start to each step, for each start; for `again`, from the second talk's own start.

    `problem`: why no conversation could begin. `imported_ms`: all imports until the window is visible, slowed by the
    profile.
    """

    times: dict[str, list[float]] = field(default_factory=dict)
    problem: str = ""
    packages: list[PackageImport] = field(default_factory=list)
    imported_ms: float = 0.0
    imported_modules: int = 0

    @property
    def ok(self) -> bool:
        """Whether all measured medians are within their goals."""
        return all(self.median(step) <= goal for step, goal in GOALS.items() if self.times.get(step))

    def median(self, step: str) -> float:
        """Median seconds to a step."""
        return statistics.median(self.times[step])

    def table(self) -> str:
        """The result as a table."""
        lines = [f"{'seconds from the start of the process':40} {'median':>8} {'min':>8} {'max':>8}"]
        for step, words in STEPS.items():
            if times := self.times.get(step):
                goal = f"   (goal {GOALS[step]:.1f})" if step in GOALS else ""
                lines.append(f"{words:40} {self.median(step):8.2f} {min(times):8.2f} {max(times):8.2f}{goal}")
        if self.problem:
            lines.append(f"Only the window was timed, for no conversation could begin: {self.problem}")
        lines += [
            "",
            f"Imports until the window is on the screen: {self.imported_modules} modules, {self.imported_ms:.0f} ms "
            "while Python takes their times. The heaviest packages:",
            f"{'package':40} {'own ms':>8} {'modules':>8}",
        ]
        lines += [f"{row.name:40} {row.own_ms:8.0f} {row.modules:8}" for row in self.packages]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """The result for JSON: seconds, and milliseconds in keys with `_ms`."""
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
                "packages": [{**asdict(row), "own_ms": round(row.own_ms, 1)} for row in self.packages],
            },
        }


def run_startup(
    starts: int = 5, *, microphone: str = "", loudspeaker: str = "", progress: Progress = no_progress
) -> StartupResult:
    """Starts the app `starts` times, besides a warm-up (with several starts) and a profiled start. Raises UserError if
    the window doesn't appear.
    """
    result = StartupResult()
    with tempfile.TemporaryDirectory(prefix="kame-") as folder:
        home = _Home(Path(folder))
        home.write_settings(microphone=microphone, loudspeaker=loudspeaker)
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
        *_, output = home.start("-X", "importtime")
    result.times = {step: result.times[step] for step in STEPS if len(result.times.get(step, ())) == starts}
    result.packages, result.imported_ms, result.imported_modules = read_profile(output)
    return result


def read_profile(output: str) -> tuple[list[PackageImport], float, int]:
    """From `-X importtime`'s output: the heaviest packages until the window is visible, all milliseconds, all
    modules.
    """
    own: dict[str, list[float]] = {}
    for line in output.partition(_PAINTED_LINE)[0].splitlines():
        if match := _IMPORT.match(line):
            own.setdefault(match[4].partition(".")[0], []).append(int(match[1]) / 1000)
    rows = sorted(
        (PackageImport(name, sum(times), len(times)) for name, times in own.items()),
        key=lambda row: row.own_ms,
        reverse=True,
    )
    return rows[:HEAVIEST], sum(row.own_ms for row in rows), sum(row.modules for row in rows)


class _Home:
    """Empty user folders, so that the app finds no earlier files and leaves none behind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = child_environment()
        for name in ("config", "data", "state", "cache", "run"):
            (folder / name).mkdir(mode=0o700)
        if self._environment.pop("PYTHONDONTWRITEBYTECODE", ""):
            # A user's Python caches bytecode; if this one may not, its cache goes here.
            self._environment["PYTHONPYCACHEPREFIX"] = str(folder / "cache" / "python")
        if sys.platform == "win32":
            for name in ("APPDATA", "LOCAL_APPDATA"):
                self._environment[f"WIN_PD_OVERRIDE_{name}"] = str(folder / "config")
            self._environment["USERNAME"] = folder.name  # an open window is found by the user's name
        else:
            self._move_runtime()
            for name in ("CONFIG", "DATA", "STATE", "CACHE"):
                self._environment[f"XDG_{name}_HOME"] = str(folder / name.lower())
            if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
                self._environment.setdefault("QT_QPA_PLATFORM", "offscreen")
        self.count = 0

    def _move_runtime(self) -> None:
        """Moves the folder of sockets, where an open window would be found, but keeps sound and screen reachable."""
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

    def write_settings(self, **values: str) -> None:
        """Writes the settings, and that the welcome's cards are finished with."""
        folder = self._folder / "config" / "kame-desktop"
        folder.mkdir()
        write_stored(folder / "settings.json", values, unread=False)
        WindowState(first_run_done=True, path=folder / "window.json").save()

    def start(self, *options: str) -> tuple[dict[str, float], str, str]:
        """Starts the app; returns the seconds to each step, why no conversation could begin, and its output."""
        self.count += 1
        report, log = self._folder / f"report {self.count}", self._folder / "said"
        command = [sys.executable, *options, "-m", "app", "--report-start", str(report)]
        with open(log, "wb") as output:
            root = Path(__file__).resolve().parents[3]
            began = time.monotonic()
            child = subprocess.Popen(
                command, cwd=root, env=self._environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL
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
