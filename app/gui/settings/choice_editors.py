"""Editors for switches, lists, numbers, sliders and colours, and the table that maps kinds of settings to editors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPoint, QRectF, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFocusEvent, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QComboBox, QRadioButton, QSlider, QSpinBox, QWidget

from app.gui.design.look import painter_on, set_ink
from app.gui.design.plain import PlainLabel, set_tip
from app.gui.design.theme import tokens
from app.gui.design.tokens import ACCENTS
from app.gui.settings.text_editors import Editor, Folder, Folders, Keys, Line, Lines
from app.gui.widgets.buttons import Toggle
from app.gui.widgets.form import DollarBox, row
from app.gui.widgets.lists import PickList
from app.gui.widgets.translation import said
from app.settings.setting import Setting

TEXT_PX = 8
"""The left margin of the text in a number field."""
DOT_PX, ROOM_PX = 20, 32


class Switch(Editor):
    """A switch, shown next to the setting's name."""

    letters = 0, 0

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.box = Toggle(self)
        self._set_control(self.box)
        self.box.clicked.connect(lambda: self._submit(self.box.isChecked()))
        self.revert()

    def revert(self) -> None:
        self.box.setChecked(self.value)

    def in_words(self, value: Any) -> str:
        return self.tr("on") if value else self.tr("off")


class Choice(Editor):
    """A drop-down list of values, with labels from the declaration or from `offer`."""

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.list = PickList(self)
        # Keeps long names from widening the dialog.
        self.list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.list.setMinimumContentsLength(8)
        self._set_control(self.list)
        self.list.activated.connect(lambda: self._submit(self.list.currentData()))
        self.list.closed.connect(self._offer_later)
        self._offered: Sequence[tuple[str, str]] = [(key, said(word)) for key, word in declared.words.items()]
        if declared.kind == "device":
            self._offered = [("", self.tr("System default"))]
        elif declared.kind == "model":
            self._offered = [("", self.tr("Automatic"))]
        self.revert()

    def offer(self, choices: Sequence[tuple[str, str]]) -> None:
        """Sets the (value, label) pairs to choose from. If the drop-down is open, this takes effect once it is closed.
        The current value is always listed.
        """
        self._offered = list(choices)
        if not self.list.view().isVisible():
            self.revert()

    @property
    def texts(self) -> list[str]:
        return [self.list.itemText(place) for place in range(self.list.count())]

    def in_words(self, value: Any) -> str:
        declared = said(self.declared.words.get(value, value))
        return next((words for key, words in self._offered if key == value), declared)

    def _offer_later(self) -> None:
        # Deferred, so that a selection in the closing list is handled first.
        QTimer.singleShot(0, self, self.revert)

    def revert(self) -> None:
        wanted = list(self._offered)
        if self.value not in [key for key, _ in wanted]:
            known = said(self.declared.words.get(self.value, ""))
            wanted.append((self.value, known or self.tr("Not found: {0}").format(self.value)))
        there = [(self.list.itemData(place), self.list.itemText(place)) for place in range(self.list.count())]
        with QSignalBlocker(self.list):
            if there != wanted:
                self.list.clear()
                for key, words in wanted:
                    self.list.addItem(words, key)
                self.updateGeometry()
            self.list.setCurrentIndex(next(place for place, (key, _) in enumerate(wanted) if key == self.value))
        set_tip(self.list, self.list.currentText())


