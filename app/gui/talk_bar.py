"""The controls below the talk: the big button, the duplex switch and the two meters."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.gui.level_meter import LevelMeter
from app.gui.look import blend
from app.gui.talk_button import TalkButton
from app.gui.talk_state import TalkState


class TalkBar(QWidget):
    """Shows a `TalkState`. Who presses and switches is heard through the widgets' own signals."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.button = TalkButton(self)
        self.button.setAccessibleName(self.tr("Talk"))
        self.duplex = QCheckBox(self.tr("&Full duplex"), self)
        self.duplex.setAccessibleName(self.tr("Full duplex"))
        hint = self.tr("Talk without the button. Use headphones: on loudspeakers it hears itself for now.")
        self.duplex.setToolTip(hint)
        self.duplex.setAccessibleDescription(hint)
        self.hint = QLabel(self.tr("Use headphones: on loudspeakers it hears itself for now."), self)
        self.hint.setWordWrap(True)
        self.microphone = LevelMeter(self.tr("Microphone level, dB"), self)
        self.loudspeaker = LevelMeter(self.tr("Loudspeaker level, dB"), self)
        switch = QVBoxLayout()
        switch.setSpacing(2)
        switch.addStretch(1)
        switch.addWidget(self.duplex)
        switch.addWidget(self.hint)
        switch.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        row.addWidget(self.microphone, 3)
        row.addWidget(self.button, 5)
        row.addWidget(self.loudspeaker, 3)
        row.addLayout(switch, 3)
        self._dim_hint()

    def show_state(self, state: TalkState, progress: str) -> None:
        """Shows the talk's state on the button; `progress` tells what is being got ready."""
        words = {
            "loading": (self.tr("Getting ready"), progress),
            "ready": (self.tr("Hold to talk"), self.tr("or hold the space bar")),
            "listening": (self.tr("Listening"), self.tr("speak when you like")),
            "hearing": (self.tr("Hearing you"), ""),
            "thinking": (self.tr("Thinking"), ""),
            "speaking": (self.tr("Speaking"), ""),
            "stopped": (self.tr("Stopped"), self.tr("“New talk” starts again")),
        }
        hold = self.tr("speak when you like") if state.duplex else self.tr("hold to talk")
        if state.word == "speaking" and not state.duplex:
            hold = self.tr("hold to interrupt")
        if state.held:
            hold = self.tr("let go when you are done")
        text, hint = words[state.word]
        if state.word in ("listening", "hearing", "thinking", "speaking"):
            hint = hold
        self.button.show_state(state.word, text, hint)
        # In full duplex the voice opens and closes turns, and the button only tells the state.
        self.button.setEnabled(state.phase == "running" and not state.duplex)

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ApplicationPaletteChange:
            self._dim_hint()

    def _dim_hint(self) -> None:
        palette = self.palette()
        ink, ground = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)
        palette.setColor(QPalette.ColorRole.WindowText, blend(ink, ground, 0.32))
        self.hint.setPalette(palette)
