"""`bench window`: whether the window stays smooth in a dense talk and with a long conversation.

A child process (`app.research.window.window`) measures; this module has the goals and the table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.diagnostics.tables import Progress, no_progress
from app.platform.child_environment import child_environment
from app.session.errors import UserError

APPLY_GOAL_MS = 4.0
FRAMES_GOAL = 50.0
PICTURE_GOAL_MS = 33.0
"""Two frames of a screen: more is visible as a hitch."""
LATE_GOAL_MS = 5.0
MEMORY_GOAL = 1.0
"""MB a minute of talk, of which only its words may be kept."""
WARM_SECONDS = 480.0
"""In a shorter talk most of the memory is filled once and says nothing of its growth."""
SCROLL_GOAL_MS = PICTURE_GOAL_MS
SEARCH_GOAL_MS = 100.0
PATIENCE = 3.0, 300.0
"""Timeout of the child: a factor on the conversation's length, and seconds."""
LIVE_SECONDS = 40.0
TURNS = 2000


@dataclass(frozen=True, slots=True)
class SmoothnessResult:
    """`found`: the figures that the child process has written."""

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
            _least("timeline, pictures a second, live", live["frames_per_second"], FRAMES_GOAL),
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
        """The result as a table."""
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
        """The result for JSON."""
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
    """Measures with a made-up talk of `minutes`. Raises UserError if the window can't be shown."""
    progress(f"a window through {live_seconds:.0f} s of talk in real time, and {minutes:g} minutes at full speed")
    environment = child_environment()
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="kame-") as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable,
            "-m",
            "app.research.window.window",
            str(report),
            str(minutes),
            str(live_seconds),
            str(turns),
        ]
        said = b""
        try:
            said = subprocess.run(
                command,
                env=environment,
                cwd=Path(__file__).resolve().parents[3],
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
            last = " ".join(said.decode("utf-8", "replace").split("\n")[-3:]).strip()
            raise UserError(f"The window could not be measured. The last that it said: {last or 'nothing'}") from None


def _most(words: str, value: float, goal: float | None = None) -> tuple[str, float, float | None, bool]:
    return words, value, goal, goal is None or value <= goal


def _least(words: str, value: float, goal: float) -> tuple[str, float, float | None, bool]:
    return words, value, goal, value >= goal