class _Box:
    """A mixin for spin boxes that ignores the mouse wheel and, on focus, selects a special value's text."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def focusInEvent(self: Any, event: QFocusEvent) -> None:
        super().focusInEvent(event)  # type: ignore[misc]
        if self.text() == self.specialValueText():
            QTimer.singleShot(0, self, self.selectAll)  # deferred, because a click places the cursor after this event


class _Whole(_Box, QSpinBox):
    pass


class _Part(_Box, DollarBox):
    pass


class Number(Editor):
    """A spin box. The setting's special value, if any, is shown as text. It may lie below the allowed range."""

    letters = 24, 14

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self._parts = isinstance(declared.default, float)
        box: Any = _Part(self) if self._parts else _Whole(self)
        self.box = box
        box.lineEdit().setTextMargins(TEXT_PX, 0, 0, 0)  # style sheets don't reach the text of a spin box
        if self._parts:
            box.setDecimals(2)
        least = declared.lowest
        self._below = False
        if declared.special is not None:
            self._below = declared.special[0] < least
            least -= declared.step if self._below else 0
            box.setSpecialValueText(said(declared.special[1]))
        box.setRange(*(self._typed(number) for number in (least, declared.highest)))
        box.setSingleStep(self._typed(declared.step))
        if declared.unit == "$":
            box.setPrefix("$")
        elif declared.unit:
            box.setSuffix(f" {said(declared.unit)}")
        box.setKeyboardTracking(False)
        self._set_control(box)
        box.valueChanged.connect(self._changed)
        self.revert()

    @property
    def dirty(self) -> bool:
        return self.box.text() != self._taken_text

    def commit(self) -> None:
        self.box.interpretText()
        self._changed()

    def revert(self) -> None:
        with QSignalBlocker(self.box):
            self.box.setValue(self._number(self.value))
        self._taken_text = self.box.text()

    def in_words(self, value: Any) -> str:
        number = self._number(value)
        if self.declared.special is not None and number <= self.box.minimum():
            return self.box.specialValueText()
        return f"{self.box.prefix()}{self.box.textFromValue(number)}{self.box.suffix()}"

    def _changed(self) -> None:
        self._taken_text = self.box.text()
        self._submit(self._shown)

    def _typed(self, number: float) -> float:
        return float(number) if self._parts else int(number)

    def _number(self, value: float) -> float:
        return self.box.minimum() if self._below and value < self.declared.lowest else value

    @property
    def _shown(self) -> float:
        value = self.box.value()
        if self._below and self.declared.special is not None and value < self.declared.lowest - self.declared.step / 2:
            return self._typed(self.declared.special[0])
        # Steps of 0.1 must not produce 0.30000000000000004 or -0.0.
        return round(value, self.box.decimals()) + 0.0 if self._parts else value


class _Slider(QSlider):
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ignores the mouse wheel, so that it scrolls the page instead."""
        event.ignore()


class Slider(Editor):
    """A slider with its number next to it. Submits on release of the handle and on each key press."""

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
        """Rounds to the nearest whole number of steps above the lowest value."""
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


class Dot(QRadioButton):
    """An accent colour as a dot, with a ring if selected."""

    def __init__(self, accent: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._accent = ACCENTS[accent]
        self.setAccessibleName(name)
        set_tip(self, name)

    def sizeHint(self) -> QSize:
        return QSize(ROOM_PX, ROOM_PX)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, point: QPoint) -> bool:
        return self.rect().contains(point)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        colour = QColor(self._accent.dark if t.dark else self._accent.light)
        centre = QRectF(self.rect()).center()
        dot = QRectF(0, 0, DOT_PX, DOT_PX)
        dot.moveCenter(centre)
        with painter_on(self) as painter:
            set_ink(painter, fill=colour)
            painter.drawEllipse(dot)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            if self.isChecked():
                painter.setPen(QPen(QColor(t.surface), 2))
                painter.drawEllipse(dot.adjusted(2, 2, -2, -2))
                painter.setPen(QPen(colour, 2))
                painter.drawEllipse(dot.adjusted(-1, -1, 1, 1))
            if self.hasFocus():
                painter.setPen(QPen(QColor(t.text), 2))
                painter.drawEllipse(dot.adjusted(-5, -5, 5, 5))


class Swatches(Editor):
    """A row of dots, one for each of the setting's colours."""

    letters = 0, 0

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.dots: dict[str, Dot] = {}
        for key, word in declared.words.items():
            dot = self.dots[key] = Dot(key, said(word), self)
            dot.clicked.connect(lambda _=False, key=key: self._pick(key))
        row(*self.dots.values(), within=self, spacing=0)
        self.setAccessibleName(said(declared.label))
        self.revert()

    def revert(self) -> None:
        self.dots[self.value].setChecked(True)
        self.setFocusProxy(self.dots[self.value])

    def describe(self, words: str) -> None:
        for dot in self.dots.values():
            dot.setAccessibleDescription(words)

    def in_words(self, value: Any) -> str:
        return said(self.declared.words[value])

    def _pick(self, key: str) -> None:
        self._submit(key)
        self.revert()


EDITORS: dict[str, type[Editor]] = {
    "switch": Switch,
    "choice": Choice,
    "colour": Swatches,
    "device": Choice,
    "model": Choice,
    "number": Number,
    "slider": Slider,
    "line": Line,
    "lines": Lines,
    "folder": Folder,
    "folders": Folders,
    "keys": Keys,
}
"""The editor classes, keyed by the kind of setting."""
