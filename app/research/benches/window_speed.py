"""`bench startup` and `bench window`: how soon the window appears, and whether it stays smooth. Each uses a child
process.

`bench startup` starts the real app several times with its own home folder. The app reports when it reached each step
(`app.gui.window.start_report`). A second conversation then replaces the first, to measure a start with loaded models.
An initial start warms the disk cache and is not counted; a final one runs with Python's import profile.

`bench window` has `app.research.window` measure a dense conversation and a long transcript. Goals and table are here.
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

ROOT = Path(__file__).resolve().parents[3]
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
    """A package imported before the window is visible: the total milliseconds and the number of its modules."""

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
        """Returns the result as a table."""
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
        """Returns the result for JSON: seconds, and milliseconds in keys with `_ms`."""
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
    """Starts the app `starts` times, in addition to a profiled start and, with several starts, a warm-up.

    Raises UserError if the window doesn't appear.
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
    """Parses `-X importtime` output: the heaviest packages before the window is visible, total milliseconds, total
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


def _environment() -> dict[str, str]:
    """Returns the environment of a child that shows the window, off the screen where there is none."""
    environment = child_environment()
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    return environment


def _last(words: str) -> str:
    return " ".join(words.split("\n")[-4:]).strip() or "nothing"


class _Home:
    """Empty user folders, so that the app finds no existing files and leaves none behind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = _environment()
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
        """Writes the settings, with the welcome cards marked as completed."""
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
            began = time.monotonic()
            child = subprocess.Popen(
                command, cwd=ROOT, env=self._environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL
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
            raise UserError(f"The window did not come. The last that the app said: {_last(words)}") from None
        times = found["times"]
        steps = {step: at - began for step, at in times.items()}
        if "running again" in times:
            steps["again"] = times["running again"] - times["begun again"]
        return steps, found["problem"], words


APPLY_GOAL_MS = 4.0
FRAMES_GOAL = 50.0
PICTURE_GOAL_MS = 33.0
"""Two screen frames; a longer gap is visible as a stutter."""
LATE_GOAL_MS = 5.0
MEMORY_GOAL = 1.0
"""MB per minute of conversation, of which only the words may be kept."""
WARM_SECONDS = 480.0
"""A shorter conversation mostly fills memory once, so its growth is not representative."""
SCROLL_GOAL_MS = PICTURE_GOAL_MS
SEARCH_GOAL_MS = 100.0
PATIENCE = 3.0, 300.0
"""Timeout of the child process: a factor on the conversation's length, and additional seconds."""
LIVE_SECONDS = 40.0
TURNS = 2000


@dataclass(frozen=True, slots=True)
class SmoothnessResult:
    """`found`: the figures written by the child process."""

    found: dict[str, Any]

    def rows(self) -> list[tuple[str, float, float | None, bool]]:
        """Label, value, goal and whether it is met; in milliseconds unless the label says otherwise."""
        full, live, long = (self.found[part] for part in ("full_speed", "live", "transcript"))
        memory_goal = MEMORY_GOAL if full["seconds"] >= WARM_SECONDS else None
        return [
            _most("a batch of events applied, p50", full["apply_ms"]["p50"]),
            _most("a batch of events applied, p99", full["apply_ms"]["p99"], APPLY_GOAL_MS),
            _most("a batch of events applied, worst", full["apply_ms"]["max"]),
            _most("of which the processor worked, p99", full["apply_processor_ms"]["p99"]),
            _most("the same in the conversation's first tenth, p50", full["apply_ms_begin"]["p50"]),
            _most("and in its last, p50", full["apply_ms_end"]["p50"]),
            _most("painted behind it, p99", full["paint_ms"]["p99"]),
            _most("both together, p50", full["batch_ms"]["p50"]),
            _most("both together, p99", full["batch_ms"]["p99"]),
            (
                "timeline, pictures a second, live",
                pictures := live["frames_per_second"],
                FRAMES_GOAL,
                pictures >= FRAMES_GOAL,
            ),
            _most("from picture to picture, p99", live["picture_gap_ms"]["p99"]),
            _most("from picture to picture, worst", live["picture_gap_ms"]["max"], PICTURE_GOAL_MS),
            _most("frame loop's wake, late, p50", live["late_ms"]["p50"]),
            _most("frame loop's wake, late, p99", live["late_ms"]["p99"], LATE_GOAL_MS),
            _most("frame loop's wake, late, worst", live["late_ms"]["max"]),
            _most("window's share of a core, live, in %", live["window_share"] * 100),
            _most("memory, MB more a minute of talk", full["memory_mb_per_minute"], memory_goal),
            _most(f"a conversation of {long['turns']} turns opened", long["open_ms"]),
            _most("which held the window up, worst", long["open_held_ms"]["max"], PICTURE_GOAL_MS),
            _most("scrolled there by a step, p99", long["scroll_ms"]["p99"], SCROLL_GOAL_MS),
            _most("searched there, worst", long["search_ms"]["max"], SEARCH_GOAL_MS),
            _most("gone on to the next found, p99", long["next_ms"]["p99"]),
        ]

    @property
    def ok(self) -> bool:
        """Whether all goals are met."""
        return all(met for *_, met in self.rows())

    def table(self) -> str:
        """Returns the result as a table."""
        full, live = self.found["full_speed"], self.found["live"]
        lines = [
            f"{full['seconds'] / 60:.1f} minutes of talk ({full['events']} events) shown in {full['took_seconds']:.0f} "
            f"s, and {live['seconds']:.0f} s in real time, on “{self.found['platform']}”",
            f"{'milliseconds, where nothing else is said':44} {'':>8} {'goal':>8}",
        ]
        for words, value, goal, met in self.rows():
            told = "" if goal is None else f" {goal:8.1f}" + ("" if met else "   missed")
            lines.append(f"{words:44} {value:8.2f}{told}")
        points = ", ".join(f"{megabytes:.0f}" for _, megabytes in full["memory_mb"])
        lines.append(f"Memory in MB, from the conversation's start to its end: {points}")
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """Returns the result for JSON."""
        rows = [
            {"what": words, "value": round(value, 3), "goal": goal, "met": met}
            for words, value, goal, met in self.rows()
        ]
        return {"within_goal": self.ok, "rows": rows, **self.found}


def run_smoothness(
    minutes: float = 10.0,
    *,
    live_seconds: float = LIVE_SECONDS,
    turns: int = TURNS,
    progress: Progress = no_progress,
) -> SmoothnessResult:
    """Measures with a synthetic conversation of `minutes`. Raises UserError if the window can't be shown."""
    progress(f"a window through {live_seconds:.0f} s of talk in real time, and {minutes:g} minutes at full speed")
    with tempfile.TemporaryDirectory(prefix="kame-") as folder:
        report = Path(folder) / "report.json"
        arguments = map(str, (report, minutes, live_seconds, turns))
        said = b""
        try:
            said = subprocess.run(
                [sys.executable, "-m", "app.research.window", *arguments],
                env=_environment(),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=(minutes * 60 + live_seconds) * PATIENCE[0] + PATIENCE[1],
            ).stderr
            return SmoothnessResult(json.loads(report.read_text("utf-8")))
        except subprocess.TimeoutExpired:
            raise UserError(
                "The window was not done with the conversation in time. Measure with a shorter one: --minutes 1."
            ) from None
        except (OSError, ValueError):
            last = _last(said.decode("utf-8", "replace"))
            raise UserError(f"The window could not be measured. The last that it said: {last}") from None


def _most(words: str, value: float, goal: float | None = None) -> tuple[str, float, float | None, bool]:
    return words, value, goal, goal is None or value <= goal
