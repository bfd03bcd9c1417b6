"""Connects the bar of front-ends with weights to the settings, the session manager and the downloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.conversation.frame import FRAME_MS
from app.gui.models.frontend_bar import FrontEndBar
from app.gui.models.weights_controller import WeightsController
from app.gui.state.session_manager import SessionManager
from app.settings.declarations import Settings


class FrontEndController(QObject):
    """`weighty`: the front-ends that have weights of their own; `weights` None: nothing can be fetched here."""

    changed = Signal()
    """Settings are to be saved soon."""
    precision_picked = Signal(str)
    arrived = Signal()
    """The weights of the front-end that is chosen are here now."""
    failed = Signal(str)

    def __init__(
        self,
        settings: Settings,
        manager: SessionManager,
        bar: FrontEndBar,
        weights: WeightsController | None,
        weighty: Sequence[str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._manager = manager
        self._bar = bar
        self._weights = weights
        self._weighty = tuple(weighty)
        bar.precision_picked.connect(self.precision_picked)
        bar.dials_turned.connect(self._turn_dials)
        bar.get_weights.connect(self.get_weights)
        if weights is not None:
            bar.stop_getting.connect(weights.stop)
            weights.progressed.connect(bar.show_progress)
            weights.done.connect(self._weights_here)
            weights.failed.connect(self._weights_failed)

    def show(self) -> None:
        """Shows the row, or not, for the front-end that is chosen."""
        frontend = self._settings.frontend
        self._bar.setVisible(frontend in self._weighty)
        if self._weights is None or self._weights.busy:
            return
        missing = self._weights.missing(frontend) if frontend in self._weighty else ""
        self._bar.show_weights(not missing, missing)

    @property
    def weighty(self) -> bool:
        """Whether the front-end that is chosen has weights."""
        return self._settings.frontend in self._weighty

    def show_dials(self, delay: int, lead: int) -> None:
        """Shows the dials as they are now, in frames."""
        self._bar.show_dials(delay, lead)

    def get_weights(self) -> None:
        """Begins to fetch the weights of the front-end that is chosen."""
        if self._weights is not None:
            self._bar.show_progress(self.tr("requesting the files …"), 0.0)
            self._weights.get(self._settings.frontend)

    def _turn_dials(self, delay: int, lead: int) -> None:
        self._settings.answer_delay_ms, self._settings.oracle_lead_ms = delay * FRAME_MS, lead * FRAME_MS
        self._manager.want(model=replace(self._manager.wanted.model, delay=delay, lead=lead))
        self.changed.emit()

    def _weights_here(self, frontend: str) -> None:
        self.show()
        if frontend == self._settings.frontend:
            self.arrived.emit()

    def _weights_failed(self, sentence: str) -> None:
        self.show()
        self.failed.emit(sentence)
