"""The demo's page that shows both sides answering a recorded question or a visitor's own.

For a visitor's question, a row lists the available models, each with the key that switches to it mid-answer. A verdict
states which side was heard first.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.demo.base import SIDES, DemoBackend, Side
from app.gui.demo.fitted_text import SMALL_SHARE, Filling, FittedText, font_px, ink
from app.gui.demo.side_view import SideView
from app.gui.design.look import draw_rounded, painter_on
from app.gui.design.plain import draw_words
from app.gui.design.theme import tokens
from app.gui.widgets.form import column, row

MOST = 9
"""The maximum number of models: one for each of the keys 1 to 9."""


class ModelsRow(Filling):
    """A row of models, each with its key. `labels` are their names; `current` is the index of the active one."""

    chosen = Signal(int)
    """Emits the index of the clicked model."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, tokens().control)
        self.labels: tuple[str, ...] = ()
        self.current = 0
        self.setAccessibleName(self.tr("Models, with their keys"))

    def show_models(self, labels: Sequence[str], current: int) -> None:
        """Shows the first nine labels, with the one at index `current` highlighted."""
        self.labels, self.current = tuple(labels[:MOST]), current
        self.setAccessibleDescription(", ".join(f"{n} {label}" for n, label in enumerate(self.labels, 1)))
        self.update()

    def _cell(self, place: int) -> QRectF:
        gap = 2 * tokens().unit
        most = self.height() * 7
        width = min(most, (self.width() + gap) / len(self.labels) - gap)
        left = (self.width() - len(self.labels) * (width + gap) + gap) / 2
        return QRectF(left + place * (width + gap), 0, width, self.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Emits `chosen` for the model that was clicked."""
        for place in range(len(self.labels)):
            if self._cell(place).contains(event.position()):
                self.chosen.emit(place)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a key and a name for each model."""
        with painter_on(self) as painter:
            for place, label in enumerate(self.labels):
                cell, on = self._cell(place), place == self.current
                draw_rounded(painter, cell, tokens().radius, fill=ink("accent" if on else "sunken"))
                colour = ink("on_accent" if on else "text")
                bold = font_px(self.font(), max(tokens().caption, self.height() * 0.5), QFont.Weight.DemiBold)
                pad, key = self.height() * 0.35, str(place + 1)
                used = QFontMetricsF(bold).horizontalAdvance(key)
                draw_words(painter, cell.adjusted(pad, 0, 0, 0), key, colour, bold)
                plain = font_px(self.font(), max(tokens().caption, self.height() * 0.4))
                draw_words(painter, cell.adjusted(2 * pad + used, 0, -pad, 0), label, colour, plain)


NOTICED_SECONDS = 0.05
"""If the response times differ by less than this, both sides count as equally fast."""
TIMES_FROM = 1.5
"""Minimum ratio of response times for a verdict of "N times as fast". Below it, the difference is shown."""
LEAST_SECONDS = 0.1
"""Minimum response time for computing a ratio, which would be meaningless for shorter ones."""


class Verdict(QObject):
    """Describes results in the user's language."""

    def name(self, side: Side) -> str:
        """Returns a side's name."""
        return self.tr("Cascade") if side == "cascade" else self.tr("Tandem")

    def words(self, cascade: float | None, tandem: float | None) -> str:
        """Returns a sentence that states which side was faster and by how much. Empty if either side wasn't heard.

        `cascade`, `tandem`: the response times in seconds, None for a side that wasn't heard.
        """
        if cascade is None or tandem is None:
            return ""
        if abs(cascade - tandem) < NOTICED_SECONDS:
            return self.tr("Both were equally fast")
        first, other = min(cascade, tandem), max(cascade, tandem)
        name = self.name("tandem" if tandem < cascade else "cascade")
        if first >= LEAST_SECONDS and other / first >= TIMES_FROM:
            return self.tr("{0}: {1} times as fast").format(name, f"{other / first:.1f}")
        return self.tr("{0}: {1} s sooner").format(name, f"{other - first:.2f}")


class StagePage(QWidget):
    """Shows both `sides`. The talk button and the models are visible only for a visitor's question."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._verdict = Verdict(self)
        self.question = FittedText(self, lines=2, weight=QFont.Weight.DemiBold)
        self.hint = FittedText(self, colour="dim", weight=QFont.Weight.Medium)
        self.sides = {side: SideView(side, self._verdict.name(side), self) for side in SIDES}
        self.talk = QPushButton(self.tr("Hold to ask"), self)
        self.talk.setProperty("primary", True)
        self.talk.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the space bar works regardless of focus
        self.models = ModelsRow(self)
        self.note = FittedText(self, colour="dim", lines=2, share=SMALL_SHARE)
        unit = tokens().unit
        pair = row(*((view, 1) for view in self.sides.values()), spacing=4 * unit)
        self.talk.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        foot = row(self.talk, (self.models, 1), spacing=4 * unit)
        parts = ((self.question, 11), (self.hint, 6), (pair, 73), (foot, 5), (self.note, 5))
        column(*parts, within=self, spacing=2 * unit, margins=(6 * unit, 4 * unit, 6 * unit, 3 * unit))
        self._for_visitors(False)

    def show_question(self, text: str, number: int, total: int, note: str) -> None:
        """Shows a recorded question. `number`: its number out of `total`, from 1. `note`: how it was recorded."""
        self.question.show_text(text)
        self.hint.show_text(self.tr("{0} of {1}").format(number, total))
        self.note.show_text(note)
        self._for_visitors(False)

    def show_preparing(self, number: int, total: int) -> None:
        """Shows that the questions are still being recorded, with `number` of `total` done."""
        self.question.show_text(self.tr("Both are being asked, one after the other …"))
        self.hint.show_text(self.tr("{0} of {1}").format(number, total))
        self.note.show_text("")
        self._for_visitors(False)
        self.clear()

    def show_asking(self, backends: Sequence[DemoBackend], current: int) -> None:
        """Prepares the page for a visitor's question."""
        self.question.show_text(self.tr("Ask it yourself"))
        self.note.show_text(
            self.tr("The tandem answers live. The cascade then gets the recording of your question, silently.")
        )
        self.hint.show_text(self.tr("Getting ready …"))
        self.talk.setEnabled(False)
        self.models.show_models([backend.label for backend in backends], current)
        self._for_visitors(True)
        self.clear()

    def show_ready(self) -> None:
        """Enables the talk button. Called once the session is ready for the visitor's question."""
        self.talk.setEnabled(True)
        if len(self.models.labels) > 1:
            self.hint.show_text(self.tr("Hold the space bar and ask. Press 2 in mid-sentence to change its mind."))
        else:
            self.hint.show_text(self.tr("Hold the space bar and ask. There is only one model here to answer."))

    def show_verdict(self, cascade: float | None, tandem: float | None) -> None:
        """Shows which side was faster. No-op while either time is None."""
        if words := self._verdict.words(cascade, tandem):
            self.hint.show_text(words)

    def show_model(self, label: str) -> None:
        """Shows the name of the model that both sides use."""
        for view in self.sides.values():
            view.model.show_text(label)

    def clear(self) -> None:
        """Resets both sides."""
        for view in self.sides.values():
            view.clear()

    def _for_visitors(self, on: bool) -> None:
        self.talk.setVisible(on)
        self.models.setVisible(on)
