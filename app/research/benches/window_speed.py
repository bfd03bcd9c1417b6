"""`bench startup` and `bench window`: how soon the window appears, and whether it stays smooth.

`bench startup` starts the real app several times in a child process with its own home folder. The app reports when it
reached each step (`app.gui.window.start_report`). A second conversation then replaces the first, to measure a start
with loaded models. An initial start warms the disk cache and is not counted; a final one runs with Python's import
profile.

`bench window` runs `app.research.window` in a child process, which measures a dense conversation and a long transcript.
The goals and the table are defined here.
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

from app.diagnostics.tables import Progress, markdown, no_progress, rounded
from app.platform.children import child_environment
from app.research.results import grouped, shown, unreadable
from app.session.control import UserError
from app.settings.kept_state import WindowState
from app.settings.storage import write_stored

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 120.0
STEPS = {
    "imported": "the window's code is imported",
    "made": "the window is made",
    "painted": "the window is on the screen",
    "heard": "one can talk: what is said is kept",
    "running": "ready to answer",
    "again": "a second talk, from its own start",
}
GOALS = {"painted": 1.0, "running": 4.0, "again": 0.5}
"""Medians in seconds."""
HEAVIEST = 15
_PAINTED_LINE = "window painted"
_IMPORT = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| ( *)(\S+)")


@dataclass(frozen=True, slots=True)
class PackageImport:
    """A package imported before the window is visible: its own import time in milliseconds and number of modules."""

    name: str
    own_ms: float
    modules: int


@dataclass(slots=True)
class StartupResult:
    """Seconds from the process's start to each step, for each start; `again` counts from the second conversation's
    start.

    `problem`: why no conversation could begin. `imported_ms`: time of all imports until the window is visible,
    including the profile's overhead.
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
        """Returns the median seconds to a step."""
        return statistics.median(self.times[step])

    def table(self) -> str:
        """Returns the result as Markdown tables."""
        rows = [
            (words, *(f"{of(times):.2f}" for of in (statistics.median, min, max)), shown(GOALS.get(step), 1))
            for step, words in STEPS.items()
            if (times := self.times.get(step))
        ]
        lines = markdown(("seconds from the start of the process", "median", "min", "max", "goal"), rows)
        if self.problem:
            lines.append(f"Only the window was timed, for no conversation could begin: {self.problem}")
        told = (
            f"Imports until the window is on the screen: {self.imported_modules} modules, {self.imported_ms:.0f} ms "
            "while Python takes their times. The heaviest packages:"
        )
        packages = [(row.name, f"{row.own_ms:.0f}", row.modules) for row in self.packages]
        return "\n".join([*lines, "", told, "", *markdown(("package", "own ms", "modules"), packages)])

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict: times in seconds, or milliseconds under keys with `_ms`."""
        imports = {"all_ms": self.imported_ms, "modules": self.imported_modules}
        document = {
            "starts": len(self.times.get("painted", ())),
            "steps": {
                step: {"median": self.median(step), "min": min(times), "max": max(times)}
                for step, times in self.times.items()
            },
            "goals": GOALS,
            "within_goal": self.ok,
            "problem": self.problem,
            "imports": {**imports, "packages": [asdict(row) for row in self.packages]},
        }
        return rounded(document, 3)


def run_startup(
    starts: int = 5, *, microphone: str = "", loudspeaker: str = "", progress: Progress = no_progress
) -> StartupResult:
    """Starts the app `starts` times, in addition to a profiled start and, with several starts, a warm-up.

    Raises UserError if the window doesn't appear.
    """
    result = StartupResult()
    with tempfile.TemporaryDirectory(prefix="kame-") as folder:
        home = _Home(Path(folder), microphone=microphone, loudspeaker=loudspeaker)
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
    """Parses `-X importtime` output: the slowest packages imported before the window appears, the total time
    in milliseconds, and the number of modules.
    """
    found = [match for line in output.partition(_PAINTED_LINE)[0].splitlines() if (match := _IMPORT.match(line))]
    rows = [
        PackageImport(name, sum(int(match[1]) for match in matches) / 1000, len(matches))
        for name, matches in grouped(found, lambda match: match[4].partition(".")[0]).items()
    ]
    rows.sort(key=lambda row: -row.own_ms)
    return rows[:HEAVIEST], sum(row.own_ms for row in rows), len(found)


def _environment() -> dict[str, str]:
    """Returns the environment of a child that shows the window, offscreen if there is no display."""
    environment = child_environment()
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    return environment


def last_words(output: str) -> str:
    """Returns the last lines of a program's output."""
    return " ".join(output.strip().split("\n")[-4:]) or "nothing"


