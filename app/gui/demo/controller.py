"""Opens the demo, and reports when the user's own conversation should be resumed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.demo.base import DemoOffer, DemoOrder, chosen_backends
from app.gui.state.background_tasks import log_fault
from app.gui.state.session_manager import SessionManager
from app.session.control import BackendChoice

if TYPE_CHECKING:
    from app.demo.service import DemoService
    from app.gui.demo.course import DemoCourse
    from app.gui.demo.screen import DemoScreen

MOST_MODELS = 9
"""The maximum number of models: one for each of the keys 1 to 9."""


class DemoController(QObject):
    """Opens and closes the demo: `open` uses the defaults, `begin` takes a `DemoOrder`.

    Args:
        service: the demo's service.
        manager: the sessions of the user's conversation, which is stopped for the demo.
        window: the parent of the demo's window.
        talks: returns whether the user has a conversation that is running or about to start.
        known: returns the user's back-ends, the one of the conversation first.
        label: returns the display name of a back-end.
    """

    began = Signal()
    """Emitted once the demo has been opened and the user's session, if any, has been stopped."""
    ended = Signal(bool)
    """Emitted when the demo is closed. True if the user's session should be restarted; False if none was running
    before, or if the user has moved on to something else.
    """
    failed = Signal(str)

    def __init__(
        self,
        service: DemoService,
        manager: SessionManager,
        window: QWidget,
        *,
        talks: Callable[[], bool],
        known: Callable[[], Sequence[BackendChoice]] = lambda: (),
        label: Callable[[BackendChoice], str] | None = None,
    ) -> None:
        super().__init__(window)
        self.screen: DemoScreen | None = None
        self.course: DemoCourse | None = None
        """The demo while it is open."""
        self.clock = time.monotonic
        """Returns the time in seconds, for the next course."""
        self._order = DemoOrder()
        self._service, self._manager, self._window = service, manager, window
        self._talks, self._known, self._label = talks, known, label
        self._talked = False  # whether the user's conversation was stopped for the demo
        self._closing: asyncio.Task[None] | None = None
        manager.before_start = self._gone  # two simultaneous sessions would compete for the audio devices

    def begin(self, order: DemoOrder) -> None:
        """Opens the demo as specified by `order`."""
        self._order = order
        self.open()

    def open(self) -> None:
        """Opens the demo and brings it to the front."""
        from app.gui.demo.course import DemoCourse
        from app.gui.demo.screen import DemoScreen

        if self.screen is None:
            self.screen = DemoScreen(self._window)
            self.screen.leave_wanted.connect(self.leave)
        self.screen.appear(self._order.full)
        if self.course is None:
            self._talked = self._talks()
            self._manager.stop()
            self.began.emit()
            self.course = DemoCourse(self._service, self.screen, self._manager.wanted, self._look, self.clock)
            self.course.failed.connect(self.failed)
            self.course.begin()

    def leave(self, *, again: bool = True) -> None:
        """Closes the demo. `again`: whether to resume the user's conversation, if there was one."""
        course, self.course = self.course, None
        if course is not None and self.screen is not None:
            self._closing = asyncio.get_running_loop().create_task(course.close(), name="close the demo")
            self._closing.add_done_callback(log_fault)
            self._closing.add_done_callback(lambda _: course.deleteLater())
            self.screen.hide()
            self.ended.emit(again and self._talked)

    def make_way(self) -> None:
        """Closes the demo without resuming the user's session. Called when the user starts a conversation or navigates
        elsewhere.
        """
        self.leave(again=False)

    async def close(self) -> None:
        """Closes the demo when the main window closes. Must be called before the session manager is closed."""
        self.make_way()
        await self._gone()

    async def _gone(self) -> None:
        """Waits until the demo has released all audio devices."""
        if self._closing is not None:
            await asyncio.wait([self._closing])

    async def _look(self) -> DemoOffer:
        """Returns the models that can answer, by their display names. Raises UserError."""
        await self._manager.idle()
        offer = await self._service.offer(self._known())
        label = self._label
        named = [replace(one, label=label(one.choice)) if label else one for one in offer.backends]
        return replace(offer, backends=chosen_backends(named, self._order.backends)[:MOST_MODELS])
