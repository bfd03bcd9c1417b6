"""The page “Latency”: one answer and its stages, why it was slow, and the figures of the conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.conversation.frame import FRAME_MS
from app.conversation.latency import STAGES, Answer, Stages, culprit, figures, slow_beyond, why_slow
from app.gui.design.plain import PlainLabel, set_tip
from app.gui.inspector.latency_charts import MOST_BARS, LatencyBar, LatencyStrip, piece_colour
from app.gui.inspector.latency_words import LatencyWords
from app.gui.widgets.form import bold, set_up_table, wrapped
from app.gui.widgets.formats import backend_words, seconds_words
from app.gui.widgets.panel import Quiet
from app.gui.widgets.slim_button import SlimButton

TWO_COLUMNS_LETTERS = 120
"""From this width on, in letters, the table and the gauges are beside the rest."""
COPIED_MS = 2_000
SWATCH_PX = 10
GAUGE_PX = 130
NOTHING = "–"


class StageTable(QTableWidget):
    """The stages of the picked answer next to the conversation's distribution. `lines` is what it shows."""

    def __init__(self, words: LatencyWords, parent: QWidget | None = None) -> None:
        super().__init__(len(STAGES) + 1, 5, parent)
        self._words = words
        self.lines: list[list[str]] = []
        set_up_table(self, self.tr("Stages"), SWATCH_PX)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(self.fontMetrics().horizontalAdvance("00.00 s") + 20)

    def show_answers(self, answers: Sequence[Answer], picked: Answer) -> None:
        """Shows the stages of an answer among `answers`."""
        mine = self.tr("Last") if picked is answers[-1] else self.tr("This one")
        self.lines = [[self.tr("Stage"), mine, self.tr("Median"), self.tr("95 %"), self.tr("Slowest")]]
        for stage in STAGES:
            times = [answer.took[stage] for answer in answers if stage in answer.took]
            self.lines.append([self._words.piece(stage).name, *_cells(picked.took.get(stage), times)])
        self.lines.append([self.tr("Total wait"), *_cells(picked.response, [a.response for a in answers])])
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        for row, texts in enumerate(self.lines, -1):
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                if row < 0:
                    self.setHorizontalHeaderItem(column, item)
                    continue
                self.setItem(row, column, item)
                if row == len(STAGES):
                    item.setFont(bold)
            if row >= 0:
                stage, first = (*STAGES, None)[row], self.item(row, 0)
                colour = piece_colour(stage, self.palette()) if stage else QColor(0, 0, 0, 0)
                first.setData(Qt.ItemDataRole.DecorationRole, colour)
                overlap = self.tr("Stages may overlap: together they may take longer than this.")
                set_tip(first, self._words.piece(stage).help if stage else overlap)
        self.setFixedHeight(
            self.horizontalHeader().sizeHint().height() + self.verticalHeader().length() + 2 * self.frameWidth()
        )


def _cells(time: float | None, times: Sequence[float]) -> list[str]:
    """Returns a time, and the median, the 95th percentile and the slowest of all."""
    of_all = figures(times)
    cells = (time, None, None, None) if of_all is None else (time, of_all.median, of_all.p95, of_all.slowest)
    return [NOTHING if cell is None else seconds_words(cell) for cell in cells]


