"""Runs the demo in the window: opens its panel, and starts the user's own session again when the demo is over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.conversation.events import Event
from app.demo.base import (
    DemoBackend,
    DemoFrontEnd,
    DemoOrder,
    DemoPlan,
    DemoProgress,
    DemoQuestion,
    DemoResult,
    chosen_backends,
)
from app.demo.report import document
from app.demo.run import DemoRunner
from app.demo.service import DemoService
from app.gui.demo.stage import WindowStage
from app.gui.state.background_tasks import BackgroundTasks, log_fault
from app.gui.state.session_manager import SessionManager
from app.platform.atomic_files import write_json
from app.session.errors import UserError

if TYPE_CHECKING:
    from app.gui.demo.panel import DemoPanel

Found = tuple[tuple[DemoBackend, ...], tuple[DemoFrontEnd, ...], tuple[DemoQuestion, ...]]
"""What can take part."""

_LOOKING = "look what can take part in the demo"
_log = logging.getLogger(__name__)


class DemoController(QObject):
    """`open` shows the panel; `run_alone` needs nobody. `began` comes before the demo's first session, `ended` behind
    its last one.
    """

    began = Signal()
    ended = Signal(bool)
    """Whether the user's session, which made room for the demo, is to be started again: not if they have done so
    themselves, or have stopped it.
    """
    backend_shown = Signal(object)
    """The `BackendChoice` that answers in the demo now, and in the end the user's own again: for pickers to show."""
    finished = Signal(object)
    """The `DemoResult`, whether it went to its end or was stopped."""
    failed = Signal(str)

    def __init__(
        self,
        service: DemoService,
        manager: SessionManager,
        on_event: Callable[[Event], None],
        background: BackgroundTasks,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self.panel: DemoPanel | None = None
        self.order: DemoOrder | None = None
        """What is to become of a demo that nobody attends; None: somebody does."""
        self.written = False
        """Whether all was written that the order names."""
        self._service = service
        self._manager = manager
        self._background = background
        self._window = window
        self._stage = WindowStage(service, on_event, self)
        self.manager = self._stage.manager
        """Of the demo's sessions."""
        manager.before_start = self.manager.idle  # two sessions at once would want the same devices
        self.manager.before_start = manager.idle
        self._talked = False  # a conversation of the user's made room
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._runner: DemoRunner | None = None

    @property
    def running(self) -> bool:
        """Whether the demo runs."""
        return self._task is not None and not self._task.done()

    # -- with a user

    def open(self) -> None:
        """Shows the panel, in front: what will happen, or what happens."""
        panel = self._panel()
        if not self.running:
            panel.show_looking()
            self._look(lambda found: panel.show_offer(*found))
        panel.appear()
        panel.fit()

    def start(self, plan: DemoPlan) -> None:
        """Begins."""
        if self.running:
            return
        self._panel()
        self._task = asyncio.get_running_loop().create_task(self._run(plan), name="demo")
        self._task.add_done_callback(log_fault)

    def stop(self) -> None:
        """Ends it, soon; what it has brought is shown."""
        if self._task is not None:
            self._task.cancel()

    def make_way(self) -> None:
        """The user begins a conversation of their own, or goes elsewhere: ends now, and shows their back-end again."""
        if self.running:
            self._talked = False
            self.stop()
            self.manager.stop()
            self.backend_shown.emit(self._manager.wanted.backend)

    async def close(self, seconds: float = 1.0) -> None:
        """The window closes; called before its session manager is closed."""
        self._closing = True
        self._background.cancel(_LOOKING)
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=seconds)
        await self.manager.close(seconds)
        if self.panel is not None:
            self.panel.close()

    # -- without one

    def run_alone(self, order: DemoOrder) -> None:
        """Runs from start to chart with all that costs nothing, or with what `order` names, then writes what it wants.

        With something written, the window closes.
        """
        self.order = order
        panel = self._panel()
        panel.show_looking()
        panel.appear()
        self._look(self._start_alone)

    def _start_alone(self, found: Found) -> None:
        backends, frontends, _ = found
        assert self.order is not None
        try:
            chosen = chosen_backends(backends, self.order.backends)
        except UserError as error:
            self._tell(str(error))
            self._leave_alone(False)
            return
        self.start(DemoPlan(chosen, frontends, self.order.quick))

    def _write(self, result: DemoResult) -> bool:
        order = self.order
        assert order is not None and self.panel is not None
        try:
            if order.json:
                write_json(Path(order.json), document(result), indent=1)
            if order.picture:
                self.panel.page.save(Path(order.picture))
        except OSError as error:
            self._tell(self.tr("What the demo has brought could not be written: {0}").format(error))
            return False
        return result.whole and bool(result.answers)

    def _leave_alone(self, written: bool) -> None:
        self.written = written
        if self.order is not None and (self.order.picture or self.order.json):
            self._window.close()

    # -- running

    async def _run(self, plan: DemoPlan) -> None:
        panel = self._panel()
        self._talked = self._manager.phase != "stopped"
        questions = await asyncio.to_thread(lambda: self._service.questions)
        runner = self._runner = DemoRunner(self._stage, questions, plan, self._show)
        self.began.emit()
        self._manager.stop()
        cancelled, fault = False, ""
        try:
            await runner.run()
        except asyncio.CancelledError:
            cancelled = True  # by the user: what there is is shown all the same
        except Exception as error:
            _log.exception("the demo failed")
            fault = self.tr("The demo ended early, because of a fault in the program ({0}). The log has the details.")
            fault = fault.format(type(error).__name__)
        finally:
            self.manager.stop()
            if not self._closing:
                self.backend_shown.emit(self._manager.wanted.backend)
                self.ended.emit(self._talked)
        result = runner.result
        panel.show_result(result)
        if fault:
            self._tell(fault)
        if not cancelled:
            panel.appear()
        self.finished.emit(result)
        if self.order is not None:
            # The panel is laid out before its picture is taken.
            await asyncio.sleep(0)
            self._leave_alone(self._write(result))

    def _show(self, progress: DemoProgress) -> None:
        self._panel().show_progress(progress)
        if progress.stop.backend is not None:
            self.backend_shown.emit(progress.stop.backend.choice)

    # -- small parts

    def _panel(self) -> DemoPanel:
        if self.panel is None:
            from app.gui.demo.panel import DemoPanel

            self.panel = DemoPanel(self._window)
            self.panel.start_wanted.connect(self.start)
            self.panel.stop_wanted.connect(self.stop)
        return self.panel

    def _look(self, done: Callable[[Found], None]) -> None:
        async def look() -> Found:
            backends, frontends = await asyncio.gather(self._service.backends(), self._service.frontends())
            return backends, frontends, await asyncio.to_thread(lambda: self._service.questions)

        def failed(sentence: str) -> None:
            self._panel().note.hide()
            self._tell(sentence)
            self._leave_alone(False)

        self._background.run(_LOOKING, look, done, failed)

    def _tell(self, sentence: str) -> None:
        if self.panel is not None:
            self.panel.show_trouble(sentence)
        self.failed.emit(sentence)
