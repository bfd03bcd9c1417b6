"""A bar that shows which weights a front-end is missing and how much of its context is in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.conversation.record.record import Change
from app.gui.design.plain import named
from app.gui.models.downloads import ModelsController
from app.gui.state.session_model import SessionModel
from app.gui.state.settings_controller import SettingsController
from app.gui.widgets.form import column, label_of, push_button, row, wrapped
from app.gui.widgets.formats import clock_words
from app.settings.declarations import Settings


class FrontEndBar(QWidget):
    """Shows the weights and context use of the front-end in the settings. Hidden if that front-end has no weights.

    - `weighty`: the front-ends that have weights
    - `missing`: returns a message about a front-end's missing weights, or an empty string if none are missing
    - `models`: the controller that downloads weights; None if downloads aren't available
    - `keep`, `session`: tell when the front-end changes, and how much of its context is in use
    """

    download_wanted = Signal(str)
    """Emits the key of the front-end whose weights the user wants to download."""
    arrived = Signal()
    """Emitted when the weights of the front-end in the settings have been downloaded."""

    def __init__(
        self,
        settings: Settings,
        weighty: Sequence[str],
        missing: Callable[[str], str],
        models: ModelsController | None,
        keep: SettingsController,
        session: SessionModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._weighty = tuple(weighty)
        self._missing = missing
        self._can_download = models is not None
        self.memory = named(QProgressBar(self), self.tr("Memory of the conversation"))
        self.memory.setToolTip(
            self.tr(
                "How much of the conversation the voice remembers. When it is nearly full, it starts again at a pause "
                "with the newest part."
            )
        )
        self.memory.setMinimumWidth(max(120, self.memory.fontMetrics().horizontalAdvance("00:00 of 00:00") + 24))
        self.note = wrapped(self)
        self.get_button = push_button(self.tr("Download…"), self.tr("Download the weights"), self)
        memory = row(label_of(self.memory, self.tr("Memory"), self), self.memory, spacing=12, stretch=1)
        column(memory, row(self.note, self.get_button, stretch=0), within=self, spacing=6)
        self.get_button.clicked.connect(lambda: self.download_wanted.emit(settings.frontend))
        if models is not None:
            models.arrived.connect(self._on_arrived)
        keep.follow("frontend", "weights_folder", does=lambda _: self.refresh())
        session.follow(self._take)
        session.began.connect(lambda _: self._forget_memory())
        self._forget_memory()
        self.refresh()

    @property
    def lacks_weights(self) -> bool:
        """Whether weights are missing and can be downloaded."""
        return not self.get_button.isHidden()

    def refresh(self) -> None:
        """Updates the bar after the front-end or its weights have changed."""
        frontend = self._settings.frontend
        has_weights = frontend in self._weighty
        missing = self._missing(frontend) if has_weights else ""
        self.setVisible(has_weights)
        self.note.say(missing)
        self.get_button.setVisible(bool(missing) and self._can_download)

    def _forget_memory(self) -> None:
        """Resets the context gauge for a new session."""
        self.memory.setRange(0, 1)
        self.memory.setValue(0)
        self.memory.setFormat(self.tr("empty"))

    def _take(self, change: Change) -> None:
        if isinstance(event := change.event, e.ContextMeasured):
            used, all_of_it = (clock_words(round(n * FRAME_SECONDS)) for n in (event.frames, event.capacity))
            self.memory.setRange(0, max(1, event.capacity))
            self.memory.setValue(event.frames)
            self.memory.setFormat(self.tr("{0} of {1}").format(used, all_of_it))

    def _on_arrived(self, key: str) -> None:
        if key == self._settings.frontend:
            self.refresh()
            self.arrived.emit()
