"""Keeps a conversation's latency for the status line and the panel, and opens and closes the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.conversation import events as e
from app.conversation.latency import Stages, figures
from app.gui.shell.status_line import StatusLine

if TYPE_CHECKING:
    from app.gui.latency.panel import LatencyPanel

ENOUGH_ANSWERS = 3
"""Of fewer, a distribution tells nothing."""


class LatencyController(QObject):
    """Gets every event of a conversation, also those that are only levels; `begin` comes after the status line's."""

    def __init__(self, status: StatusLine, parent: QWidget) -> None:
        super().__init__(parent)
        self.stages = Stages()
        self.panel: LatencyPanel | None = None
        self._status = status
        self._window = parent
        self._changes = -1
        status.latency_wanted.connect(self.open)

    def begin(self) -> None:
        """A new conversation runs."""
        self.stages.begin()
        if self.panel is not None:
            self.panel.pick(0)  # the turns are counted from 1 again
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
        if self.panel is not None:
            self.panel.watch(self._status.usage)
            self.panel.touch()

    def open(self) -> None:
        """Shows the panel, in front."""
        if self.panel is None:
            from app.gui.latency.panel import LatencyPanel

            self.panel = LatencyPanel(self.stages, self._status.usage, self._window)
        self.panel.watch(self._status.usage)
        self.panel.open_refreshed()

    def close(self) -> None:
        """Closes the panel, if it is open."""
        if self.panel is not None:
            self.panel.close()
