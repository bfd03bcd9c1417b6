"""The row for front-ends with weights of their own: their download, precision, dials and memory.

Says what the user wants; does nothing. Hidden while another front-end is chosen.
"""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QSpinBox, QVBoxLayout, QWidget

from app.conversation import events as e
from app.conversation.frame import FRAME_MS, FRAME_SECONDS, as_frames
from app.gui.widgets.pick_list import PickList
from app.settings.declarations import Settings, choices_of

LONGEST_MS = 5 * 1000


class FrontEndBar(QWidget):
    """See the module's docstring. `weighty`: the front-ends that it is for, with their labels."""

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
            self.tr("It keeps silent for so long after you have spoken."),
            settings.answer_delay_ms,
        )
        self.lead = self._dial(
            self.tr("Oracle lead"), self.tr("It hears you so much later than the brain does."), settings.oracle_lead_ms
        )
        self.memory = QProgressBar(self)
        self.memory.setAccessibleName(self.tr("Memory of the talk"))
        self.memory.setToolTip(
            self.tr(
                "What the model remembers of the talk. When it is nearly full, it begins anew "
                "at a pause, and is told the newest part."
            )
        )
        self.memory.setFixedWidth(max(120, self.memory.fontMetrics().horizontalAdvance("00:00 of 00:00") + 24))
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.getting = QProgressBar(self)
        self.getting.setAccessibleName(self.tr("Download of the weights"))
        self.getting.setRange(0, 1000)
        self.get_button = QPushButton(self.tr("Download"), self)
        self.get_button.setAccessibleName(self.tr("Download the weights"))
        self.stop_button = QPushButton(self.tr("Stop"), self)
        self.stop_button.setAccessibleName(self.tr("Stop the download"))
        self._lay_out()
        self._connect()
        self.forget_memory()
        self.show_weights(None, "")

    def show_weights(self, here: bool | None, words: str) -> None:
        """Whether the weights are here; None: it isn't known, or isn't the question. `words` go beside it."""
        self.note.setText(words)
        self.note.setVisible(bool(words))
        self.get_button.setVisible(here is False)
        self.getting.setVisible(False)
        self.stop_button.setVisible(False)

    def show_progress(self, words: str, share: float) -> None:
        """A download goes on; `share` of it is done, from 0 to 1."""
        self.note.setText(words)
        self.note.setVisible(True)
        self.getting.setValue(round(share * 1000))
        for widget in (self.getting, self.stop_button):
            widget.setVisible(True)
        self.get_button.setVisible(False)

    def forget_memory(self) -> None:
        """A new talk: nothing is remembered yet."""
        self.memory.setRange(0, 1)
        self.memory.setValue(0)
        self.memory.setFormat(self.tr("empty"))

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        match event:
            case e.ContextMeasured(frames=frames, capacity=capacity):
                self.memory.setRange(0, max(1, capacity))
                self.memory.setValue(frames)
                self.memory.setFormat(self.tr("{0} of {1}").format(_minutes(frames), _minutes(capacity)))
            case e.DialsChanged(delay=delay, lead=lead):
                self.show_dials(delay, lead)

    def show_dials(self, delay: int, lead: int) -> None:
        """Shows the dials in force, in frames, without saying that they were turned."""
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
        box.setToolTip(help)
        box.setRange(0, LONGEST_MS)
        box.setSingleStep(FRAME_MS)
        box.setSuffix(self.tr(" ms"))
        box.setKeyboardTracking(False)
        box.setValue(value)
        return box

    def _lay_out(self) -> None:
        upper, lower = QHBoxLayout(), QHBoxLayout()
        for text, widget in (
            (self.tr("&Precision"), self.precision),
            (self.tr("Answer &delay"), self.delay),
            (self.tr("Oracle l&ead"), self.lead),
            (self.tr("Memory"), self.memory),
        ):
            label = QLabel(text, self)
            label.setBuddy(widget)
            upper.addWidget(label)
            upper.addWidget(widget)
        upper.addStretch(1)
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


def _minutes(frames: int) -> str:
    seconds = round(frames * FRAME_SECONDS)
    return f"{seconds // 60}:{seconds % 60:02d}"