def make_home(folder: Path, **settings: object) -> dict[str, str]:
    """Creates empty user folders, with these settings and the welcome cards marked as completed.

    Returns the environment variables that name them.
    """
    homes = {f"XDG_{name.upper()}_HOME": str(folder / name) for name in ("config", "data", "state", "cache")}
    config = folder / "config" / "kame-desktop"
    config.mkdir(parents=True)
    write_stored(config / "settings.json", settings, unread=False)
    WindowState(first_run_done=True, path=config / "window.json").save()
    return homes


class _Home:
    """The user folders for all starts, so that the app finds no existing files and leaves none behind."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._folder = folder
        self._environment = _environment()
        homes = make_home(folder, **settings)
        if self._environment.pop("PYTHONDONTWRITEBYTECODE", ""):
            # A user's Python caches bytecode; if this one may not, its cache goes here.
            self._environment["PYTHONPYCACHEPREFIX"] = str(folder / "cache" / "python")
        if sys.platform == "win32":
            for name in ("APPDATA", "LOCAL_APPDATA"):
                self._environment[f"WIN_PD_OVERRIDE_{name}"] = str(folder / "config")
            self._environment["USERNAME"] = folder.name  # a running window is found by the user name
        else:
            self._move_runtime()
            self._environment |= homes

    def _move_runtime(self) -> None:
        """Moves the socket folder, where a running window would be found, but keeps sound and display reachable."""
        env, before = self._environment, os.environ.get("XDG_RUNTIME_DIR", "")
        env["XDG_RUNTIME_DIR"] = str(self._folder / "run")
        (self._folder / "run").mkdir(mode=0o700)
        if not before:
            return
        env.setdefault("PIPEWIRE_RUNTIME_DIR", before)
        if os.path.exists(server := os.path.join(before, "pulse", "native")):
            env.setdefault("PULSE_SERVER", f"unix:{server}")
        if os.path.exists(bus := os.path.join(before, "bus")):
            env.setdefault("DBUS_SESSION_BUS_ADDRESS", f"unix:path={bus}")
        if display := env.get("WAYLAND_DISPLAY"):
            env["WAYLAND_DISPLAY"] = os.path.join(before, display)

    def start(self, *options: str) -> tuple[dict[str, float], str, str]:
        """Starts the app; returns the seconds to each step, why no conversation could begin, and its output."""
        report = self._folder / "report"
        report.unlink(missing_ok=True)
        command = [sys.executable, *options, "-m", "app", "--report-start", str(report)]
        began = time.monotonic()
        output = run_child(command, self._environment, PATIENCE_SECONDS)
        if output is None:
            raise UserError(
                f"The window has not come, or could not be left, within {PATIENCE_SECONDS:.0f} seconds. See that "
                "there is a screen, and that the app itself starts."
            )
        with unreadable(UserError, f"The window did not come. The last that the app said: {last_words(output)}"):
            found = json.loads(report.read_text("utf-8"))
        times = found["times"]
        steps = {step: at - began for step, at in times.items()}
        if "running again" in times:
            steps["again"] = times["running again"] - times["begun again"]
        return steps, found["problem"], output


def run_child(command: list[str], environment: dict[str, str], patience: float) -> str | None:
    """Runs a program from the app's folder and returns its output; None if it was ended after `patience` seconds.

    The output goes to a file: a pipe would stay open as long as any of the program's own children runs.
    """
    with tempfile.TemporaryFile() as output:
        how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        try:
            subprocess.run(command, cwd=ROOT, env=environment, timeout=patience, check=False, **how)
        except subprocess.TimeoutExpired:
            return None
        output.seek(0)
        return output.read().decode("utf-8", "replace")


APPLY_GOAL_MS = 4.0
FRAMES_GOAL = 50.0
PICTURE_GOAL_MS = 33.0
"""Two screen frames; a longer gap is visible as a stutter."""
LATE_GOAL_MS = 5.0
MEMORY_GOAL = 1.0
"""MB per minute of conversation; only the text of the conversation may be kept."""
WARM_SECONDS = 480.0
"""A shorter conversation mostly fills memory once, so its growth is not representative."""
SCROLL_GOAL_MS = PICTURE_GOAL_MS
SEARCH_GOAL_MS = 100.0
PATIENCE = 3.0, 300.0
"""Timeout of the child process: a factor on the conversation's length, and additional seconds."""
PICTURES = "timeline, pictures a second, live"
"""The only figure for which higher is better."""


