"""The view of the latency: an answer divided into its stages, the conversation's distribution, and why it was slow.

It refreshes a few times a second while it is visible.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.conversation.latency import Answer, Stages
from app.conversation.latency_causes import culprit, slow_beyond, why_slow
from app.conversation.usage import ConversationUsage
from app.gui.design.plain import PlainLabel
from app.gui.latency.bar import LatencyBar
from app.gui.latency.descriptions import LatencyWords
from app.gui.latency.gauges import LatencyGauges
from app.gui.latency.strip import MOST_BARS, Bar, LatencyStrip
from app.gui.latency.table import Row, StageTable, rows
from app.gui.widgets.buttons import SlimButton
from app.gui.widgets.form import bold
from app.gui.widgets.formats import backend_words
from app.gui.widgets.panel import Quiet

TWO_COLUMNS_LETTERS = 120
"""From this width on, in letters, the table and the gauges stand beside the rest."""
REFRESH_MS = 300
COPIED_MS = 2_000


class LatencyView(QScrollArea):
    """Reads `stages` and `usage` whenever it is refreshed; `watch` replaces the usage."""

    def __init__(self, stages: Stages, usage: ConversationUsage, parent: QWidget) -> None:
        super().__init__(parent)
        self._stages, self._usage = stages, usage
        self._picked = 0  # the user's turn whose answer is shown; 0: the newest
        self._changes = -1
        self._rows: list[Row] = []
        self.setAccessibleName(self.tr("Latency"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._body = QWidget(self)
        self.words = LatencyWords(self)
        self.empty = Quiet(
            self.tr("There is no answer yet. Say something: here you will see what its time went to."), self._body
        )
        self.empty.setAccessibleName(self.tr("No answer yet"))
        self.head = bold("", self._body)
        self.sentence = self._sentence(self.tr("How fast it came"))
        self.bar = LatencyBar(self.words, self._body)
        self.why_head = bold(self.tr("Why was this slow?"), self._body)
        self.why = self._sentence(self.tr("Why was this slow?"))
        self.strip_head = bold(self.tr("The newest answers, and the median of all"), self._body)
        self.strip = LatencyStrip(self._body)
        self.table = StageTable(self.words, self._body)
        self.gauges = LatencyGauges(self._body)
        self.copy_button = SlimButton(self.tr("Co&py as text"), self._body)
        self.copy_button.setAccessibleName(self.tr("Copy as text"))
        self._lay_out()
        self._timer = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._copied = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._timer.timeout.connect(self.refresh)
        self._copied.timeout.connect(lambda: self.copy_button.setText(self.tr("Co&py as text")))
        self.strip.picked.connect(self.pick)
        self.copy_button.clicked.connect(self._copy)
        self.refresh()

    def _sentence(self, name: str) -> PlainLabel:
        label = PlainLabel(parent=self._body)
        label.setWordWrap(True)
        label.setAccessibleName(name)
        return label

    def _lay_out(self) -> None:
        answer, conversation = QVBoxLayout(), QVBoxLayout()
        for widget in (self.empty, self.head, self.sentence, self.bar, self.why_head, self.why, self.strip_head):
            answer.addWidget(widget)
        answer.addWidget(self.strip, 100)
        answer.addStretch(1)
        foot = QHBoxLayout()
        foot.addWidget(bold(self.tr("This conversation"), self._body), 1)
        foot.addWidget(self.copy_button)
        conversation.addWidget(self.table)
        conversation.addLayout(foot)
        conversation.addWidget(self.gauges)
        conversation.addStretch(1)
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom, self._body)
        self._columns.setContentsMargins(0, 0, 8, 8)
        self._columns.setSpacing(16)
        for column in (answer, conversation):
            column.setSpacing(8)
            self._columns.addLayout(column, 1)
        self.setWidget(self._body)

    def watch(self, usage: ConversationUsage) -> None:
        """Shows this usage from now on."""
        self._usage = usage

    def take_focus(self) -> None:
        """Gives the focus to the answers, or before the first one to the button."""
        self.refresh()
        (self.strip if self.strip.isVisible() else self.copy_button).setFocus()

    def touch(self) -> None:
        """Refreshes soon if it is visible: something may have changed."""
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def pick(self, turn: int) -> None:
        """Shows the answer to this turn. With the newest one picked, it follows the newest."""
        answers = self._stages.answers
        self._picked = 0 if answers and answers[-1].turn == turn else turn
        self._changes = -1
        self.refresh()

    @property
    def shown(self) -> Answer | None:
        """The answer that is shown; None before the first."""
        answers = self._stages.answers
        picked = next((a for a in reversed(answers[-MOST_BARS:]) if a.turn == self._picked), None)
        return picked or (answers[-1] if answers else None)

    def refresh(self) -> None:
        """Shows what is known now."""
        stages = self._stages
        self.gauges.show_all(stages.context, stages.frames, self._usage)
        if stages.changes != self._changes:
            self._changes = stages.changes
            self._show_answers()

    def as_text(self) -> str:
        """All that is shown, as plain text."""
        answer, lines = self.shown, [self.tr("Latency of this conversation")]
        if answer is None:
            lines += ["", self.empty.text()]
        else:
            lines += ["", f"{self.head.text()}: {self.sentence.text()}", self.why.text(), ""]
            newest = answer is self._stages.answers[-1]
            cells = [self.table.header_words(newest), *(row.cells for row in self._rows)]
            widest = [max(len(line[column]) for line in cells) for column in range(5)]
            for name, *times in cells:
                padded = (time.rjust(width + 2) for time, width in zip(times, widest[1:], strict=True))
                lines.append(name.ljust(widest[0]) + "".join(padded))
        return "\n".join([*lines, "", *self.gauges.lines]) + "\n"

    # -- showing

    def _show_answers(self) -> None:
        answers, answer = self._stages.answers, self.shown
        for widget in (
            self.head,
            self.sentence,
            self.bar,
            self.why_head,
            self.why,
            self.table,
            self.strip_head,
            self.strip,
        ):
            widget.setVisible(answer is not None)
        self.empty.setVisible(answer is None)
        self._rows = rows(answers, answer, self.words)
        if answer is not None:
            newest = answer is answers[-1]
            head = self.tr("The last answer") if newest else self.tr("The answer to turn {0}").format(answer.turn)
            who = backend_words(answer.backend, answer.model)
            self.head.setText(f"{head} · {who}" if who else head)
            self.sentence.setText(self.words.response(answer))
            self.bar.show_wait(answer.wait)
            self.why.setText(self.words.why(why_slow(answer, answers), answer, culprit(answer, ())))
            self.table.show_rows(self._rows, newest)
            slow = slow_beyond(answers)
            bars = [Bar(a.turn, a.response, a.response > slow) for a in answers[-MOST_BARS:]]
            whole = self._rows[-1].figures
            self.strip.show_bars(bars, whole.median if whole else None, answer.turn)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.as_text())
        self.copy_button.setText(self.tr("Copied"))
        self._copied.start()

    # -- Qt's own events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One column, or two where there is room."""
        super().resizeEvent(event)
        wide = event.size().width() >= self.fontMetrics().averageCharWidth() * TWO_COLUMNS_LETTERS
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.LeftToRight if wide else directions.TopToBottom)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
