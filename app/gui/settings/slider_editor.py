"""The editor for numbers whose size matters more than their digits: a slider, with the number beside it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSlider, QWidget

from app.gui.design.plain import PlainLabel
from app.gui.settings.editor import Editor
from app.gui.widgets.translation import said
from app.settings.setting import Setting


class _Slider(QSlider):
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leaves the wheel to the page."""
        event.ignore()


class Slider(Editor):
    """Submits a number when the handle is let go, and at each key."""

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.slider = _Slider(Qt.Orientation.Horizontal, self)
        self.slider.setRange(int(declared.lowest), int(declared.highest))
        self.slider.setSingleStep(int(declared.step))
        self.slider.setPageStep(2 * int(declared.step))
        self.slider.setTracking(False)
        self.number = PlainLabel(parent=self)
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._set_control(self.slider, self.number)
        self.slider.sliderMoved.connect(lambda value: self._show(self._rounded(value)))
        self.slider.valueChanged.connect(self._changed)
        self.revert()

    def revert(self) -> None:
        self._place(self.value)

    def in_words(self, value: Any) -> str:
        return f"{value} {said(self.declared.unit)}".strip()

    def _changed(self, value: int) -> None:
        rounded = self._rounded(value)
        self._place(rounded)
        self._submit(rounded)

    def _rounded(self, value: int) -> int:
        """The nearest value that is a whole number of steps away from the lowest."""
        lowest, step = int(self.declared.lowest), int(self.declared.step)
        return lowest + round((value - lowest) / step) * step

    def _place(self, value: int) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(value)
        self._show(value)

    def _show(self, value: int) -> None:
        widest = max(map(self.in_words, (int(self.declared.lowest), int(self.declared.highest))), key=len)
        self.number.setMinimumWidth(self.number.fontMetrics().horizontalAdvance(widest))
        self.number.setText(self.in_words(value))
