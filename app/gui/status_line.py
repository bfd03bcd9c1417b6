"""The line at the window's foot: how fast the last answer came, and what the session is made of."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from app.conversation import events as e
from app.gui.talk_state import TalkState


class StatusLine(QWidget):
    """Keeps the few facts of a session that only it shows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.response = QLabel(self)
        self.state = QLabel(self)
        self.state.setAlignment(Qt.AlignmentFlag.AlignRight)
        # Model names can be long: they are cut off rather than make the window wider.
        self.state.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.response)
        row.addWidget(self.state, 1)
        self._parts: list[str] = []
        self._gaps = 0

    def begin(self) -> None:
        """A new session runs."""
        self._parts, self._gaps = [], 0

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        match event:
            case e.SessionStarted():
                self._parts = [event.frontend, event.stt, event.backend, event.model]
            case e.BackendChanged(backend=backend, model=model):
                self._parts = [*self._parts[:2], backend, model]
            case e.FrontEndChanged(frontend=frontend):
                self._parts = [frontend, *self._parts[1:]]
            case e.Underrun(count=count):
                self._gaps += count
            case e.FramesDropped():
                self._gaps += 1

    def show_state(self, talk: TalkState, progress: str) -> None:
        """Shows the talk's state in words."""
        self.response.setText(self._response(talk.response_seconds))
        self.state.setText(self._state(talk, progress))
        self.state.setToolTip(self.state.text())

    def _response(self, seconds: float | None) -> str:
        if seconds is None:
            return self.tr("No answer yet")
        if seconds < 0:
            return self.tr("Last answer began {0} s before you ended").format(f"{-seconds:.2f}")
        return self.tr("Last answer after {0} s").format(f"{seconds:.2f}")

    def _state(self, talk: TalkState, progress: str) -> str:
        if talk.phase == "loading":
            return self.tr("Getting ready: {0}").format(progress or self.tr("one moment"))
        if talk.phase == "stopped":
            return self.tr("Stopped")
        made_of = " · ".join(part for part in self._parts if part)
        text = self.tr("Running: {0}").format(made_of) if made_of else self.tr("Running")
        if self._gaps:
            one = self._gaps == 1
            text += " · "
            text += (
                self.tr("1 gap in the sound") if one else self.tr("{0} gaps in the sound").format(self._gaps)
            )
        return text