class LatencyView(QScrollArea):
    """Shows `stages`. `cost` returns the usage in words. Call `refresh` when something may have changed."""

    def __init__(self, stages: Stages, cost: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._stages, self._cost = stages, cost
        self._picked = 0  # the user's turn whose answer is shown; 0: the newest
        self._changes = -1
        self.setAccessibleName(self.tr("Latency"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = self._body = QWidget(self)
        self.words = LatencyWords(self)
        self.empty = Quiet(self.tr("No answer yet. Say something, and you will see here where the time went."), body)
        self.empty.setAccessibleName(self.tr("No answer yet"))
        self.head = bold("", body)
        self.sentence = wrapped(body, self.tr("How fast the answer came"))
        self.bar = LatencyBar(self.words, body)
        self.why_head = bold(self.tr("Why was this slow?"), body)
        self.why = wrapped(body, self.tr("Why was this slow?"))
        self.strip_head = bold(self.tr("The latest answers and their median"), body)
        self.strip = LatencyStrip(body)
        self.table = StageTable(self.words, body)
        self.gauges: dict[str, Quiet] = {}
        """The words about the conversation, by their titles."""
        self._form = QFormLayout()
        self.memory = self._add_gauge(self.tr("Memory"), self.tr("Memory of the conversation"))
        self.frames = self._add_gauge(self.tr("Frames"), self.tr("Time budget of a frame"))
        self._add_gauge(self.tr("Cost"))
        self.copy_button = SlimButton(self.tr("Co&py as text"), body)
        self.copy_button.setAccessibleName(self.tr("Copy as text"))
        self._lay_out()
        self.strip.picked.connect(self.pick)
        self.copy_button.clicked.connect(self._copy)
        self.refresh()

    def _add_gauge(self, title: str, name: str = "") -> QProgressBar:
        """Adds words, and a bar in front of them if it has a `name`."""
        bar, row = QProgressBar(self._body), QHBoxLayout()
        bar.setAccessibleName(name)
        bar.setFixedWidth(GAUGE_PX)
        words = self.gauges[title] = Quiet(parent=self._body, selectable=True)
        words.setAccessibleName(title)
        row.addWidget(bar) if name else bar.hide()
        row.addWidget(words, 1)
        self._form.addRow(PlainLabel(title, self._body), row)
        return bar

    def _lay_out(self) -> None:
        answer, conversation, foot = QVBoxLayout(), QVBoxLayout(), QHBoxLayout()
        for widget in (self.empty, self.head, self.sentence, self.bar, self.why_head, self.why, self.strip_head):
            answer.addWidget(widget)
        answer.addWidget(self.strip, 100)
        answer.addStretch(1)
        foot.addWidget(bold(self.tr("This conversation"), self._body), 1)
        foot.addWidget(self.copy_button)
        conversation.addWidget(self.table)
        conversation.addLayout(foot)
        conversation.addLayout(self._form)
        conversation.addStretch(1)
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom, self._body)
        self._columns.setContentsMargins(0, 0, 8, 8)
        self._columns.setSpacing(16)
        for column in (answer, conversation):
            column.setSpacing(8)
            self._columns.addLayout(column, 1)
        self.setWidget(self._body)

    def take_focus(self) -> None:
        """Gives the focus to the answers, or before the first one to the button."""
        self.refresh()
        (self.strip if self.strip.isVisible() else self.copy_button).setFocus()

    def pick(self, turn: int) -> None:
        """Shows the answer to this turn. With the newest one picked, it follows the newest."""
        answers = self._stages.answers
        self._picked = 0 if answers and answers[-1].turn == turn else turn
        self._changes = -1
        self.refresh()

    def refresh(self) -> None:
        """Shows what is known now."""
        self._show_conversation()
        if self._stages.changes != self._changes:
            self._changes = self._stages.changes
            self._show_answers()

    @property
    def shown(self) -> Answer | None:
        """The answer that is shown; None before the first."""
        answers = self._stages.answers
        picked = next((a for a in reversed(answers[-MOST_BARS:]) if a.turn == self._picked), None)
        return picked or (answers[-1] if answers else None)

    def _show_answers(self) -> None:
        answers, answer = self._stages.answers, self.shown
        parts = (self.head, self.sentence, self.bar, self.why_head, self.why, self.table, self.strip_head, self.strip)
        for widget in parts:
            widget.setVisible(answer is not None)
        self.empty.setVisible(answer is None)
        if answer is not None:
            newest = self.tr("The last answer")
            head = newest if answer is answers[-1] else self.tr("The answer to turn {0}").format(answer.turn)
            self.head.setText(" · ".join(filter(None, (head, backend_words(answer.backend, answer.model)))))
            self.sentence.setText(self.words.response(answer))
            self.bar.show_wait(answer.wait)
            self.why.setText(self.words.why(why_slow(answer, answers), answer, culprit(answer, ())))
            self.table.show_answers(answers, answer)
            usual = figures(a.response for a in answers)
            self.strip.show_answers(answers, slow_beyond(answers), usual.median if usual else 0.0, answer.turn)

    def _show_conversation(self) -> None:
        context, frames = self._stages.context, self._stages.frames
        if context is not None:
            self.memory.setRange(0, max(1, context.capacity))
            self.memory.setValue(min(context.frames, context.capacity))
        late = frames.quantile_ms(0.99)
        self.frames.setRange(0, FRAME_MS)
        self.frames.setValue(min(FRAME_MS, max(0, round(late or 0))))
        self.frames.setFormat("" if late is None else self.tr("{0} of {1} ms").format(f"{late:.0f}", FRAME_MS))
        texts = (self.words.memory(context) if context else "", self.words.frames(frames), self._cost())
        for row, (label, text) in enumerate(zip(self.gauges.values(), texts, strict=True)):
            self._form.setRowVisible(row, bool(text))
            if label.text() != text:  # otherwise a screen reader says it again, and a selection is lost
                label.setText(text)

    def as_text(self) -> str:
        """Returns all that is shown as plain text, with tabs between the columns of the table."""
        lines = [self.tr("Latency of this conversation"), ""]
        if self.shown is None:
            lines.append(self.empty.text())
        else:
            lines += [f"{self.head.text()}: {self.sentence.text()}", self.why.text(), ""]
            lines += ["\t".join(cells) for cells in self.table.lines]
        lines += ["", *(f"{title}: {words.text()}" for title, words in self.gauges.items() if words.text())]
        return "\n".join(lines) + "\n"

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.as_text())
        self.copy_button.setText(self.tr("Copied"))
        QTimer.singleShot(COPIED_MS, self.copy_button, lambda: self.copy_button.setText(self.tr("Co&py as text")))

    # -- Qt's own events

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One column, or two where there is room."""
        super().resizeEvent(event)
        wide = event.size().width() >= self.fontMetrics().averageCharWidth() * TWO_COLUMNS_LETTERS
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.LeftToRight if wide else directions.TopToBottom)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "copy_button"):
            self._changes = -1
            self.refresh()
