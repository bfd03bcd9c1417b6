"""The row of controls below the conversation: talk button, mute, hands-free, devices and their meters."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.gui.sound.mute_button import MuteButton
from app.gui.sound.talk_button import TalkButton
from app.gui.state.talk_state import TalkState
from app.gui.widgets.level_meter import LevelMeter
from app.gui.widgets.slim_button import SlimButton


class TalkBar(QWidget):
    """Shows a `TalkState`; its widgets' own signals report what the user does.

    `microphones`, `loudspeakers` and `stop`: controls made elsewhere that are placed here.
    """

    def __init__(
        self, microphones: QWidget, loudspeakers: QWidget, stop: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.button = TalkButton(self)
        self.button.setAccessibleName(self.tr("Talk"))
        self.mute = MuteButton(self)
        self.duplex = QCheckBox(self.tr("Hands-&free"), self)
        self.duplex.setAccessibleName(self.tr("Hands-free"))
        hint = self.tr("Talk without the button: your voice starts and ends your turns, and may interrupt an answer.")
        self.duplex.setToolTip(hint)
        self.duplex.setAccessibleDescription(hint)
        self.sound = SlimButton(self.tr("Sound…"), self)
        self.sound.setAccessibleName(self.tr("Sound: devices, tests, echo, talk button"))
        self.sound.setToolTip(self.sound.accessibleName())
        self.microphone = LevelMeter(self.tr("Microphone level, dB"), self, titled=False)
        self.loudspeaker = LevelMeter(self.tr("Loudspeaker level, dB"), self, titled=False)
        switch = _column(self.duplex, self.sound)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(14)
        row.addLayout(_column(self.mute, stop))
        row.addLayout(self._device(self.tr("M&icrophone"), microphones, self.microphone), 4)
        row.addWidget(self.button, 5)
        row.addLayout(self._device(self.tr("&Loudspeaker"), loudspeakers, self.loudspeaker), 4)
        row.addLayout(switch)

    def _device(self, name: str, picker: QWidget, meter: LevelMeter) -> QVBoxLayout:
        label = QLabel(name, self)
        label.setBuddy(picker)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(label)
        row.addWidget(picker, 1)
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addStretch(1)
        column.addLayout(row)
        column.addWidget(meter)
        column.addStretch(1)
        return column

    def show_state(self, state: TalkState, progress: str) -> None:
        """Shows the state on the button; `progress` says what is being prepared."""
        words = {
            "loading": (self.tr("Getting ready"), progress),
            "ready": (
                (self.tr("Press to talk"), self.tr("or press the space bar"))
                if state.toggles
                else (self.tr("Hold to talk"), self.tr("or hold the space bar"))
            ),
            "listening": (self.tr("Listening"), self.tr("speak when you like")),
            "hearing": (self.tr("Hearing you"), ""),
            "thinking": (self.tr("Thinking"), ""),
            "speaking": (self.tr("Speaking"), ""),
            "muted": (
                (self.tr("Trying out"), self.tr("not part of the conversation"))
                if state.testing
                else (self.tr("Muted"), self.tr("nothing you say is heard"))
            ),
            "stopped": (self.tr("Stopped"), self.tr("press to go on")),
        }
        hold = self._hint(state)
        text, hint = words[state.word]
        if state.word in ("listening", "hearing", "thinking", "speaking"):
            hint = hold
        self.button.show_state(state.word, text, hint)
        # Hands-free, the voice starts and ends turns, and the button only shows the state.
        self.button.setEnabled(state.phase == "stopped" or (state.phase == "running" and not state.duplex))
        # A device test mutes the session too: the switch shows only what the user has muted.
        self.mute.confirm(state.muted and (self.mute.isChecked() or not state.testing))
        self.microphone.set_muted(state.muted)

    def _hint(self, state: TalkState) -> str:
        """What the user can do in this state."""
        if state.muted and not state.testing:
            return self.tr("you are muted")
        if state.held:
            return self.tr("press again when you are done") if state.toggles else self.tr("let go when you are done")
        if state.duplex:
            return self.tr("speak when you like")
        if state.word == "speaking":
            return self.tr("press to interrupt") if state.toggles else self.tr("hold to interrupt")
        return self.tr("press to talk") if state.toggles else self.tr("hold to talk")


def _column(*widgets: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(4)
    column.addStretch(1)
    for widget in widgets:
        column.addWidget(widget)
    column.addStretch(1)
    return column
