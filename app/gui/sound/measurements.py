"""The section of the dialog “Sound” that says in words how well the sound works: echo, clocks and losses."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.conversation.events import SoundMeasured
from app.gui.design.plain import PlainLabel
from app.gui.widgets.panel import Quiet

SAME_PPM = 1.0
"""Clocks that differ by less count as equal: the difference is 4 ms an hour."""


class Measurements(QWidget):
    """Three lines; `reshaped` is emitted when they need another height."""

    reshaped = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.echo, self.clocks, self.losses = (Quiet(parent=self, selectable=True) for _ in range(3))
        self.echo.setAccessibleName(self.tr("Echo measured"))
        self.clocks.setAccessibleName(self.tr("Clocks measured"))
        self.clocks.setToolTip(self.tr("ppm: parts per million. 12 ppm are a second a day."))
        self.losses.setAccessibleName(self.tr("Sound lost"))
        grid = self._grid = label_grid(self)
        grid.setContentsMargins(0, 0, 0, 0)
        for row, (title, label) in enumerate(
            ((self.tr("Echo"), self.echo), (self.tr("Clocks"), self.clocks), (self.tr("Losses"), self.losses))
        ):
            grid.addWidget(PlainLabel(title, self), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, row, 1)
        self.show_measured(None, echo_cancellation=True)

    def show_measured(self, measured: SoundMeasured | None, *, echo_cancellation: bool) -> None:
        """Shows the latest measurement; None: no conversation is running."""
        if measured is None:
            texts = (self.tr("Nothing is measured, since no conversation is running."), "–", "–")
        else:
            texts = (self._echo(measured, echo_cancellation), self._clocks(measured.drift_ppm), self._losses(measured))
        reshaped = False
        for label, text in zip((self.echo, self.clocks, self.losses), texts, strict=True):
            if label.text() != text:  # setting the same text would clear a selection
                before = label.heightForWidth(label.width())
                label.setText(text)
                reshaped |= label.heightForWidth(label.width()) != before
        if reshaped:
            self._grid.activate()  # so that the dialog knows the new height at once
            self.reshaped.emit()

    def _echo(self, measured: SoundMeasured, echo_cancellation: bool) -> str:
        reduction = "" if measured.erle_db is None else f"{max(0.0, measured.erle_db):.0f}"
        if measured.echo_remains:
            problem = self.tr("Echo remains, and the app may mistake its own voice for yours.")
            if reduction:
                problem = self.tr(
                    "Echo remains: it is made {0} dB quieter, and the app may still mistake its own voice for yours."
                ).format(reduction)
            if not echo_cancellation:
                return problem + " " + self.tr("Switch echo cancellation on, or use headphones.")
            advice = self.tr("Turn the loudspeaker down, move the microphone away from it, or use headphones.")
            return f"{problem} {advice}"
        if not echo_cancellation:
            return self.tr("Not measured: echo cancellation is off.")
        if reduction:
            return self.tr("Echo is made {0} dB quieter.").format(reduction)
        return self.tr("No echo measured: headphones, or nothing has been said yet.")

    def _clocks(self, ppm: float | None) -> str:
        if ppm is None:
            return self.tr("Not known yet.")
        if abs(ppm) < SAME_PPM:
            return self.tr("Loudspeaker and microphone keep the same time.")
        if ppm > 0:
            return self.tr("The loudspeaker's clock runs {0:.0f} ppm fast; this is corrected.").format(ppm)
        return self.tr("The loudspeaker's clock runs {0:.0f} ppm slow; this is corrected.").format(-ppm)

    def _losses(self, measured: SoundMeasured) -> str:
        if not measured.overrun_ms and not measured.underruns:
            return self.tr("None of your voice was lost, and the app's had no gaps.")
        losses = self.tr("{0} ms of your voice were lost; gaps in the app's voice: {1}. The machine may be too busy.")
        return losses.format(measured.overrun_ms, measured.underruns)


def label_grid(parent: QWidget | None = None) -> QGridLayout:
    """A layout of rows with a label and a wide widget; the labels' column is as wide in each of them."""
    grid = QGridLayout(parent) if parent is not None else QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(1, 1)
    metrics = PlainLabel().fontMetrics()
    grid.setColumnMinimumWidth(0, metrics.averageCharWidth() * 10)
    return grid
