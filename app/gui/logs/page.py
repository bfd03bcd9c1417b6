"""The inspector's page “Log”: the newest entries, and a button for the dialog with the search and the diagnostics."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.gui.logs.table_model import LogSource, LogTable
from app.gui.logs.view import LogView
from app.gui.widgets.slim_button import SlimButton

UPDATE_MS = 500


class LogPage(QWidget):
    """Follows `source` while it is visible."""

    dialog_wanted = Signal()

    def __init__(self, source: LogSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = LogTable(source, self)
        self.view = LogView(self.table, self)
        self.open_button = SlimButton(self.tr("&Search and diagnostics…"), self)
        self.open_button.setAccessibleName(self.tr("Open the whole log"))
        self.open_button.clicked.connect(self.dialog_wanted)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.open_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(4)
        column.addWidget(self.view, 1)
        column.addLayout(foot)
        self._timer = QTimer(self, interval=UPDATE_MS)
        self._timer.timeout.connect(self.view.catch_up)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.view.catch_up()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
