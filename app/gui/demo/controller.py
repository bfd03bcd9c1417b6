"""Opens the demo, and reports when the user's own conversation should be resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.demo.base import DemoOffer, DemoOrder, DemoResult, chosen_backends
from app.demo.service import document
from app.gui.state.background_tasks import BackgroundTasks, log_fault
from app.gui.state.session_manager import SessionManager
from app.platform.files import write_json

if TYPE_CHECKING:
    from app.demo.service import DemoService
    from app.gui.demo.course import DemoCourse
    from app.gui.demo.screen import DemoScreen

_LOOKING = "look what the demo can use"


class DemoController(QObject):
    """Opens and closes the demo: `open` uses the defaults, `begin` takes a `DemoOrder`.

    `talks` returns whether the user has a conversation that is running or about to start.
    """

    began = Signal()
    """Emitted once the demo has been opened and the user's session, if any, has been stopped."""
    ended = Signal(bool)
    """Emitted when the demo is closed. True if the user's session should be restarted; False if none was running
    before, or if the user has moved on to something else.
    """
    finished = Signal(object)
    """Emits the `DemoResult` once the figures are displayed."""
    failed = Signal(str)

    def __init__(
        self,
        service: DemoService,
        manager: SessionManager,
        background: BackgroundTasks,
        window: QWidget,
        *,
        talks: Callable[[], bool],
    ) -> None:
        super().__init__(window)
        self.screen: DemoScreen | None = None
        self.course: DemoCourse | None = None
        self.running = False
        """Whether the demo is open."""
        self.written = False
        """Whether the demo ran to the end with usable results and all files requested by the order were written."""
        self._order = DemoOrder()
        self._service = service
        self._manager = manager
        self._background = background
        self._window = window
        self._talks = talks
        self._talked = False  # whether the user's conversation was stopped for the demo
        self._closing: asyncio.Task[None] | None = None
        manager.before_start = self._gone  # two simultaneous sessions would compete for the audio devices

    def begin(self, order: DemoOrder) -> None:
        """Opens the demo as specified by `order`. If unattended, it writes its files and closes the main window."""
        self._order = order
        self.open()

    def open(self) -> None:
        """Opens the demo and brings it to the front."""
        screen = self._screen()
        if not self.running:
            self.running = True
            self._talked = self._talks()
            self._manager.stop()
            self.began.emit()
            screen.start_page.show_status(self.tr("Looking for models …"), ready=False)
            screen.show_page(screen.start_page)
            self._background.run(self, _LOOKING, self._look, self._start, self._tell)
        screen.appear(self._order.full)

    def leave(self, *, again: bool = True) -> None:
        """Closes the demo. `again`: whether to resume the user's conversation, if there was one."""
        if not self.running:
            return
        self.running = False
        self._background.cancel(_LOOKING)
        course, self.course = self.course, None
        if course is not None:
            self._closing = asyncio.get_running_loop().create_task(course.close(), name="close the demo")
            self._closing.add_done_callback(log_fault)
            self._closing.add_done_callback(lambda _: course.deleteLater())
        self._screen().hide()
        self._order = replace(DemoOrder(), aloud=self._order.aloud)
        self.ended.emit(again and self._talked)

    def make_way(self) -> None:
        """Closes the demo without resuming the user's session. Called when the user starts a conversation or navigates
        elsewhere.
        """
        self.leave(again=False)

    async def close(self) -> None:
        """Closes the demo when the main window closes. Must be called before the session manager is closed."""
        self._talked = False
        self.leave()
        await self._gone()

    # -- internals

    async def _gone(self) -> None:
        """Waits until the demo has released all audio devices."""
        if self._closing is not None:
            await asyncio.wait([self._closing])

    def _screen(self) -> DemoScreen:
        if self.screen is None:
            from app.gui.demo.screen import DemoScreen

            self.screen = DemoScreen(self._window)
            self.screen.leave_wanted.connect(self.leave)
        return self.screen

    async def _look(self) -> DemoOffer:
        offer = await self._service.offer()
        await asyncio.to_thread(lambda: self._service.questions)
        await self._manager.idle()
        return replace(offer, backends=chosen_backends(offer.backends, self._order.backends))

    def _start(self, offer: DemoOffer) -> None:
        from app.gui.demo.course import DemoCourse

        if not offer.backends:
            self._tell(self.tr("There is no model to answer. Get one in “Models and servers”, and come back."))
            return
        devices, visitors = self._manager.wanted, not self._order.unattended
        course = self.course = DemoCourse(self._service, self._screen(), offer, devices, visitors=visitors)
        course.finished.connect(self._finish)
        course.failed.connect(self._give_up)
        course.begin()

    def _finish(self, result: DemoResult) -> None:
        self.finished.emit(result)
        if self._order.unattended:
            self.written = self._write(result)
            self._window.close()

    def _write(self, result: DemoResult) -> bool:
        try:
            if self._order.json:
                write_json(Path(self._order.json), document(result), indent=1)
        except OSError as error:
            self._tell(self.tr("What the demo has brought could not be written: {0}").format(error))
            return False
        if self._order.picture and not self._screen().save(Path(self._order.picture)):
            return False
        return result.whole and bool(result.counted)

    def _give_up(self, sentence: str) -> None:
        self.leave()
        self._tell(sentence)

    def _tell(self, sentence: str) -> None:
        self._screen().start_page.show_status(sentence, ready=False)
        self.failed.emit(sentence)
        if self._order.unattended:
            self._window.close()
