"""The first run's strip about a front-end's weights: downloads them, stops, and goes on."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.first_run.cards.fetch_strip import FetchStrip
from app.gui.models.weights_controller import WeightsController
from app.gui.widgets.form import push_button


class DownloadStrip(FetchStrip):
    """Hidden while there is nothing to say. `arrived` emits the front-end whose weights are here now."""

    arrived = Signal(str)

    def __init__(self, weights: WeightsController | None, parent: QWidget) -> None:
        super().__init__(
            weights,
            parent,
            words_name=self.tr("State of the download"),
            bar_name=self.tr("Download of the weights"),
        )
        self._weights = weights
        self._frontend = self._label = self._running_label = ""
        self._size = 0
        self.getting = ""
        """The front-end whose download was started here, and goes on."""
        self.offers = True
        """Whether a new download is offered; one that goes on, or has failed, is shown in any case."""
        self.get_button = push_button("", "", self)
        self.get_button.clicked.connect(self._get)
        self._arrange(self.get_button, self.stop_button)
        if weights is not None:
            weights.done.connect(self._done)
        self.show_now()

    def missing(self, frontend: str) -> bool:
        """Whether weights of a front-end are not here yet."""
        return self._weights is not None and bool(self._weights.missing(frontend))

    def turn_to(self, frontend: str, label: str, size: int) -> None:
        """Switches to a front-end, whose download has `size` bytes (0: unknown); to none if empty."""
        if frontend != self._frontend:
            self._trouble = ""
        self._frontend, self._label, self._size = frontend, label, size
        self.show_now()

    def show_now(self) -> None:
        busy = self.busy
        missing = self._weights.missing(self._frontend) if self._weights is not None and self._frontend else ""
        self.setVisible(busy or bool(missing and (self.offers or self._trouble)))
        self.bar.setVisible(busy)
        self.stop_button.setVisible(busy)
        self.get_button.setVisible(not busy)
        if busy:
            self.note.setText(self.tr("It goes on in the background. The embedded voice speaks until then."))
            return
        self.note.setText(self.tr("The embedded voice speaks until then."))
        self.words.setText(self._trouble or missing)
        size = self.tr(" ({0:.0f} GB)").format(self._size / 1e9) if self._size else ""
        self.get_button.setText(self.tr("&Continue") if self._trouble else self.tr("&Download") + size)
        name = self.tr("Continue the download") if self._trouble else self.tr("Download the weights") + size
        self.get_button.setAccessibleName(name)

    def _get(self) -> None:
        if self._weights is None or not self._frontend:
            return
        focused = self.get_button.hasFocus()
        self._trouble, self._stopping = "", False
        self.getting, self._running_label = self._frontend, self._label
        self._weights.get(self._frontend)
        self.bar.setValue(0)
        self.words.setText(self._described(self.tr("requesting the files …")))
        self.show_now()
        if focused:
            self.stop_button.setFocus()

    def _done(self, frontend: str) -> None:
        self.getting = self._running_label = ""
        self._end("", self.get_button)
        self.arrived.emit(frontend)

    def _failed(self, sentence: str) -> None:
        self.getting = self._running_label = ""
        stopped = self.tr("Stopped. What has been downloaded is kept.")
        self._end(stopped if self._stopping else sentence, self.get_button)

    def _described(self, words: str) -> str:
        return self.tr("{0}: {1}").format(self._running_label, words) if self._running_label else words
