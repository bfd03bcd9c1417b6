"""Measures the window itself: a dense talk at full speed, then in real time, and a long transcript.

`python -m app.gui.bench.window REPORT MINUTES LIVE_SECONDS TURNS` writes what it measured to the file REPORT, as JSON.
Run by `bench window` in a child process: the real window, and a session that only tells a made-up talk.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.conversation.events import Event
from app.conversation.frame import FRAME_SECONDS
from app.gui.bench.dense_talk import dense_talk, many_turns
from app.gui.shell.daemon_executor import DaemonExecutor
from app.gui.shell.event_pump import BATCH_MS
from app.gui.shell.window import MainWindow, WindowChoices
from app.gui.timeline.plot import TICK_MS
from app.gui.widgets.session_time import ManualClock
from app.gui.widgets.theme import apply_theme
from app.platform.hardware import resident_bytes
from app.session.control import SessionChoice
from app.settings.declarations import Settings

MEMORY_POINTS = 20
SCROLL_STEPS = 120
SEARCHED = ("bread", "Question 700", "mill where")
FRAME_WORK_MS = 8.0
"""What the thread that stands for the frame loop computes in each frame."""


class ReplaySession:
    """A session that tells what it is given. What is asked of it is of no account."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Event], None]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("set_") or name in ("press", "release", "write", "hand_over"):
            return lambda *_: None
        raise AttributeError(name)

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        """See `SessionControl`."""
        self._listeners.append(listener)

    def say(self, events: Iterable[Event]) -> None:
        """Tells these events."""
        for event in events:
            for listener in self._listeners:
                listener(event)

    async def stop(self) -> None:
        """See `SessionControl`."""


