"""The box that the first run's download strips share: words, a bar, a note, and buttons to start and stop."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QWidget

from app.gui.first_run.cards.choice_card import Boxed
from app.gui.models.fetch_controller import FetchController
from app.gui.widgets.form import PERMILLE, progress_bar, push_button, row, set_share, wrapped
from app.gui.widgets.panel import Quiet


class FetchStrip(Boxed):
    """Shows what `controller` fetches, which goes on when the strip is gone. Names are for screen readers."""

    def __init__(self, controller: FetchController | None, parent: QWidget, *, words_name: str, bar_name: str) -> None:
        super().__init__(parent)
        self._controller = controller
        self._trouble = ""
        self._stopping = False
        self.words = wrapped(self, words_name)
        self.bar = progress_bar(bar_name, self, slim=True)
        self.note = Quiet(parent=self)
        self.stop_button = push_button(self.tr("S&top"), self.tr("Stop the download"), self)
        self.stop_button.clicked.connect(self._stop)
        if controller is not None:
            controller.progressed.connect(self._progressed)
            controller.failed.connect(self._failed)

    @property
    def busy(self) -> bool:
        """Whether something is being fetched, also when it was started elsewhere."""
        return self._controller is not None and self._controller.busy

    def show_now(self) -> None:
        """Shows the present state. Subclasses define it."""
        raise NotImplementedError

    def _arrange(self, *buttons: QPushButton) -> None:
        """Lays the parts out, with `buttons` after the note."""
        self.column.addWidget(self.words)
        self.column.addWidget(self.bar)
        self.column.addLayout(row(self.note, *buttons, spacing=10, stretch=0))

    def _described(self, words: str) -> str:
        """A progress report as it is shown."""
        return words

    def _stop(self) -> None:
        if self._controller is not None:
            self._stopping = True
            self._controller.stop()
            self.words.setText(self._described(self.tr("Stopping; what has been downloaded is kept …")))

    def _progressed(self, words: str, share: float) -> None:
        if not self.busy:
            return
        self.bar.setRange(0, 0 if share < 0 else PERMILLE)
        if share >= 0:
            set_share(self.bar, share)
        if not self._stopping:
            self.words.setText(self._described(words))
        if self.isHidden():
            self.show_now()

    def _failed(self, sentence: str) -> None:
        raise NotImplementedError

    def _end(self, trouble: str, follow: QPushButton) -> None:
        """The fetching has ended; the focus moves from the stop button to `follow`."""
        focused = self.stop_button.hasFocus()
        self._trouble, self._stopping = trouble, False
        self.show_now()
        if focused:
            follow.setFocus()
