"""The bar for front-ends with weights: their download, precision, delays and memory."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSpinBox, QVBoxLayout, QWidget

from app.conversation import events as e
from app.conversation.frame import FRAME_MS, FRAME_SECONDS, as_frames
from app.gui.design.plain import set_tip
from app.gui.design.theme import tokens
from app.gui.widgets.form import grid, label_of, progress_bar, push_button, set_share, wrapped
from app.gui.widgets.formats import clock_words
from app.gui.widgets.pick_list import PickList
from app.settings.declarations import Settings, choices_of

LONGEST_MS = 5 * 1000


class FrontEndBar(QWidget):
    """Emits what the user changes. The window hides it while another front-end is used."""

    precision_picked = Signal(str)
    dials_turned = Signal(int, int)
    """The delay and the lead, in frames."""
    get_weights = Signal()
    stop_getting = Signal()

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.precision = PickList(self)
        self.precision.setAccessibleName(self.tr("Precision"))
        self.precision.setToolTip(
            self.tr("How the weights are kept on the card: bf16 for 24 GB, int8 for 12 to 16, int4 for 8.")
        )
        for choice in choices_of("precision"):
            self.precision.addItem(self.tr("automatic") if choice == "auto" else choice, choice)
        self.precision.setCurrentIndex(max(0, self.precision.findData(settings.precision)))
        self.delay = self._dial(
            self.tr("Answer delay"),
            self.tr("How long it waits after you have spoken."),
            settings.answer_delay_ms,
        )
        self.lead = self._dial(
            self.tr("Oracle lead"),
            self.tr("How much later than the language model it gets what you say."),
            settings.oracle_lead_ms,
        )
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
        self.getting = progress_bar(self.tr("Download of the weights"), self)
        self.get_button = push_button(self.tr("Download"), self.tr("Download the weights"), self)
        self.stop_button = push_button(self.tr("Stop"), self.tr("Stop the download"), self)
        self._lay_out()
        self._connect()
        self.forget_memory()
        self.show_weights(None, "")

    def show_weights(self, here: bool | None, words: str) -> None:
        """Shows whether the weights are here, None if that is not known, and `words` about them."""
        self.note.setText(words)
        self.note.setVisible(bool(words))
        self.get_button.setVisible(here is False)
        self.getting.setVisible(False)
        self.stop_button.setVisible(False)

    def show_progress(self, words: str, share: float) -> None:
        """Shows a download of which `share` is done, from 0 to 1."""
        self.note.setText(words)
        self.note.setVisible(True)
        set_share(self.getting, share)
        for widget in (self.getting, self.stop_button):
            widget.setVisible(True)
        self.get_button.setVisible(False)

    def forget_memory(self) -> None:
        """Empties the memory, for a new session."""
        self.memory.setRange(0, 1)
        self.memory.setValue(0)
        self.memory.setFormat(self.tr("empty"))

    def apply(self, event: e.Event) -> None:
        """Shows what an event says of memory and delays."""
        match event:
            case e.ContextMeasured(frames=frames, capacity=capacity):
                self.memory.setRange(0, max(1, capacity))
                self.memory.setValue(frames)
                self.memory.setFormat(
                    self.tr("{0} of {1}").format(
                        clock_words(round(frames * FRAME_SECONDS)), clock_words(round(capacity * FRAME_SECONDS))
                    )
                )
            case e.DialsChanged(delay=delay, lead=lead):
                self.show_dials(delay, lead)

    def show_dials(self, delay: int, lead: int) -> None:
        """Shows the delay and the lead, in frames, without emitting `dials_turned`."""
        for box, frames in ((self.delay, delay), (self.lead, lead)):
            with QSignalBlocker(box):
                box.setValue(frames * FRAME_MS)

    @property
    def dials(self) -> tuple[int, int]:
        """The delay and the lead that are shown, in frames."""
        return as_frames(self.delay.value()), as_frames(self.lead.value())

    def _dial(self, name: str, help: str, value: int) -> QSpinBox:
        box = QSpinBox(self)
        box.setAccessibleName(name)
        set_tip(box, help)
        box.lineEdit().setTextMargins(2 * tokens().unit, 0, 0, 0)
        box.setRange(0, LONGEST_MS)
        box.setSingleStep(FRAME_MS)
        box.setSuffix(self.tr(" ms"))
        box.setKeyboardTracking(False)
        box.setValue(value)
        return box

    def _lay_out(self) -> None:
        upper, lower = grid(12, 8, stretch=1), QHBoxLayout()
        for place, (text, widget) in enumerate(
            (
                (self.tr("Pr&ecision"), self.precision),
                (self.tr("Answer &delay"), self.delay),
                (self.tr("Oracle &lead"), self.lead),
                (self.tr("Memory"), self.memory),
            )
        ):
            upper.addWidget(label_of(widget, text, self), place, 0)
            upper.addWidget(widget, place, 1)
        lower.addWidget(self.note, 1)
        lower.addWidget(self.getting, 1)
        lower.addWidget(self.get_button)
        lower.addWidget(self.stop_button)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addLayout(upper)
        rows.addLayout(lower)

    def _connect(self) -> None:
        self.precision.activated.connect(lambda: self.precision_picked.emit(self.precision.currentData()))
        for box in (self.delay, self.lead):
            box.valueChanged.connect(lambda _: self.dials_turned.emit(*self.dials))
        self.get_button.clicked.connect(self.get_weights)
        self.stop_button.clicked.connect(self.stop_getting)