class _Pictures(QObject):
    """Notes when the timeline was painted."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.times.append(time.perf_counter())
        return False


class FrameThread(threading.Thread):
    """Wakes every 80 ms as the frame loop does, computes a little, and hands the frame's events to the event loop."""

    def __init__(self, events: Sequence[Event], seconds: float, hand: Callable[[list[Event]], None]) -> None:
        super().__init__(name="frames", daemon=True)
        self.late_ms: list[float] = []
        self._events, self._seconds, self._hand = events, seconds, hand

    def run(self) -> None:
        """Runs for the given seconds."""
        begin, place, work = time.perf_counter(), 0, np.random.default_rng(1).random((220, 220), np.float32)
        for frame in range(1, int(self._seconds / FRAME_SECONDS)):
            due = begin + frame * FRAME_SECONDS
            time.sleep(max(0.0, due - time.perf_counter()))
            self.late_ms.append((time.perf_counter() - due) * 1000)
            until = time.perf_counter() + FRAME_WORK_MS / 1000
            while time.perf_counter() < until:  # native code for the most part, as the models are
                work @ work
            told = place
            while place < len(self._events) and self._events[place].at <= frame * FRAME_SECONDS:
                place += 1
            self._hand(list(self._events[told:place]))


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, 99th percentile and greatest."""
    if not len(values):
        return {"p50": 0.0, "p99": 0.0, "max": 0.0, "count": 0}
    p50, p99 = np.percentile(values, (50, 99))
    return {
        "p50": round(float(p50), 3),
        "p99": round(float(p99), 3),
        "max": round(float(max(values)), 3),
        "count": len(values),
    }


class Bench:
    """The window on the screen, with a talk that is about to begin."""

    def __init__(self, folder: Path) -> None:
        self.session = ReplaySession()

        async def factory(choice: SessionChoice, progress: Callable[[str], None]) -> ReplaySession:
            return self.session

        settings = Settings(path=folder / "settings.json")
        settings.first_run_done, settings.keep_recordings = True, False
        self.window = MainWindow(
            factory, settings, list_devices=lambda: (["Microphone"], ["Loudspeaker"]), choices=WindowChoices()
        )

    async def begin(self) -> None:
        """Shows it, and waits until the talk runs."""
        self.window.show()
        self.window.begin()
        while self.window.manager.session is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)

    async def at_full_speed(self, seconds: float) -> dict[str, Any]:
        """The talk in batches of 33 ms, each as soon as the one before is shown; memory at points of it."""
        window, clock, events = self.window, ManualClock(), dense_talk(seconds)
        view = window.timeline.view
        view.edge.time.clock = clock  # goes as fast as the talk
        view.edge.begin()
        view.timer.stop()
        apply_ms: list[float] = []
        spent_ms: list[float] = []
        paint_ms: list[float] = []
        whole_ms: list[float] = []
        memory: list[tuple[float, float]] = []
        place, step, picture = 0, BATCH_MS / 1000, 0
        batches = int(seconds / step)
        began = time.perf_counter()
        for number in range(1, batches + 1):
            clock.now = number * step
            told = place
            while place < len(events) and events[place].at <= clock.now:
                place += 1
            start, spent = time.perf_counter(), time.thread_time()
            self.session.say(events[told:place])
            window.pump.flush()
            applied, spent = time.perf_counter(), time.thread_time() - spent
            view.timer.stop()
            while (picture + 1) * TICK_MS / 1000 <= clock.now:
                picture += 1
                view.advance()
            QApplication.processEvents()  # what has to be painted is
            end = time.perf_counter()
            if place > told:
                apply_ms.append((applied - start) * 1000)
                spent_ms.append(spent * 1000)
                whole_ms.append((end - start) * 1000)
            paint_ms.append((end - applied) * 1000)
            if number % max(1, batches // MEMORY_POINTS) == 0:
                memory.append((round(clock.now, 1), round(resident_bytes() / 1e6, 1)))
                await asyncio.sleep(0)
        took = time.perf_counter() - began
        warm = memory[len(memory) // 2 :]
        tenth = max(1, len(apply_ms) // 10)
        slope = float(np.polyfit(*zip(*warm, strict=True), 1)[0]) * 60 if len(warm) > 2 else 0.0
        return {
            "seconds": seconds,
            "events": len(events),
            "took_seconds": round(took, 2),
            "apply_ms": spread(apply_ms),
            "apply_processor_ms": spread(spent_ms),
            "apply_ms_begin": spread(apply_ms[:tenth]),
            "apply_ms_end": spread(apply_ms[-tenth:]),
            "paint_ms": spread(paint_ms),
            "batch_ms": spread(whole_ms),
            "memory_mb": memory,
            "memory_mb_per_minute": round(slope, 3),
        }

    async def in_real_time(self, seconds: float) -> dict[str, Any]:
        """The talk as it would come, from a thread that wakes each frame, with the timeline following."""
        window, loop = self.window, asyncio.get_running_loop()
        window.timeline.begin()
        view = window.timeline.view
        view.edge.time.clock = time.monotonic
        view.edge.begin()
        pictures = _Pictures()
        view.installEventFilter(pictures)
        thread = FrameThread(
            dense_talk(seconds, seed=3),
            seconds,
            lambda events: loop.call_soon_threadsafe(self.session.say, events),
        )
        busy = time.thread_time()
        thread.start()
        while thread.is_alive():
            await asyncio.sleep(0.1)
        busy = time.thread_time() - busy
        view.removeEventFilter(pictures)
        shown = np.array(pictures.times)
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
        """A conversation of so many turns: opened, scrolled from end to end, and searched."""
        pane = self.window.transcript
        pane.clear()
        QApplication.processEvents()
        events = many_turns(turns)
        start = time.perf_counter()
        pane.show_talk(events, "Bench")
        QApplication.processEvents()
        opened = time.perf_counter() - start
        bar, scroll = pane.view.verticalScrollBar(), []
        for step in range(SCROLL_STEPS + 1):
            start = time.perf_counter()
            bar.setValue(round(bar.maximum() * (1 - step / SCROLL_STEPS)))
            QApplication.processEvents()
            scroll.append((time.perf_counter() - start) * 1000)
        search, steps = [], []
        pane.find_bar.appear()
        for words in SEARCHED:
            pane.find_bar.field.setText(words)
            start = time.perf_counter()
            pane.find_bar.step(1)  # searches at once, without waiting for more letters
            QApplication.processEvents()
            search.append((time.perf_counter() - start) * 1000)
            for _ in range(10):
                start = time.perf_counter()
                pane.find_bar.step(1)
                QApplication.processEvents()
                steps.append((time.perf_counter() - start) * 1000)
        pane.find_bar.leave()
        return {
            "turns": turns,
            "open_ms": round(opened * 1000, 1),
            "scroll_ms": spread(scroll),
            "search_ms": spread(search),
            "next_ms": spread(steps),
        }


async def measure(folder: Path, minutes: float, live_seconds: float, turns: int) -> dict[str, Any]:
    """All of it, on the running loop."""
    bench = Bench(folder)
    await bench.begin()
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
    """Measures, and writes the report."""
    report, minutes, live_seconds, turns = arguments
    app = QApplication.instance() or QApplication(["kame-desktop"])
    loop = QEventLoop(app)
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    apply_theme(app, "system")
    QApplication.setQuitOnLastWindowClosed(False)
    with loop, tempfile.TemporaryDirectory(prefix="kame-") as folder:
        found = loop.run_until_complete(measure(Path(folder), float(minutes), float(live_seconds), int(turns)))
    Path(report).write_text(json.dumps(found), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
