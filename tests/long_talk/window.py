"""The real window in a long talk: it gets the session's events in batches, and is drawn a few times a second."""

import asyncio
import queue
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

from app.conversation import events as e
from app.gui.controllers.context import WindowServices
from app.gui.state.choice import WindowChoices
from app.gui.state.session_model import BATCH_MS
from app.gui.window.main_window import MainWindow
from app.history.store import HistoryStore
from app.research.window import ManualClock, ReplaySession
from app.session.control import SessionChoice
from app.session.session import Session
from app.settings.declarations import Settings
from tests.long_talk.process import Held, held
from tests.long_talk.talk import LongTalk

DRAW_SECONDS = 0.5
"""The talk's time between two pictures; at the talk's end, it is as smooth as ever or not."""
SCROLL_STEPS = 240
SETTLE_SECONDS = 1.0
"""Real time for what the window does when a session has ended."""


class LongWindow:
    """A window with a history in `folder`, fed by a `LongTalk`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session = ReplaySession()
        self.store = HistoryStore(folder / "history.sqlite3", None)

        async def factory(choice: SessionChoice, progress: Callable[[str], None]) -> Session:
            return cast(Session, self.session)

        settings = Settings(path=folder / "settings.json")
        services = WindowServices(
            list_devices=lambda: (["Microphone"], ["Loudspeaker"]), choices=WindowChoices(), history=self.store
        )
        self.window = MainWindow(factory, settings, services)

    async def run(self, seconds: float, every: float, told: Callable[[Held], None]) -> list[Held]:
        """Shows a talk of this length; returns what is held after its first minute, and then every `every` seconds."""
        window, clock = self.window, ManualClock()
        window.panes.oracle_action.setChecked(True)
        window.panes.inspector_action.setChecked(True)
        window.show()
        window.begin()
        while window.manager.session is None:
            await asyncio.sleep(0.01)
        view = window.inspector.timeline.view
        view.edge.time.clock = clock
        view.edge.begin()
        view.timer.stop()
        waiting: queue.Queue[e.Event | None] = queue.Queue(500)
        talk = LongTalk(seconds, self.folder / "talk", waiting.put)
        found: list[Held] = []
        batch: list[e.Event] = []
        drawn, measured, turns = 0.0, 60.0, 0
        talk.start()
        while talk.is_alive() or not waiting.empty():
            try:
                event = waiting.get(timeout=0.05)
            except queue.Empty:
                continue
            assert event is not None
            turns += isinstance(event, e.UserEnded | e.AssistantEnded)
            batch.append(event)
            if event.at < clock.now + BATCH_MS / 1000:
                continue
            clock.now = event.at
            self.session.emit(batch)
            batch = []
            window.model.flush()
            view.timer.stop()
            if clock.now - drawn >= DRAW_SECONDS:
                drawn = clock.now
                view.advance()
                view.repaint()
                window.transcript.view.viewport().repaint()
                await asyncio.sleep(0)
            if clock.now >= measured:
                await self.store.conversations()  # all that was put is written
                found.append(held(clock.now, turns))
                told(found[-1])
                measured = every * (clock.now // every + 1)
        self.session.emit(batch)
        window.model.flush()
        await asyncio.sleep(SETTLE_SECONDS)
        if talk.error is not None:
            raise talk.error
        assert not talk.failures, talk.failures
        return found

    def scroll(self) -> list[float]:
        """Scrolls the transcript from its end to its beginning; returns the milliseconds of each step."""
        view, took = self.window.transcript.view, []
        bar = view.verticalScrollBar()
        for step in range(SCROLL_STEPS + 1):
            began = time.perf_counter()
            bar.setValue(round(bar.maximum() * (1 - step / SCROLL_STEPS)))
            view.viewport().repaint()
            took.append((time.perf_counter() - began) * 1000)
        return took

    async def close(self) -> None:
        self.window.close()
        await self.window.finish()
        await self.store.close()
        await asyncio.sleep(SETTLE_SECONDS)
