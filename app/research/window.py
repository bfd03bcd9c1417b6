"""Measures how smoothly the window runs on synthetic conversations. `bench window` starts it as a child process.

`python -m app.research.window REPORT MINUTES LIVE_SECONDS TURNS` writes the results as JSON to the file REPORT. There
are three measurements: a dense conversation at full speed, one in real time, and a long transcript. Events are
reproducible for a given seed and at least as dense as in a real conversation; all times are in seconds of session time.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.conversation import events as e
from app.conversation.events import Event
from app.conversation.frame import FRAME_SECONDS, end_of_frame
from app.diagnostics.tables import quantile
from app.gui.cards.find_bar import FindBar
from app.gui.controllers.context import WindowServices
from app.gui.design.theme import apply_theme
from app.gui.inspector.timeline import TICK_MS
from app.gui.state.choice import WindowChoices
from app.gui.state.past_talk import past_talk
from app.gui.state.session_model import BATCH_MS
from app.gui.window.daemon_executor import DaemonExecutor
from app.gui.window.main_window import MainWindow
from app.history.base import KeptTalk
from app.platform.hardware import resident_bytes
from app.session.control import Progress, SessionChoice
from app.session.session import Session
from app.settings.declarations import Settings

BACKENDS = (("Embedded", "SmolLM2-135M"), ("OpenAI", "gpt-4.1-mini"))
ROUND_SECONDS = 12.0
"""Length of a round: about five seconds of question and six of answer."""
SWAP_EVERY = 8
"""Once per this many rounds, the model is changed in the middle of an answer."""
WORDS = (
    "the river runs past an old mill where people used to bring their corn and today there is a small museum about "
    "bread mountains weather children school bridge carries its load window light summer train ticket garden water"
).split()


def dense_talk(seconds: float, seed: int = 7) -> list[e.Event]:
    """Returns the events of a conversation lasting this many seconds, in order."""
    chance = random.Random(seed)
    events: list[e.Event] = [e.SessionStarted(0.0, "cascade", "whisper tiny.en", *BACKENDS[0], "thinking")]
    talk = _Talk(events, chance)
    for number in range(math.ceil(seconds / ROUND_SECONDS)):
        talk.add_round(number * ROUND_SECONDS, number + 1, swapped=number % SWAP_EVERY == SWAP_EVERY - 1)
    for frame in range(int(seconds / FRAME_SECONDS)):
        at = end_of_frame(frame)
        within = at % ROUND_SECONDS
        mine, theirs = 0.3 <= within <= 4.6, 5.4 <= within <= 11.4
        loud = -16.0 + 9.0 * math.sin(at * 11.0) * math.sin(at * 3.1)
        late = 130.0 if chance.random() < 0.002 else 20.0
        events.append(e.LevelMeasured(at, loud if mine else -58.0, loud if theirs else -60.0, late))
    return sorted((event for event in events if event.at <= seconds), key=lambda event: event.at)


def many_turns(turns: int, seed: int = 11) -> list[e.Event]:
    """Returns the minimal events of a conversation with this many turns, counting both speakers."""
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


class _Talk:
    """Adds questions, each with its oracle revisions and its answer, to `events`, unsorted."""

    def __init__(self, events: list[e.Event], chance: random.Random) -> None:
        self._out, self._chance = events, chance
        self._revision = self._backend = 0

    def add_round(self, at: float, turn: int, *, swapped: bool) -> None:
        """Adds one question. `swapped`: the back-end changes in the middle of the answer."""
        out = self._out
        out.append(e.UserStarted(at + 0.3, turn))
        words = _words(self._chance, 16).split()
        for number in range(13):  # three partial transcripts a second
            heard = at + 0.6 + number / 3
            stable, unstable = " ".join(words[: number + 1]), " ".join(words[number + 1 : number + 3])
            out.append(e.TranscriptPartial(heard, turn, stable, unstable, heard - 0.1))
            if number % 3 == 2:
                self._request(heard, turn, stable, final=False, seconds=0.9)
        out += [
            e.UserPaused(at + 4.6, turn, at + 4.5),
            e.TranscriptFinal(at + 4.9, turn, f"{' '.join(words)}?", at + 4.6),
            e.UserEnded(at + 4.9, turn, at + 4.6, "words"),
        ]
        speaking = self._request(at + 4.95, turn, " ".join(words), final=True, seconds=1.6)
        out.append(e.AssistantStarted(at + 5.4, turn, speaking))
        for word in range(18):
            said = at + 5.6 + word * 0.31
            if swapped and word == 8:
                self._backend = 1 - self._backend
                out.append(e.BackendChanged(said, *BACKENDS[self._backend]))
                speaking = self._request(said, turn, " ".join(words), final=True, seconds=1.0)
                out.append(e.AssistantCorrected(said + 0.1, turn, speaking, "corrected"))
            out.append(e.AssistantSaid(said + 0.2, turn, self._chance.choice(WORDS), speaking))
        out.append(e.AssistantEnded(at + 11.4, turn, False))

    def _request(self, at: float, turn: int, words: str, *, final: bool, seconds: float) -> int:
        """Adds a revision of 20 to 60 words per second, fed frame by frame, that supersedes the previous one."""
        self._revision += 1
        number, out, backend = self._revision, self._out, BACKENDS[self._backend]
        pace, over = self._chance.uniform(20, 60), at + 0.15 + seconds
        count = round(pace * seconds)
        out.append(e.OracleRequested(at, number, turn, *backend, words, final))
        for step in range(int(seconds / 0.05)):
            out.append(e.OracleDelta(at + 0.15 + step * 0.05, number, f" {_words(self._chance, round(pace * 0.05))}"))
        if number > 1:
            out.append(e.OracleSuperseded(at + 0.15, number - 1, number))
        out += [e.OracleFed(at + 0.2 + frame * 0.08, number, 1, 12.0) for frame in range(int(seconds / 0.08) + 4)]
        out.append(e.OracleEnded(over, number, "complete" if final else "superseded", count))
        out.append(e.OracleCounted(over, number, *backend, 300, count, 0, True, 0.0, 150.0, pace, 400.0))
        return number


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=max(1, count)))


MEMORY_POINTS = 20
SCROLL_STEPS = 120
SEARCHED = ("bread", "Question 700", "mill where")


class _PaintTimes(QObject):
    """Records the times at which the timeline was painted."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.times.append(time.perf_counter())
        return False