@dataclass(frozen=True, slots=True)
class SmoothnessResult:
    """The smoothness of the window. `found`: the figures written by the child process."""

    found: dict[str, Any]

    def rows(self) -> list[tuple[str, float, float | None, bool]]:
        """Returns each figure's label, value and goal and whether it is met; in ms unless the label says otherwise."""
        full, live, long = (self.found[part] for part in ("full_speed", "live", "transcript"))
        memory_goal = MEMORY_GOAL if full["seconds"] >= WARM_SECONDS else None
        rows: list[tuple[str, float, float | None]] = [
            ("a batch of events applied, p50", full["apply_ms"]["p50"], None),
            ("a batch of events applied, p99", full["apply_ms"]["p99"], APPLY_GOAL_MS),
            ("a batch of events applied, worst", full["apply_ms"]["max"], None),
            ("of which the processor worked, p99", full["apply_processor_ms"]["p99"], None),
            ("the same in the conversation's first tenth, p50", full["apply_ms_begin"]["p50"], None),
            ("and in its last, p50", full["apply_ms_end"]["p50"], None),
            ("painted behind it, p99", full["paint_ms"]["p99"], None),
            ("both together, p50", full["batch_ms"]["p50"], None),
            ("both together, p99", full["batch_ms"]["p99"], None),
            (PICTURES, live["frames_per_second"], FRAMES_GOAL),
            ("from picture to picture, p99", live["picture_gap_ms"]["p99"], None),
            ("from picture to picture, worst", live["picture_gap_ms"]["max"], PICTURE_GOAL_MS),
            ("frame loop's wake, late, p50", live["late_ms"]["p50"], None),
            ("frame loop's wake, late, p99", live["late_ms"]["p99"], LATE_GOAL_MS),
            ("frame loop's wake, late, worst", live["late_ms"]["max"], None),
            ("window's share of a core, live, in %", live["window_share"] * 100, None),
            ("memory, MB more a minute of talk", full["memory_mb_per_minute"], memory_goal),
            (f"a conversation of {long['turns']} turns opened", long["open_ms"], None),
            ("which held the window up, worst", long["open_held_ms"]["max"], PICTURE_GOAL_MS),
            ("scrolled there by a step, p99", long["scroll_ms"]["p99"], SCROLL_GOAL_MS),
            ("searched there, worst", long["search_ms"]["max"], SEARCH_GOAL_MS),
            ("gone on to the next found, p99", long["next_ms"]["p99"], None),
        ]
        return [
            (words, value, goal, goal is None or (value >= goal if words == PICTURES else value <= goal))
            for words, value, goal in rows
        ]

    @property
    def ok(self) -> bool:
        """Whether all goals are met."""
        return all(met for *_, met in self.rows())

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        full, live = self.found["full_speed"], self.found["live"]
        title = (
            f"{full['seconds'] / 60:.1f} minutes of talk ({full['events']} events) shown in {full['took_seconds']:.0f} "
            f"s, and {live['seconds']:.0f} s in real time, on “{self.found['platform']}”"
        )
        rows = [
            (words, f"{value:.2f}", f"{shown(goal, 1)}{'' if met else ' missed'}")
            for words, value, goal, met in self.rows()
        ]
        points = ", ".join(f"{megabytes:.0f}" for _, megabytes in full["memory_mb"])
        memory = f"Memory in MB, from the conversation's start to its end: {points}"
        return "\n".join([title, "", *markdown(("milliseconds if not stated otherwise", "", "goal"), rows), "", memory])

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        rows = [
            {"what": words, "value": round(value, 3), "goal": goal, "met": met}
            for words, value, goal, met in self.rows()
        ]
        return {"within_goal": self.ok, "rows": rows, **self.found}


def run_smoothness(minutes: float, live_seconds: float, turns: int, progress: Progress) -> SmoothnessResult:
    """Measures the window with a synthetic conversation of `minutes`. Raises UserError if the window can't be shown."""
    progress(f"a window through {live_seconds:.0f} s of talk in real time, and {minutes:g} minutes at full speed")
    with tempfile.TemporaryDirectory(prefix="kame-") as folder:
        report = Path(folder) / "report.json"
        arguments = map(str, (report, minutes, live_seconds, turns))
        command = [sys.executable, "-m", "app.research.window", *arguments]
        output = run_child(command, _environment(), (minutes * 60 + live_seconds) * PATIENCE[0] + PATIENCE[1])
        if output is None:
            raise UserError(
                "The window was not done with the conversation in time. Measure with a shorter one: --minutes 1."
            )
        with unreadable(UserError, f"The window could not be measured. The last that it said: {last_words(output)}"):
            return SmoothnessResult(json.loads(report.read_text("utf-8")))
