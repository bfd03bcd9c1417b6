"""Makes up the events of a conversation as dense as real ones get: the same for a seed, of any length.

All times are seconds of the session.

`bench window`: whether the window stays smooth in a dense talk and with a long conversation.

A child process (`app.research.window.window`) measures; this module has the goals and the table.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.conversation import events as e
from app.conversation.frame import end_of_frame
from app.diagnostics.tables import Progress, no_progress
from app.platform.children import child_environment
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


BACKENDS = (("Embedded", "SmolLM2-135M"), ("OpenAI", "gpt-4.1-mini"))
ROUND_SECONDS = 12.0
"""The user speaks for five of them, the answer takes six."""
SWAP_EVERY = 8
"""In every so many rounds, the model is changed in mid-answer."""
WORDS = (
    "the river runs past an old mill where people used to bring their corn and today there is a small museum about "
    "bread mountains weather children school bridge carries its load window light summer train ticket garden water"
).split()


def dense_talk(seconds: float, seed: int = 7) -> list[e.Event]:
    """The events of a conversation of this many seconds, in order."""
    chance = random.Random(seed)
    events: list[e.Event] = [e.SessionStarted(0.0, "cascade", "whisper tiny.en", *BACKENDS[0], "thinking")]
    revision, backend = 0, 0
    for number in range(math.ceil(seconds / ROUND_SECONDS)):
        swapped = number % SWAP_EVERY == SWAP_EVERY - 1
        part = _Round(number * ROUND_SECONDS, number + 1, revision, backend, chance)
        events += part.make(swapped)
        revision, backend = part.revision, part.backend
    for frame in range(int(seconds / 0.08)):
        at = end_of_frame(frame)
        within = at % ROUND_SECONDS
        mine, theirs = 0.3 <= within <= 4.6, 5.4 <= within <= 11.4
        loud = -16.0 + 9.0 * math.sin(at * 11.0) * math.sin(at * 3.1)
        late = 130.0 if chance.random() < 0.002 else 20.0
        events.append(e.LevelMeasured(at, loud if mine else -58.0, loud if theirs else -60.0, late))
    return sorted((event for event in events if event.at <= seconds), key=lambda event: event.at)


def many_turns(turns: int, seed: int = 11) -> list[e.Event]:
    """The events of this many turns, counting both sides, and nothing else."""
    chance = random.Random(seed)
    events: list[e.Event] = [e.SessionStarted(0.0, "cascade", "whisper tiny.en", *BACKENDS[0], "thinking")]
    for number in range(1, turns // 2 + 1):
        at = number * ROUND_SECONDS
        question, answer = _words(chance, 14), _words(chance, 28)
        events += [
            e.UserStarted(at, number),
            e.TranscriptFinal(at + 4, number, f"Question {number}: {question}?", at + 4),
            e.UserEnded(at + 4, number, at + 4, "words"),
            e.OracleRequested(at + 4, number, number, *BACKENDS[0], question, True),
            e.OracleDelta(at + 5, number, answer),
            e.AssistantStarted(at + 5, number, number),
            e.AssistantSaid(at + 6, number, answer, number),
            e.OracleEnded(at + 6, number, "complete", 28),
            e.AssistantEnded(at + 9, number, False),
        ]
    return events


class _Round:
    """A question with its oracle revisions, and the answer."""

    def __init__(self, at: float, turn: int, revision: int, backend: int, chance: random.Random) -> None:
        self.at, self.turn, self.revision, self.backend = at, turn, revision, backend
        self._chance = chance
        self._out: list[e.Event] = []

    def make(self, swapped: bool) -> list[e.Event]:
        """The events, not in order."""
        at, turn, out = self.at, self.turn, self._out
        out.append(e.UserStarted(at + 0.3, turn))
        words = _words(self._chance, 16).split()
        for number in range(13):  # three partial transcripts a second
            heard = at + 0.6 + number / 3
            stable, unstable = " ".join(words[: number + 1]), " ".join(words[number + 1 : number + 3])
            out.append(e.TranscriptPartial(heard, turn, stable, unstable, heard - 0.1))
            if number % 3 == 2:
                self._request(heard, stable, final=False, seconds=0.9)
        out += [
            e.UserPaused(at + 4.6, turn, at + 4.5),
            e.TranscriptFinal(at + 4.9, turn, f"{' '.join(words)}?", at + 4.6),
            e.UserEnded(at + 4.9, turn, at + 4.6, "words"),
        ]
        self._request(at + 4.95, " ".join(words), final=True, seconds=1.6)
        speaking = self.revision
        out.append(e.AssistantStarted(at + 5.4, turn, speaking))
        for word in range(18):
            said = at + 5.6 + word * 0.31
            if swapped and word == 8:
                self.backend = 1 - self.backend
                out.append(e.BackendChanged(said, *BACKENDS[self.backend]))
                self._request(said, " ".join(words), final=True, seconds=1.0)
                speaking = self.revision
                out.append(e.AssistantCorrected(said + 0.1, turn, speaking, "corrected"))
            out.append(e.AssistantSaid(said + 0.2, turn, self._chance.choice(WORDS), speaking))
        out.append(e.AssistantEnded(at + 11.4, turn, False))
        return out

    def _request(self, at: float, words: str, *, final: bool, seconds: float) -> None:
        """Adds a revision of 20 to 60 words a second that is fed frame by frame; it supersedes the one before."""
        self.revision += 1
        number, out, backend = self.revision, self._out, BACKENDS[self.backend]
        pace = self._chance.uniform(20, 60)
        out.append(e.OracleRequested(at, number, self.turn, *backend, words, final))
        steps = int(seconds / 0.05)
        for step in range(steps):
            out.append(e.OracleDelta(at + 0.15 + step * 0.05, number, f" {_words(self._chance, round(pace * 0.05))}"))
        if number > 1:
            out.append(e.OracleSuperseded(at + 0.15, number - 1, number))
        over = at + 0.15 + seconds
        out += [e.OracleFed(at + 0.2 + frame * 0.08, number, 1, 12.0) for frame in range(int(seconds / 0.08) + 4)]
        out.append(e.OracleEnded(over, number, "complete" if final else "superseded", round(pace * seconds)))
        out.append(
            e.OracleCounted(over, number, *backend, 300, round(pace * seconds), 0, True, 0.0, 150.0, pace, 400.0)
        )


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=max(1, count)))
