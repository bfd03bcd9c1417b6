"""The three measurements: a dense conversation at full speed and in real time, and a long transcript."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from app.gui.cards.find_bar import FindBar
from app.gui.inspector.timeline import TICK_MS
from app.gui.state.choice import WindowChoices
from app.gui.transcript.past_talk import past_talk
from app.gui.window.event_pump import BATCH_MS
from app.gui.window.main_window import MainWindow
from app.gui.window.services import WindowServices
from app.history.base import KeptTalk
from app.platform.hardware import resident_bytes
from app.research.window.dense_talk import dense_talk, many_turns
from app.research.window.replay_session import FrameThread, ManualClock, ReplaySession, events_until
from app.session.control import SessionChoice, SessionControl
from app.settings.declarations import Settings

MEMORY_POINTS = 20
SCROLL_STEPS = 120
SEARCHED = ("bread", "Question 700", "mill where")


class _PaintTimes(QObject):
    """Records when the timeline was painted."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.times.append(time.perf_counter())
        return False


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, 99th percentile, maximum and count."""
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
    """The real window with a `ReplaySession`."""

    def __init__(self, folder: Path) -> None:
        self.session = ReplaySession()

        async def factory(choice: SessionChoice, progress: Callable[[str], None]) -> SessionControl:
            return cast(SessionControl, self.session)

        settings = Settings(path=folder / "settings.json")
        settings.first_run_done, settings.keep_recordings = True, False
        self.window = MainWindow(
            factory,
            settings,
            WindowServices(list_devices=lambda: (["Microphone"], ["Loudspeaker"]), choices=WindowChoices()),
        )

    async def start(self) -> None:
        """Shows the window with all panes and waits until the session runs."""
        self.window.panes.oracle_action.setChecked(True)
        self.window.panes.inspector_action.setChecked(True)
        self.window.show()
        self.window.begin()
        while self.window.manager.session is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)

    async def at_full_speed(self, seconds: float) -> dict[str, Any]:
        """Shows batches of 33 ms of session time one after the other, without waiting."""
        window, clock, events = self.window, ManualClock(), dense_talk(seconds)
        view = window.inspector.timeline.view
        view.edge.time.clock = clock  # runs as fast as the replay
        view.edge.begin()
        view.timer.stop()
        apply_ms: list[float] = []
        spent_ms: list[float] = []
        paint_ms: list[float] = []
        whole_ms: list[float] = []
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
            window.pump.flush()
            applied, spent = time.perf_counter(), time.thread_time() - spent
            view.timer.stop()
            while (ticks + 1) * TICK_MS / 1000 <= clock.now:
                ticks += 1
                view.advance()
            QApplication.processEvents()  # paints
            end = time.perf_counter()
            if batch:
                apply_ms.append((applied - start) * 1000)
                spent_ms.append(spent * 1000)
                whole_ms.append((end - start) * 1000)
            paint_ms.append((end - applied) * 1000)
            if number % max(1, batches // MEMORY_POINTS) == 0:
                memory.append((round(clock.now, 1), round(resident_bytes() / 1e6, 1)))
                await asyncio.sleep(0)
        took = time.perf_counter() - started
        warm = memory[len(memory) // 2 :]
        tenth = max(1, len(apply_ms) // 10)
        slope = float(np.polyfit([at for at, _ in warm], [mb for _, mb in warm], 1)[0]) * 60 if len(warm) > 2 else 0.0
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
        """Shows events from a thread that wakes at each frame, with the timeline following."""
        window, loop = self.window, asyncio.get_running_loop()
        window.inspector.begin(first=True)
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
        """Opens a conversation of this many turns, scrolls it from end to end, and searches it."""
        pane = self.window.transcript
        pane.clear()
        QApplication.processEvents()
        talk = past_talk(KeptTalk(0.0, tuple(many_turns(turns))))
        start = time.perf_counter()
        pane.show_talk(talk, "Bench")
        held = [(time.perf_counter() - start) * 1000]
        while pane.showing:
            step = time.perf_counter()
            QApplication.processEvents()
            held.append((time.perf_counter() - step) * 1000)
        opened = time.perf_counter() - start
        bar, scroll = pane.view.verticalScrollBar(), []
        for step in range(SCROLL_STEPS + 1):
            start = time.perf_counter()
            bar.setValue(round(bar.maximum() * (1 - step / SCROLL_STEPS)))
            QApplication.processEvents()
            scroll.append((time.perf_counter() - start) * 1000)
        search, steps = [], []
        find = pane.findChild(FindBar)
        assert find is not None
        find.appear()
        for words in SEARCHED:
            find.field.setText(words)
            start = time.perf_counter()
            find.step(1)  # searches at once instead of waiting for more letters
            QApplication.processEvents()
            search.append((time.perf_counter() - start) * 1000)
            for _ in range(10):
                start = time.perf_counter()
                find.step(1)
                QApplication.processEvents()
                steps.append((time.perf_counter() - start) * 1000)
        find.leave()
        return {
            "turns": turns,
            "open_ms": round(opened * 1000, 1),
            "open_held_ms": spread(held),
            "scroll_ms": spread(scroll),
            "search_ms": spread(search),
            "next_ms": spread(steps),
        }
