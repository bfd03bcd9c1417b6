"""The pages of the inspector, and what opens them: keys, the status line and the menu."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.conversation import events as e
from app.gui.inspector.request_log import RequestLog
from app.gui.logs.table_model import LogSource

if TYPE_CHECKING:
    from app.gui.inspector.requests import RequestsPage
    from app.gui.window.main_window import MainWindow


class InspectorPages(QObject):
    """`requests` gets every event of the conversation that is shown. Without a `log` there is no page for it."""

    def __init__(self, window: MainWindow, log: LogSource | None) -> None:
        super().__init__(window)
        self._window = window
        self._log = log
        self.requests = RequestLog()
        self.requests_page: RequestsPage | None = None
        inspector = window.inspector
        inspector.add_page("latency", self.tr("Latency"), window.latency.make_view)
        inspector.add_page("requests", self.tr("Requests"), self._make_requests)
        if log is not None:
            inspector.add_page("log", self.tr("Log"), self._make_log)
        window.menu.latency.connect(self.open_latency)
        window.status.latency_wanted.connect(self.open_latency)
        window.mini.clicked.connect(lambda: inspector.toggle_at("timeline"))

    def open_latency(self) -> None:
        """Shows where the time of the answers went."""
        self._window.inspector.open_at("latency")
        if self._window.latency.view is not None:
            self._window.latency.view.take_focus()

    def begin(self, *, first: bool) -> None:
        """A session starts; `first`: it belongs to another conversation than what was shown before."""
        if first:
            self.requests.clear()
        else:
            self.requests.begin()
        self.settle()

    def show_talk(self, events: Iterable[e.Event]) -> None:
        """A session of the past is shown."""
        self.requests.show_talk(events)
        self.settle()

    def settle(self) -> None:
        """Shows what a batch of events has changed."""
        if self.requests_page is not None:
            self.requests_page.touch()

    def _make_requests(self) -> QWidget:
        from app.gui.inspector.requests import RequestsPage

        self.requests_page = RequestsPage(self.requests, self._window.inspector)
        return self.requests_page

    def _make_log(self) -> QWidget:
        from app.gui.logs.view import LogPage

        assert self._log is not None
        page = LogPage(self._log, self._window.inspector)
        page.dialog_wanted.connect(lambda: self._window.panels.open_log())
        return page