def spread(values: Sequence[float]) -> dict[str, float]:
    """Returns the median, 99th percentile, maximum and count of the values."""
    shares = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {name: quantile(values, share) if len(values) else 0.0 for name, share in shares.items()} | {
        "count": len(values)
    }


class Bench:
    """Drives the real window with a `ReplaySession`."""

    def __init__(self, folder: Path) -> None:
        self.session = ReplaySession()

        async def factory(choice: SessionChoice, progress: Callable[[Progress], None]) -> Session:
            return cast(Session, self.session)

        settings = Settings(path=folder / "settings.json")
        settings.keep_recordings = False
        self.window = MainWindow(
            factory,
            settings,
            WindowServices(list_devices=lambda: (["Microphone"], ["Loudspeaker"]), choices=WindowChoices()),
        )

    async def start(self) -> None:
        """Shows the window with all panes and waits until the session is running."""
        self.window.panes.oracle_action.setChecked(True)
        self.window.panes.inspector_action.setChecked(True)
        self.window.show()
        self.window.begin()
        while self.window.manager.session is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)

    async def at_full_speed(self, seconds: float) -> dict[str, Any]:
        """Replays 33 ms batches of session time as fast as possible."""
        window, clock, events = self.window, ManualClock(), dense_talk(seconds)
        view = window.inspector.timeline.view
        view.edge.time.clock = clock  # runs as fast as the replay
        view.edge.begin()
        view.timer.stop()
        times: dict[str, list[float]] = {
            name: [] for name in ("apply_ms", "apply_processor_ms", "batch_ms", "paint_ms")
        }
        memory: list[tuple[float, float]] = []
        position, step, ticks = 0, BATCH_MS / 1000, 0
        batches = int(seconds / step)
        started = time.perf_counter()
        for number in range(1, batches + 1):
            clock.now = number * step
            batch = events[position : events_until(events, position, clock.now)]
            position += len(batch)
            start, spent = time.perf_counter(), time.thread_time()
            self.session.emit(batch)
            window.model.flush()
            applied, spent = time.perf_counter(), time.thread_time() - spent
            view.timer.stop()
            while (ticks + 1) * TICK_MS / 1000 <= clock.now:
                ticks += 1
                view.advance()
            QApplication.processEvents()  # paints
            end = time.perf_counter()
            times["paint_ms"].append((end - applied) * 1000)
            if batch:
                taken = {"apply_ms": applied - start, "apply_processor_ms": spent, "batch_ms": end - start}
                for name, second in taken.items():
                    times[name].append(second * 1000)
            if number % max(1, batches // MEMORY_POINTS) == 0:
                memory.append((round(clock.now, 1), round(resident_bytes() / 1e6, 1)))
                await asyncio.sleep(0)
        took = time.perf_counter() - started
        warm = memory[len(memory) // 2 :]
        tenth = max(1, len(times["apply_ms"]) // 10)
        slope = float(np.polyfit([at for at, _ in warm], [mb for _, mb in warm], 1)[0]) * 60 if len(warm) > 2 else 0.0
        return {
            "seconds": seconds,
            "events": len(events),
            "took_seconds": round(took, 2),
            **{name: spread(values) for name, values in times.items()},
            "apply_ms_begin": spread(times["apply_ms"][:tenth]),
            "apply_ms_end": spread(times["apply_ms"][-tenth:]),
            "memory_mb": memory,
            "memory_mb_per_minute": round(slope, 3),
        }

    async def in_real_time(self, seconds: float) -> dict[str, Any]:
        """Replays events from a thread that wakes for each frame, while the timeline follows."""
        window, loop = self.window, asyncio.get_running_loop()
        window.model.begin(first=True)
        view = window.inspector.timeline.view
        view.edge.time.clock = time.monotonic
        view.edge.begin()
        painted = _PaintTimes()
        view.installEventFilter(painted)
        thread = FrameThread(
            dense_talk(seconds, seed=3), seconds, lambda events: loop.call_soon_threadsafe(self.session.emit, events)
        )
        busy = time.thread_time()
        thread.start()
        while thread.is_alive():
            await asyncio.sleep(0.1)
        busy = time.thread_time() - busy
        view.removeEventFilter(painted)
        shown = np.array(painted.times)
        gaps = np.diff(shown[shown > shown[0] + 1.0]) * 1000 if len(shown) > 2 else np.zeros(0)
        return {
            "seconds": seconds,
            "frames_per_second": round(1000 / float(gaps.mean()), 1) if len(gaps) else 0.0,
            "picture_gap_ms": spread(list(gaps)),
            "late_ms": spread(thread.late_ms),
            "window_share": round(busy / seconds, 3),
            "switch_interval_ms": sys.getswitchinterval() * 1000,
        }

    async def long_transcript(self, turns: int) -> dict[str, Any]:
        """Opens a conversation of this many turns, scrolls through all of it, and searches it."""
        pane, model = self.window.transcript, self.window.model
        model.clear()
        QApplication.processEvents()
        talk = past_talk(KeptTalk(0.0, tuple(many_turns(turns))))
        held = [_painted(lambda: model.add_past([talk]), paint=False)]
        while pane.cards.showing:
            held.append(_painted(lambda: None))
        bar = pane.view.verticalScrollBar()
        shares = (1 - step / SCROLL_STEPS for step in range(SCROLL_STEPS + 1))
        scroll = [_painted(partial(bar.setValue, round(bar.maximum() * share))) for share in shares]
        search, steps = [], []
        find = pane.findChild(FindBar)
        assert find is not None
        find.appear()
        for words in SEARCHED:
            find.field.setText(words)
            search.append(_painted(partial(find.step, 1)))  # searches immediately instead of waiting for more typing
            steps += [_painted(partial(find.step, 1)) for _ in range(10)]
        find.leave()
        return {
            "turns": turns,
            "open_ms": round(sum(held), 1),
            "open_held_ms": spread(held),
            "scroll_ms": spread(scroll),
            "search_ms": spread(search),
            "next_ms": spread(steps),
        }


def _painted(act: Callable[[], object], *, paint: bool = True) -> float:
    """Calls `act` and returns the milliseconds that it took, including the repaint after it if `paint` is set."""
    start = time.perf_counter()
    act()
    if paint:
        QApplication.processEvents()
    return (time.perf_counter() - start) * 1000


FRAME_WORK_MS = 8.0
"""Computation time of the thread per frame, matching the real frame loop."""


class ReplaySession:
    """A stand-in for `Session` that ignores all commands."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Event], None]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name in ("press", "release", "write", "silence", "apply", "on_state"):
            return lambda *_, **__: None
        raise AttributeError(name)

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        self._listeners.append(listener)

    def emit(self, events: Iterable[Event]) -> None:
        """Passes the events to all listeners."""
        for event in events:
            for listener in self._listeners:
                listener(event)

    async def stop(self) -> None:
        pass


class FrameThread(threading.Thread):
    """Wakes every 80 ms, computes for `FRAME_WORK_MS`, and passes the frame's events to `deliver`."""

    def __init__(self, events: Sequence[Event], seconds: float, deliver: Callable[[list[Event]], object]) -> None:
        super().__init__(name="frames", daemon=True)
        self.late_ms: list[float] = []
        self._events, self._seconds, self._deliver = events, seconds, deliver

    def run(self) -> None:
        """Runs for the given number of seconds."""
        start, position = time.perf_counter(), 0
        matrix = np.random.default_rng(1).random((220, 220), np.float32)
        for frame in range(1, int(self._seconds / FRAME_SECONDS)):
            due = start + frame * FRAME_SECONDS
            time.sleep(max(0.0, due - time.perf_counter()))
            self.late_ms.append((time.perf_counter() - due) * 1000)
            until = time.perf_counter() + FRAME_WORK_MS / 1000
            while time.perf_counter() < until:  # mostly native code, like the models
                matrix @ matrix
            end = events_until(self._events, position, frame * FRAME_SECONDS)
            self._deliver(list(self._events[position:end]))
            position = end


def events_until(events: Sequence[Event], start: int, seconds: float) -> int:
    """Returns the index after the last event from `start` on whose session time is at most `seconds`."""
    while start < len(events) and events[start].at <= seconds:
        start += 1
    return start


class ManualClock:
    """A manually advanced clock, for benches and tests."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def measure(folder: Path, minutes: float, live_seconds: float, turns: int) -> dict[str, Any]:
    """Runs all three measurements."""
    bench = Bench(folder)
    await bench.start()
    live = await bench.in_real_time(live_seconds)
    bench.window.starter.start_fresh()
    while bench.window.manager.phase != "running":
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    full = await bench.at_full_speed(minutes * 60)
    long = await bench.long_transcript(turns)
    bench.window.close()
    await bench.window.finish()
    return {"platform": QApplication.platformName(), "full_speed": full, "live": live, "transcript": long}


def main(arguments: Sequence[str]) -> int:
    """Measures and writes the report."""
    report, minutes, live_seconds, turns = arguments
    app = QApplication(["kame-desktop"])
    loop = QEventLoop(app)
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    apply_theme(app, "system")
    QApplication.setQuitOnLastWindowClosed(False)
    with loop, tempfile.TemporaryDirectory(prefix="kame-") as folder:
        results = loop.run_until_complete(measure(Path(folder), float(minutes), float(live_seconds), int(turns)))
    Path(report).write_text(json.dumps(results), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
