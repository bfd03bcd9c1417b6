"""The bar for a front-end with weights: whether they are here, and how much of the conversation it remembers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.gui.models.downloads import ModelsController
from app.gui.widgets.form import label_of, push_button, row, wrapped
from app.gui.widgets.formats import clock_words
from app.settings.declarations import Settings


class FrontEndBar(QWidget):
    """Hidden while the front-end in the settings has no weights.

    `weighty`: the front-ends that have weights.
    `missing`: returns a sentence about what is missing of a front-end's weights; empty if nothing is.
    `models`: downloads weights, like other models; None where nothing can be downloaded.
    """

    download_wanted = Signal(str)
    """The user wants to download the weights of this front-end."""
    arrived = Signal()
    """The weights of the front-end in the settings have arrived."""

    def __init__(
        self,
        settings: Settings,
        weighty: Sequence[str],
        missing: Callable[[str], str],
        models: ModelsController | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._weighty = tuple(weighty)
        self._missing = missing
        self._can_download = models is not None
        self.memory = QProgressBar(self)
        self.memory.setAccessibleName(self.tr("Memory of the conversation"))
        self.memory.setToolTip(
            self.tr(
                "How much of the conversation the voice remembers. When it is nearly full, it starts again at a pause "
                "with the newest part."
            )
        )
        self.memory.setMinimumWidth(max(120, self.memory.fontMetrics().horizontalAdvance("00:00 of 00:00") + 24))
        self.note = wrapped(self)
        self.get_button = push_button(self.tr("Download…"), self.tr("Download the weights"), self)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addLayout(row(label_of(self.memory, self.tr("Memory"), self), self.memory, spacing=12, stretch=1))
        rows.addLayout(row(self.note, self.get_button, stretch=0))
        self.get_button.clicked.connect(lambda: self.download_wanted.emit(settings.frontend))
        if models is not None:
            models.arrived.connect(self._on_arrived)
        self.forget_memory()
        self.refresh()

    @property
    def lacks_weights(self) -> bool:
        """Whether weights are missing that can be downloaded."""
        return not self.get_button.isHidden()

    def refresh(self) -> None:
        """Follows the front-end in the settings, and whether its weights are here."""
        frontend = self._settings.frontend
        has_weights = frontend in self._weighty
        missing = self._missing(frontend) if has_weights else ""
        self.setVisible(has_weights)
        self.note.setText(missing)
        self.note.setVisible(bool(missing))
        self.get_button.setVisible(bool(missing) and self._can_download)

    def forget_memory(self) -> None:
        """Empties the memory, for a new session."""
        self.memory.setRange(0, 1)
        self.memory.setValue(0)
        self.memory.setFormat(self.tr("empty"))

    def apply(self, event: e.Event) -> None:
        """Shows the memory that an event reports."""
        if isinstance(event, e.ContextMeasured):
            used, all_of_it = (clock_words(round(n * FRAME_SECONDS)) for n in (event.frames, event.capacity))
            self.memory.setRange(0, max(1, event.capacity))
            self.memory.setValue(event.frames)
            self.memory.setFormat(self.tr("{0} of {1}").format(used, all_of_it))

    def _on_arrived(self, key: str) -> None:
        if key == self._settings.frontend:
            self.refresh()
            self.arrived.emit()
