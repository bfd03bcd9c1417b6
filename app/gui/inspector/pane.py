"""The inspector pane below the conversation: tabs for the timeline, latency, requests and any added pages.

Pages other than the timeline are built the first time they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTabBar, QToolButton, QWidget

from app.conversation import events as e
from app.conversation.record.latency import Stages, figures
from app.gui.design.motion import timer
from app.gui.design.plain import named
from app.gui.design.theme import tokens
from app.gui.inspector.activity import Activity
from app.gui.inspector.timeline_page import TimelinePage
from app.gui.shell.status_line import StatusLine
from app.gui.widgets.form import column

if TYPE_CHECKING:
    from app.gui.inspector.latency import LatencyView
    from app.gui.inspector.requests import RequestsPage

REFRESH_MS = 300
ENOUGH_ANSWERS = 3
"""Minimum number of answers for their distribution to be shown in the status line."""


class InspectorPane(QWidget):
    """The inspector's tabs and their data: `activity`, and `stages` with the latency of each answer.

    Call `attach` first. Then call `begin` when a session starts, `apply` with each event, `settle` after each batch of
    events, and `end` when the session ends.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.activity = Activity()
        self.stages = Stages()
        self.timeline = TimelinePage(self.activity, self)
        self.latency: LatencyView | None = None
        self.requests: RequestsPage | None = None
        self._stage_changes = -1
        self._timer = timer(self, REFRESH_MS, self._refresh)
        self.tabs = named(QTabBar(self), self.tr("Parts of the inspector"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)
        for button in self.tabs.findChildren(QToolButton):
            button.setAccessibleName("")  # Qt's scroll buttons, which are never shown
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.timeline)
        self._built: dict[str, QWidget] = {"timeline": self.timeline}
        self._makers: dict[str, Callable[[], QWidget]] = {}
        self.add_page("timeline", self.tr("Timeline"), lambda: self.timeline)
        self.add_page("latency", self.tr("Latency"), self._make_latency)
        self.add_page("requests", self.tr("Requests"), self._make_requests)
        unit, tabs = tokens().unit, (self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        column(tabs, self.pages, within=self, spacing=unit, margins=(2 * unit, 0, 2 * unit, 0), stretch=1)
        self.tabs.currentChanged.connect(lambda _: self._show_page())

    def attach(self, action: QAction, status: StatusLine) -> None:
        """Connects the pane to the `action` that shows and hides it, and to the status line."""
        self._action, self._status = action, status
        status.latency_wanted.connect(self.open_latency)

    # -- the session

    def begin(self, *, first: bool) -> None:
        """Starts a session. `first`: whether it is the first session of a different conversation."""
        self.stages.begin()
        if self.latency is not None:
            self.latency.pick(0)  # turns are numbered from 1 in each session
        self._empty(first=first)

    def forget(self) -> None:
        """Clears the timeline and requests before another conversation is shown. A session may still be running."""
        self._empty(first=True)
        self.end()

    def _empty(self, *, first: bool) -> None:
        self.activity.begin(first=first)
        self.timeline.view.begin()
        self.settle()

    def end(self) -> None:
        """Ends the session. The timeline remains visible."""
        self.activity.end()
        self.timeline.view.end()

    def apply(self, event: e.Event, *, shown: bool = True) -> None:
        """Processes an event. `shown`: whether the session's conversation is currently displayed."""
        self.stages.apply(event)
        if shown:
            self.activity.apply(event)
            self.timeline.view.edge.update(event.at)

    def add_past(self, events: Iterable[e.Event]) -> None:
        """Adds the requests from a past session's events, and clears the timeline."""
        self.activity.add_past(events)
        self.settle()

    def settle(self) -> None:
        """Updates the views after a batch of events."""
        if self.stages.changes != self._stage_changes:
            self._stage_changes, answers = self.stages.changes, self.stages.answers
            enough = len(answers) >= ENOUGH_ANSWERS
            last = answers[-1].response if answers else None
            self._status.show_latency(last, figures(a.response for a in answers) if enough else None)
        self.timeline.settle()
        if not self._timer.isActive():
            self._timer.start()

    def _refresh(self) -> None:
        """Refreshes the visible page, except for the timeline, which updates itself."""
        for page in (self.latency, self.requests):
            if page is not None and page.isVisible():
                page.refresh()

    # -- the pages

    def add_page(self, key: str, title: str, make: Callable[[], QWidget]) -> None:
        """Adds a tab. `make` is called to build its page the first time it is shown."""
        self._makers[key] = make
        self.tabs.addTab(title)

    @property
    def current(self) -> str:
        """The key of the selected page."""
        return list(self._makers)[self.tabs.currentIndex()]

    def open_at(self, key: str) -> None:
        """Shows a page, opening the pane if it is closed."""
        self.tabs.setCurrentIndex(list(self._makers).index(key))
        self._action.setChecked(True)
        self._show_page()

    def toggle_at(self, key: str) -> None:
        """Shows a page, or closes the pane if that page is already visible."""
        if self.isVisible() and self.current == key:
            self._action.setChecked(False)
        else:
            self.open_at(key)

    def open_latency(self) -> None:
        """Opens the Latency page and gives it the focus."""
        self.open_at("latency")
        if self.latency is not None:
            self.latency.take_focus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_page()

    def _show_page(self) -> None:
        if not self.isVisible():
            return
        if self.current not in self._built:
            page = self._built[self.current] = self._makers[self.current]()
            self.pages.addWidget(page)
            before: QWidget = self.tabs
            for widget in page.findChildren(QWidget):
                if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                    self.setTabOrder(before, widget)
                    before = widget
        self.pages.setCurrentWidget(self._built[self.current])
        self._refresh()

    def _make_latency(self) -> QWidget:
        from app.gui.inspector.latency import LatencyView

        self.latency = LatencyView(self.stages, self._status.usage_summary, self)
        return self.latency

    def _make_requests(self) -> QWidget:
        from app.gui.inspector.requests import RequestsPage

        self.requests = RequestsPage(self.activity, self)
        return self.requests
