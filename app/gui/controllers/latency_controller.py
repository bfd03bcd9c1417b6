"""Keeps a conversation's latency for the status line, and for the view of it in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.conversation import events as e
from app.conversation.latency import Stages, figures
from app.gui.shell.status_line import StatusLine

if TYPE_CHECKING:
    from app.gui.latency.view import LatencyView

ENOUGH_ANSWERS = 3
"""Of fewer, a distribution tells nothing."""


class LatencyController(QObject):
    """Gets every event of a conversation, also those that are only levels; `begin` comes after the status line's."""

    def __init__(self, status: StatusLine, parent: QWidget) -> None:
        super().__init__(parent)
        self.stages = Stages()
        self.view: LatencyView | None = None
        self._status = status
        self._window = parent
        self._changes = -1

    def begin(self) -> None:
        """A new conversation runs."""
        self.stages.begin()
        if self.view is not None:
            self.view.pick(0)  # the turns are counted from 1 again
        self.settle()

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        self.stages.apply(event)

    def settle(self) -> None:
        """Shows what a batch of events has changed."""
        if self.stages.changes != self._changes:
            self._changes = self.stages.changes
            answers = self.stages.answers
            enough = len(answers) >= ENOUGH_ANSWERS
            last = answers[-1].response if answers else None
            self._status.show_latency(last, figures(a.response for a in answers) if enough else None)
        if self.view is not None:
            self.view.watch(self._status.usage)
            self.view.touch()

    def make_view(self) -> LatencyView:
        """Builds the view, which is kept up to date from now on."""
        from app.gui.latency.view import LatencyView

        self.view = LatencyView(self.stages, self._status.usage, self._window)
        return self.view
