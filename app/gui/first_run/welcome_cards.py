"""What the welcome shows above its questions at the first start: a card for the microphone, and one for the model."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.design.theme import tokens
from app.gui.first_run.microphone_card import MicrophoneCard
from app.gui.first_run.model_card import ModelCard
from app.gui.first_run.model_offer import ModelOffer
from app.gui.widgets.form import push_button
from app.settings.declarations import Settings

SIDE_BY_SIDE_LINES = 28
"""So many heights of a line are wide enough for both cards beside each other."""


class WelcomeCards(QWidget):
    """Both cards, beside each other where there is room."""

    done = Signal()
    """The user has seen enough of them."""

    def __init__(
        self,
        settings: Settings,
        lists: ModelLists,
        make_offer: Callable[[QWidget], ModelOffer | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.microphone = MicrophoneCard(settings, self)
        self.model = ModelCard(lists, make_offer, self)
        self.done_button = push_button(self.tr("&Done"), self.tr("Done: hide microphone and model"), self)
        self.done_button.clicked.connect(self.done)
        unit = tokens().unit
        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._cards.setSpacing(2 * unit)
        self._cards.addWidget(self.microphone, 1)
        self._cards.addWidget(self.model, 1)
        self._cards.setContentsMargins(0, 0, 0, 0)
        self.setLayout(self._cards)
        self.microphone.foot.addWidget(self.done_button, 0, Qt.AlignmentFlag.AlignBottom)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """All that the Tab key goes to, in its order."""
        model = self.model
        offer = (model.offer.get_button, model.offer.stop_button) if model.offer is not None else ()
        return (
            self.microphone.details,
            self.microphone.picker,
            self.done_button,
            model.choose_button,
            model.details,
            *offer,
            model.use_button,
            model.card_button,
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_cards"):
            self._arrange()

    def _arrange(self) -> None:
        wide = self.width() >= SIDE_BY_SIDE_LINES * self.fontMetrics().height()
        self._cards.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)
