"""The demo's page while it runs: which question is asked, and how far the demo is."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QProgressBar, QVBoxLayout, QWidget

from app.demo.base import DemoProgress
from app.gui.demo.descriptions import DemoWords


class ProgressPage(QWidget):
    """A caption and a progress bar."""

    def __init__(self, words: DemoWords, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = words
        self.caption = QLabel(self)
        self.caption.setWordWrap(True)
        self.caption.setMinimumHeight(2 * self.caption.fontMetrics().lineSpacing())
        self.caption.setAccessibleName(self.tr("What the demo does now"))
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of the demo"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.caption)
        column.addWidget(self.bar)

    def show_progress(self, progress: DemoProgress) -> None:
        """Shows what the demo does now."""
        self.caption.setText(self._words.doing(progress))
        self.bar.setRange(0, progress.total)
        self.bar.setValue(max(0, progress.number - 1))
