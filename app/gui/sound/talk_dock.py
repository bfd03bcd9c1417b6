"""The talk dock below the conversation: talk button, mute, devices, hands-free, and stopping the response."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.icons import IconButton, paint_icon
from app.gui.design.look import STATE_COLOURS, Dressed, draw_rounded, painter_on
from app.gui.design.plain import named, set_tip
from app.gui.design.theme import tokens
from app.gui.sound.talk_button import TalkButton
from app.gui.state.session_model import SessionModel
from app.gui.state.talk_state import TalkState
from app.gui.widgets.form import column, row
from app.gui.widgets.panel import ElidedLabel

ICON_PX = 18


class MuteButton(IconButton):
    """A mute button. Checked at the user's request, and red once the session has muted the microphone (`confirmed`)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("mic", "", parent, size=ICON_PX)
        self.confirmed = False
        self.setCheckable(True)
        self.toggled.connect(lambda _: self._show_state())
        self._show_state()

    def confirm(self, muted: bool) -> None:
        """Sets whether the session has muted the microphone."""
        if self.confirmed != muted:
            self.confirmed = muted
            self._show_state()

    def sizeHint(self) -> QSize:
        side = tokens().control + 4
        return QSize(side, side)

    def _show_state(self) -> None:
        self.set_name("mic-off" if self.isChecked() else "mic")
        words = (
            self.tr("The microphone is muted: none of its sound is used.")
            if self.confirmed
            else self.tr("Silences the microphone (Ctrl+M).")
        )
        self.setAccessibleName(self.tr("Mute the microphone"))
        set_tip(self, words)
        self.setAccessibleDescription(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.confirmed:
            return
        with painter_on(self) as painter:
            box = QRectF(self.rect()).adjusted(2, 2, -2, -2)
            draw_rounded(painter, box, tokens().radius, fill=STATE_COLOURS["muted"])
            place = QRectF(0, 0, ICON_PX, ICON_PX)
            place.moveCenter(box.center())
            paint_icon(painter, "mic-off", QColor("white"), place)


class Caption(Dressed, ElidedLabel):
    """A line in small type in the middle."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent=parent, dim=True)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._dress()

    def _dress(self) -> None:
        set_size(self, "caption")


class TalkDock(QWidget):
    """Shows what `model` says about the session. User actions are emitted as signals of the individual widgets."""

    silence_wanted = Signal()
    """Emitted when the user stops the response without ending the conversation."""

    def __init__(self, model: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._typing = False
        self.button = named(TalkButton(self), self.tr("Talk"))
        self.mute = MuteButton(self)
        self.devices_button = IconButton("chevron-up", self.tr("Microphone and loudspeaker"), self, size=14)
        self.duplex = named(QCheckBox(self.tr("Hands-&free"), self), self.tr("Hands-free"))
        hint = self.tr("Talk without the button: your voice starts and ends your turns, and may interrupt an answer.")
        set_tip(self.duplex, hint)
        self.duplex.setAccessibleDescription(hint)
        self.silence = IconButton("square", self.tr("Stop speaking"), self, self.silence_wanted, keys=self.tr("Esc"))
        left, right = QWidget(self), QWidget(self)
        for side, widgets in (
            (left, (self.mute, self.devices_button, None)),
            (right, (None, self.silence, self.duplex)),
        ):
            row(*widgets, within=side, spacing=tokens().unit)
        self.caption = Caption(self)
        upper = row((left, 1), self.button, (right, 1), spacing=2 * tokens().unit)
        column(upper, self.caption, within=self, spacing=0)
        model.changed.connect(self._show_state)
        self._show_state()

    def _show_state(self) -> None:
        state, progress = self._model.talk, self._model.progress
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
            "stopped": (self.tr("Stopped"), self.tr("press to continue")),
        }
        hold = self._hint(state)
        text, hint = words[state.word]
        if state.word in ("listening", "hearing", "thinking", "speaking"):
            hint = hold
        if state.hears_early:
            text = words["listening" if state.duplex or state.held else "ready"][0]
            hint = self.tr("kept; {0}").format(progress) if state.kept and not state.held else progress
        if state.word == "ready" and self._typing:
            hint = self.tr("Enter sends your message")
        if state.word == "ready" and state.tapped:
            text, hint = self.tr("Hold to talk"), self.tr("keep it down while you speak")
        if state.word == "ready" and state.just_unheard:
            text = self.tr("I heard nothing")
            hint = self.tr("check the microphone") if state.unheard > 1 else self.tr("speak while the button is down")
        if state.word in ("ready", "listening") and not state.hears_early and not state.microphone:
            text, hint = self.tr("No microphone"), self.tr("type, or plug one in")
        if state.asking:
            text, hint = self.tr("Asking aloud"), self.tr("Esc stops it")
        if state.replaying:
            text, hint = self.tr("Playing again"), self.tr("Esc stops it")
        self.button.show_state(state.word, text, hint)
        self.caption.setText(hint)
        # In hands-free mode, speech starts and ends turns, and the button only shows the state.
        self.button.setEnabled(state.phase in ("stopped", "loading") or state.can_talk)
        # Device tests and replays also mute the session, but only muting by the user is shown.
        self.mute.confirm(state.muted and (self.mute.isChecked() or not (state.testing or state.replaying)))
        self.silence.setVisible(state.can_silence)

    def set_typing(self, typing: bool) -> None:
        """Sets whether the user is typing a message, in which case the space bar doesn't trigger the talk button."""
        if typing != self._typing:
            self._typing = typing
            self._show_state()

    def _hint(self, state: TalkState) -> str:
        """Returns a hint about what the user can do in this state."""
        if state.muted and not state.testing:
            return self.tr("you are muted")
        if state.held:
            return self.tr("press again when you are done") if state.toggles else self.tr("let go when you are done")
        if state.duplex:
            return self.tr("speak when you like")
        return self.tr("press to talk") if state.toggles else self.tr("hold to talk")
