"""The strip of the first run that tells of a front-end's weights: fetches them, goes on, stops.

The download belongs to the window's keeper of weights, and goes on when the strip is gone.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app.gui.first_run.parts import Boxed
from app.gui.models.weights_controller import WeightsController
from app.gui.widgets.panel import Quiet


class DownloadStrip(Boxed):
    """Hidden while there is nothing to tell. `arrived` names the front-end whose weights are here now."""

    arrived = Signal(str)
    reshaped = Signal()

    def __init__(self, weights: WeightsController | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._weights = weights
        self._wanted = self._label = self._named = self._trouble = ""
        self.getting = ""
        """The front-end whose weights were asked for here, and are coming."""
        self._size = 0
        self._stopping = False
        self.offers = True
        """Whether a download is offered here that has not begun; one that goes on, or has failed, is told anyway."""
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setAccessibleName(self.tr("How the download goes"))
        self.note = Quiet(parent=self)
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName(self.tr("Download of the weights"))
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(self.fontMetrics().height() // 2 + 2)
        self.get_button = QPushButton(self)
        self.stop_button = QPushButton(self.tr("S&top"), self)
        self.stop_button.setAccessibleName(self.tr("Stop the download"))
        for button in (self.get_button, self.stop_button):
            button.setAutoDefault(False)
        self.column.addWidget(self.words)
        self.column.addWidget(self.bar)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.note, 1)
        row.addWidget(self.get_button)
        row.addWidget(self.stop_button)
        self.column.addLayout(row)
        self.get_button.clicked.connect(self._get)
        self.stop_button.clicked.connect(self._stop)
        if weights is not None:
            weights.progressed.connect(self._progressed)
            weights.done.connect(self._done)
            weights.failed.connect(self._failed)
        self.show_now()

    @property
    def busy(self) -> bool:
        """Whether a download goes on, whoever has begun it."""
        return self._weights is not None and self._weights.busy

    def missing(self, frontend: str) -> bool:
        """Whether weights of a front-end are to come."""
        return self._weights is not None and bool(self._weights.missing(frontend))

    def turn_to(self, frontend: str, label: str, size: int) -> None:
        """Tells of this front-end from now on, whose download brings `size` bytes (0: unknown); empty: of none."""
        if frontend != self._wanted:
            self._trouble = ""
        self._wanted, self._label, self._size = frontend, label, size
        self.show_now()

    def show_now(self) -> None:
        """Shows how it stands."""
        busy = self.busy
        missing = self._weights.missing(self._wanted) if self._weights is not None and self._wanted else ""
        self.setVisible(busy or bool(missing and (self.offers or self._trouble)))
        self.bar.setVisible(busy)
        self.stop_button.setVisible(busy)
        self.get_button.setVisible(not busy)
        self.note.setText(
            self.tr("It goes on in the background. The embedded voice speaks until then.")
            if busy
            else self.tr("The embedded voice speaks until then.")
        )
        if not busy:
            self.words.setText(self._trouble or missing)
            size = self.tr(" ({0:.0f} GB)").format(self._size / 1e9) if self._size else ""
            text = self.tr("&Go on") if self._trouble else self.tr("&Download") + size
            self.get_button.setText(text)
            name = self.tr("Go on with the download") if self._trouble else self.tr("Download the weights") + size
            self.get_button.setAccessibleName(name)
        self.reshaped.emit()

    def _get(self) -> None:
        if self._weights is None or not self._wanted:
            return
        focused = self.get_button.hasFocus()
        self._trouble, self._stopping = "", False
        self.getting, self._named = self._wanted, self._label
        self._weights.get(self._wanted)
        self.bar.setValue(0)
        self.words.setText(self._told(self.tr("asking for the files")))
        self.show_now()
        if focused:
            self.stop_button.setFocus()

    def _stop(self) -> None:
        if self._weights is not None:
            self._stopping = True
            self._weights.stop()
            self.words.setText(self._told(self.tr("stopping; what has come is kept")))
            self.show_now()

    def _progressed(self, words: str, share: float) -> None:
        if self.busy:
            self.bar.setValue(round(min(1.0, max(0.0, share)) * 1000))
            if not self._stopping:
                self.words.setText(self._told(words))
            if self.isHidden():
                self.show_now()

    def _done(self, frontend: str) -> None:
        self._stopping, self._trouble, self.getting, self._named = False, "", "", ""
        self.show_now()
        self.arrived.emit(frontend)

    def _failed(self, sentence: str) -> None:
        focused = self.stop_button.hasFocus()
        stopped = self.tr("Stopped. What has come is kept, and it goes on from there.")
        self._trouble = stopped if self._stopping else sentence
        self._stopping, self.getting, self._named = False, "", ""
        self.show_now()
        if focused:
            self.get_button.setFocus()

    def _told(self, words: str) -> str:
        return self.tr("{0}: {1}").format(self._named, words) if self._named else words
