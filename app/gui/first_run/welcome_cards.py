"""The microphone card and the model card, shown above the questions on the welcome page at the first start."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.gui.design.plain import named
from app.gui.design.theme import tokens
from app.gui.first_run.model_card import ModelCard, ModelOffer
from app.gui.models.model_lists import ModelLists
from app.gui.sound.devices_popover import DevicePicker
from app.gui.state.talk_state import TalkState
from app.gui.widgets.buttons import LinkButton
from app.gui.widgets.form import add_items, bold, push_button, row, wrapped
from app.gui.widgets.level_meter import LevelMeter
from app.gui.widgets.panel import Boxed
from app.settings.declarations import Settings

SIDE_BY_SIDE_LINES = 28
"""Minimum width for showing the cards side by side, as a multiple of the line height."""
LOUD_DBFS = -40.0
"""Minimum peak level for a frame to count as speech. With this value, all 302 sentences in a set of telephone
recordings are detected.
"""
LOUD_FRAMES, LOOKED_AT_FRAMES = 5, 12
"""Number of the latest frames that must be at least this loud: 0.4 s out of 1 s, which rules out clicks."""


class MicrophoneCard(Boxed):
    """Shows the selected microphone, its level, and whether the user's speech has been detected.

    No audio is stored: the card only uses the levels measured by the session. `foot` is the bottom row.
    """

    picked = Signal(str)
    """Emits the name of the microphone that the user has selected; empty for the system default."""
    details_wanted = Signal()

    def __init__(self, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._none = self._heard = False
        self._state = TalkState()
        self._loud: deque[bool] = deque(maxlen=LOOKED_AT_FRAMES)
        self.picker = named(DevicePicker(lambda: settings.microphone, self), self.tr("Microphone"))
        self.picker.setMinimumContentsLength(10)
        self.level = LevelMeter(self.tr("Microphone level, dB"), self, titled=False)
        self.words = wrapped(self, self.tr("Whether you are heard"))
        self.details = LinkButton(self, self.tr("Details"), self.tr("Details about sound"), does=self.details_wanted)
        head = row(bold(self.tr("Microphone"), self), None, self.details)
        self.foot = row((self.words, 1, Qt.AlignmentFlag.AlignTop))
        add_items(self.column, head, self.picker, self.level, (self.foot, 1))
        self.picker.activated.connect(self._pick)
        self._show()

    def set_devices(self, microphones: list[str]) -> None:
        """Updates the list of microphones."""
        self._none = not microphones
        self.picker.offer(microphones)
        self._show()

    def show_state(self, state: TalkState) -> None:
        """Shows whether the session receives audio, or why it doesn't."""
        self._state = state
        self.level.set_muted(state.muted)
        if state.phase != "running":
            self.level.clear()
        self._show()

    def show_level(self, level_db: float, at: float, clipped: bool) -> None:
        """Shows the peak level of the session's latest frame in dBFS, measured at session time `at`."""
        self.level.set_level(level_db, at, clipped)
        if self._state.asking:
            return  # the app is asking a question aloud, so this may not be the user
        self._loud.append(level_db >= LOUD_DBFS)
        if not self._heard and sum(self._loud) >= LOUD_FRAMES:
            self._heard = True
            self._show()

    def _pick(self) -> None:
        self._heard = False
        self._loud.clear()
        self._show()
        self.picked.emit(self.picker.currentData() or "")

    def _show(self) -> None:
        absent = self._none or (self._state.phase == "running" and not self._state.microphone)
        self.picker.setVisible(not absent)
        self.level.setVisible(not absent)
        if absent:
            words = self.tr("No microphone was found. You can type; KAME notices one that you plug in.")
        elif self._state.phase == "loading":
            words = self.tr("Getting ready to listen …")
        elif self._state.phase == "stopped":
            words = self.tr("The conversation is stopped, so nothing is heard. You can type.")
        elif self._state.muted:
            words = self.tr("You are muted, so nothing is heard.")
        else:
            words = self.tr("I hear you.") if self._heard else self.tr("Say something.")
        self.words.setText(words)


class WelcomeCards(QWidget):
    """Both cards, side by side if there is enough space."""

    done = Signal()
    """Emitted when the user asks to hide the cards."""

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
        self.done_button = push_button(self.tr("&Done"), self.tr("Done: hide microphone and model"), self, self.done)
        unit = tokens().unit
        self._cards = row((self.microphone, 1), (self.model, 1), within=self, spacing=2 * unit)
        self.microphone.foot.addWidget(self.done_button, 0, Qt.AlignmentFlag.AlignBottom)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in tab order."""
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
