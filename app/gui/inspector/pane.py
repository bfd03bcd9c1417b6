"""The inspector pane below the conversation: tabs for the timeline, latency, requests and any added pages.

Pages other than the timeline are built the first time they are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTabBar, QToolButton, QWidget

from app.conversation.record.latency import figures
from app.conversation.record.record import Change
from app.gui.design.motion import timer
from app.gui.design.plain import named
from app.gui.design.theme import tokens
from app.gui.inspector.activity import Activity
from app.gui.inspector.timeline_page import TimelinePage
from app.gui.shell.status_line import StatusLine
from app.gui.state.session_model import SessionModel
from app.gui.widgets.form import column

if TYPE_CHECKING:
    from app.gui.inspector.latency import LatencyView
    from app.gui.inspector.requests import RequestsPage

REFRESH_MS = 300
ENOUGH_ANSWERS = 3
"""Minimum number of answers for their distribution to be shown in the status line."""


class InspectorPane(QWidget):
    """The inspector's tabs, which follow `model`, and `activity`, the timeline's items. Call `attach` first."""

    def __init__(self, model: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.activity = Activity()
        self.timeline = TimelinePage(self.activity, self)
        self.latency: LatencyView | None = None
        self.requests: RequestsPage | None = None
        self._stages_shown: tuple[object, int] = (None, -1)
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
        model.began.connect(lambda _: self._begin())
        model.ended.connect(lambda _: self._end())
        model.past_added.connect(lambda _: self._empty())
        model.cleared.connect(self._clear)

    def attach(self, action: QAction, status: StatusLine) -> None:
        """Connects the pane to the `action` that shows and hides it, and to the status line."""
        self._action, self._status = action, status
        status.latency_wanted.connect(self.open_latency)
        self._model.follow(self._take, self._settle)

    # -- the session

    def _begin(self) -> None:
        if self.latency is not None:
            self.latency.pick(0)  # turns are numbered from 1 in each session
        self._empty()

    def _clear(self) -> None:
        """Another conversation is going to be shown; a session may still be running."""
        self._empty()
        self._end()

    def _empty(self) -> None:
        self.activity.begin()
        self.timeline.view.begin()
        self._settle()

    def _end(self) -> None:
        """The session has ended. Its timeline remains visible."""
        self.activity.end()
        self.timeline.view.end()

    def _take(self, change: Change) -> None:
        if self._model.in_view:
            self.activity.apply(change)
            self.timeline.view.edge.update(change.event.at)

    def _settle(self) -> None:
        """Updates the views after a batch of events."""
        stages = self._model.record.stages
        if (stages, stages.changes) != self._stages_shown:
            self._stages_shown, answers = (stages, stages.changes), stages.answers
            enough = len(answers) >= ENOUGH_ANSWERS
            last = answers[-1] if answers else None
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

        self.latency = LatencyView(self._model, self._status.usage_summary, self)
        return self.latency

    def _make_requests(self) -> QWidget:
        from app.gui.inspector.requests import RequestsPage

        self.requests = RequestsPage(self._model, self)
        return self.requests
