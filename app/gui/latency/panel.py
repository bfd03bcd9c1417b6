"""The panel “Latency”: an answer divided into its stages, the conversation's distribution, and why the answer was slow.

It refreshes a few times a second while it is visible.
"""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.conversation.latency import Answer, Stages
from app.conversation.latency_causes import culprit, slow_beyond, why_slow
from app.conversation.usage import ConversationUsage
from app.gui.latency.bar import LatencyBar
from app.gui.latency.descriptions import LatencyWords
from app.gui.latency.gauges import LatencyGauges
from app.gui.latency.strip import MOST_BARS, Bar, LatencyStrip
from app.gui.latency.table import Row, StageTable, rows
from app.gui.widgets.formats import backend_words
from app.gui.widgets.panel import Panel, Quiet

WIDTH_PX = 560
REFRESH_MS = 300
COPIED_MS = 2_000


class LatencyPanel(Panel):
    """Reads `stages` and `usage` whenever it is refreshed; `watch` replaces the usage."""

    def __init__(self, stages: Stages, usage: ConversationUsage, parent: QWidget) -> None:
        super().__init__(parent)
        self._stages, self._usage = stages, usage
        self._picked = 0  # the user's turn whose answer is shown; 0: the newest
        self._changes = -1
        self._rows: list[Row] = []
        self.set_panel_title(self.tr("Latency"))
        self.setMinimumWidth(WIDTH_PX)
        self.words = LatencyWords(self)
        self.empty = Quiet(
            self.tr("There is no answer yet. Say something: here you will see what its time went to."), self
        )
        self.empty.setAccessibleName(self.tr("No answer yet"))
        self.head = self.heading("")
        self.sentence = QLabel(self)
        self.sentence.setWordWrap(True)
        self.sentence.setAccessibleName(self.tr("How fast it came"))
        self.bar = LatencyBar(self.words, self)
        self.column.insertWidget(0, self.empty)
        self.column.addWidget(self.sentence)
        self.column.addWidget(self.bar)
        self.why_head = self.heading(self.tr("Why was this slow?"))
        self.why = QLabel(self)
        self.why.setWordWrap(True)
        self.why.setAccessibleName(self.tr("Why was this slow?"))
        self.column.addWidget(self.why)
        self.column.addSpacing(6)
        self.table = StageTable(self.words, self)
        self.column.addWidget(self.table)
        self.strip_head = self.heading(self.tr("The newest answers, and the median of all"))
        self.strip = LatencyStrip(self)
        self.column.addWidget(self.strip, 100)
        self.heading(self.tr("This conversation"))
        self.gauges = LatencyGauges(self)
        self.column.addWidget(self.gauges)
        self.column.addStretch(1)
        self.copy_button = self.button(self.tr("Co&py as text"))
        self.close_button = self.button(self.tr("Close"), self.tr("Close this panel"))
        self.foot(self.copy_button, self.close_button)
        self.close_button.setDefault(True)
        self._timer = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._copied = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._timer.timeout.connect(self.refresh)
        self._copied.timeout.connect(lambda: self.copy_button.setText(self.tr("Co&py as text")))
        self.strip.picked.connect(self.pick)
        self.copy_button.clicked.connect(self._copy)
        self.close_button.clicked.connect(self.close)
        self.refresh()

    def watch(self, usage: ConversationUsage) -> None:
        """Shows this usage from now on."""
        self._usage = usage

    def open_refreshed(self) -> None:
        """Shows the panel, up to date and with the focus on the answers."""
        self.refresh()
        self.appear()
        (self.strip if self.strip.isVisible() else self.close_button).setFocus()

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
        self.fit()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.as_text())
        self.copy_button.setText(self.tr("Copied"))
        self._copied.start()

    # -- Qt's own events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()
        self.fit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
