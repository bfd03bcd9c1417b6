"""The demo's start page, shown until a visitor starts the demo, with a subtle animation of both sides' names."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFont, QHideEvent, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.demo.base import SIDES, Side
from app.gui.demo.fitted_text import SMALL_SHARE, FittedText, ink, side_ink
from app.gui.demo.side_view import Lights
from app.gui.demo.stage_page import Verdict
from app.gui.design.look import blend
from app.gui.design.motion import Glide, reduced_motion
from app.gui.design.theme import tokens
from app.gui.widgets.form import column, row

BEAT_MS = 900
"""The duration of each step of the animation."""
LOOP: tuple[tuple[Side, tuple[bool, bool, bool]] | None, ...] = (
    None,
    ("cascade", (True, False, False)),
    ("cascade", (False, True, False)),
    ("cascade", (False, False, True)),
    None,
    ("tandem", (True, False, False)),
    ("tandem", (True, True, False)),
    ("tandem", (False, True, True)),
    ("tandem", (False, True, True)),
)
"""For each step of the animation, the highlighted side and which of its lights are on; None highlights neither side."""


class StartPage(QWidget):
    """The start page. Once the demo is ready, emits `start_wanted` on a click on the button or anywhere else."""

    start_wanted = Signal()
    leave_wanted = Signal()
    window_wanted = Signal()
    """Emitted when the user asks to switch between full screen and a normal window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        verdict = Verdict(self)
        self.title = FittedText(self, weight=QFont.Weight.DemiBold)
        self.title.show_text(self.tr("KAME"))
        self.subtitle = FittedText(self, colour="dim")
        self.subtitle.show_text(self.tr("One question. One model. Who speaks first?"))
        self.words = {side: FittedText(self, weight=QFont.Weight.DemiBold) for side in SIDES}
        self.lights = {side: Lights(side, self) for side in SIDES}
        for side, word in self.words.items():
            word.show_text(verdict.name(side))
        self.status = FittedText(self, colour="dim", lines=2, share=SMALL_SHARE)
        self._bright = {side: Glide(lambda _: self._colour(), self, milliseconds=tokens().slow_ms) for side in SIDES}
        self.step = 0
        self._beat = QTimer(self, interval=BEAT_MS)
        self._beat.timeout.connect(self._advance)
        self._lay_out()
        self._show_step()

    def _lay_out(self) -> None:
        self.start = QPushButton(self.tr("Start (Enter)"), self)
        self.start.setProperty("primary", True)
        self.start.clicked.connect(self.start_wanted)
        self.window_button = QPushButton(self.tr("Full screen or window (F11)"), self)
        self.leave = QPushButton(self.tr("Leave (Esc)"), self)
        for button, wanted in ((self.window_button, self.window_wanted), (self.leave, self.leave_wanted)):
            button.setProperty("flat", True)
            button.clicked.connect(wanted)
        unit = tokens().unit
        sides = [(column((self.words[side], 3), (self.lights[side], 2)), 1) for side in SIDES]
        pair = (row(*sides, spacing=8 * unit), 28)
        buttons = row(None, self.start, self.window_button, self.leave, None, spacing=2 * unit)
        titles = ((None, 8), (self.title, 26), (self.subtitle, 6), (None, 6))
        margins = (8 * unit, 6 * unit, 8 * unit, 6 * unit)
        column(*titles, pair, (None, 8), (self.status, 7), buttons, within=self, spacing=3 * unit, margins=margins)

    def show_status(self, text: str, *, ready: bool) -> None:
        """Shows the progress of the preparation, or why the demo can't start. `ready`: whether the demo can start."""
        self.status.show_text(text)
        if ready != self.start.isEnabled():
            self.start.setEnabled(ready)
            self.start.setFocus()

    # -- the loop

    def showEvent(self, event: QShowEvent) -> None:
        """Restarts the animation, unless reduced motion is on, and focuses the start button."""
        super().showEvent(event)
        self.step = 0
        self._show_step()
        if not reduced_motion():
            self._beat.start()
        self.start.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stops the animation."""
        super().hideEvent(event)
        self._beat.stop()

    def _advance(self) -> None:
        self.step = (self.step + 1) % len(LOOP)
        self._show_step()

    def _show_step(self) -> None:
        now = LOOP[self.step]
        for side in SIDES:
            mine = now is not None and now[0] == side
            self._bright[side].go(1.0 if mine or reduced_motion() else 0.0)
            self.lights[side].show_lit(*(now[1] if mine and now is not None else (False, False, False)))
        self._colour()

    def _colour(self) -> None:
        for side, word in self.words.items():
            word.colour = blend(ink("dim"), side_ink(side), self._bright[side].value)
            word.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Starts the demo on a click anywhere."""
        if event.button() == Qt.MouseButton.LeftButton and self.start.isEnabled():
            self.start_wanted.emit()
