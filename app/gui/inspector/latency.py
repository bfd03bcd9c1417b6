"""The page “Latency”: one answer and its stages, why it was slow, and the figures of the conversation."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFrame,
    QGridLayout,
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
from app.conversation.latency import STAGES, Answer, Figures, Stages, culprit, figures, slow_beyond, why_slow
from app.conversation.usage import ConversationUsage
from app.gui.design.plain import PlainLabel, set_tip
from app.gui.inspector.latency_charts import MOST_BARS, Bar, LatencyBar, LatencyStrip, piece_colour
from app.gui.inspector.latency_words import LatencyWords
from app.gui.widgets.form import bold, wrapped
from app.gui.widgets.formats import backend_words, seconds_words
from app.gui.widgets.panel import Quiet
from app.gui.widgets.slim_button import SlimButton

TWO_COLUMNS_LETTERS = 120
"""From this width on, in letters, the table and the gauges are beside the rest."""
REFRESH_MS = 300
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
        self.setAccessibleName(self.tr("Stages"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setIconSize(QSize(SWATCH_PX, SWATCH_PX))
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(self.fontMetrics().horizontalAdvance("00.00 s") + 20)

    def show_answers(self, answers: tuple[Answer, ...], picked: Answer) -> Figures | None:
        """Shows the stages of an answer among `answers`; returns the figures of their response times."""
        mine = self.tr("Last") if picked is answers[-1] else self.tr("This one")
        self.lines = [[self.tr("Stage"), mine, self.tr("Median"), self.tr("95 %"), self.tr("Slowest")]]
        for stage in STAGES:
            times = figures(answer.took[stage] for answer in answers if stage in answer.took)
            self._add_line(self._words.piece(stage).name, picked.took.get(stage), times)
        whole = figures(answer.response for answer in answers)
        self._add_line(self.tr("Total wait"), picked.response, whole)
        font, dark = QFont(self.font()), self.palette()
        font.setWeight(QFont.Weight.DemiBold)
        for row, texts in enumerate(self.lines, -1):
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                if row < 0:
                    self.setHorizontalHeaderItem(column, item)
                    continue
                if row == len(STAGES):
                    item.setFont(font)
                self.setItem(row, column, item)
            if 0 <= row < len(STAGES):
                set_tip(self.item(row, 0), self._words.piece(STAGES[row]).help)
                self.item(row, 0).setData(Qt.ItemDataRole.DecorationRole, piece_colour(STAGES[row], dark))
        last = self.item(len(STAGES), 0)
        last.setData(Qt.ItemDataRole.DecorationRole, QColor(Qt.GlobalColor.transparent))  # aligns it with the others
        last.setToolTip(self.tr("Stages may overlap: together they may take longer than this."))
        return whole

    def _add_line(self, name: str, time: float | None, of_all: Figures | None) -> None:
        times = (None, None, None) if of_all is None else (of_all.median, of_all.p95, of_all.slowest)
        self.lines.append([name, *(NOTHING if t is None else seconds_words(t) for t in (time, *times))])

    def sizeHint(self) -> QSize:
        height = self.horizontalHeader().sizeHint().height() + self.verticalHeader().length() + 2 * self.frameWidth()
        return QSize(super().sizeHint().width(), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self.sizeHint().height())


class LatencyView(QScrollArea):
    """Shows `stages` and `usage`, refreshed a few times a second while it is visible."""

    def __init__(self, stages: Stages, usage: ConversationUsage, parent: QWidget) -> None:
        super().__init__(parent)
        self.usage = usage
        self._stages = stages
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
        self.memory, self.frames = QProgressBar(body), QProgressBar(body)
        self.memory.setAccessibleName(self.tr("Memory of the conversation"))
        self.frames.setAccessibleName(self.tr("Time budget of a frame"))
        self.gauges = {
            "memory": (self.tr("Memory"), self.memory, Quiet(parent=body, selectable=True)),
            "frames": (self.tr("Frames"), self.frames, Quiet(parent=body, selectable=True)),
            "cost": (self.tr("Cost"), None, Quiet(parent=body, selectable=True)),
        }
        self.copy_button = SlimButton(self.tr("Co&py as text"), body)
        self.copy_button.setAccessibleName(self.tr("Copy as text"))
        self._lay_out()
        self._timer = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._copied = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._timer.timeout.connect(self.refresh)
        self._copied.timeout.connect(lambda: self.copy_button.setText(self.tr("Co&py as text")))
        self.strip.picked.connect(self.pick)
        self.copy_button.clicked.connect(self._copy)
        self.refresh()

    def _lay_out(self) -> None:
        answer, conversation, foot, grid = QVBoxLayout(), QVBoxLayout(), QHBoxLayout(), QGridLayout()
        for widget in (self.empty, self.head, self.sentence, self.bar, self.why_head, self.why, self.strip_head):
            answer.addWidget(widget)
        answer.addWidget(self.strip, 100)
        answer.addStretch(1)
        foot.addWidget(bold(self.tr("This conversation"), self._body), 1)
        foot.addWidget(self.copy_button)
        grid.setHorizontalSpacing(10)
        grid.setColumnStretch(2, 1)
        for line, (title, bar, words) in enumerate(self.gauges.values()):
            grid.addWidget(PlainLabel(title, self._body), line, 0)
            words.setAccessibleName(title)
            if bar is not None:
                bar.setFixedWidth(GAUGE_PX)
                grid.addWidget(bar, line, 1)
            grid.addWidget(words, line, 1 if bar is None else 2, 1, 2 if bar is None else 1)
        conversation.addWidget(self.table)
        conversation.addLayout(foot)
        conversation.addLayout(grid)
        conversation.addStretch(1)
        self._grid = grid
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
            whole, slow = self.table.show_answers(answers, answer), slow_beyond(answers)
            bars = [Bar(a.turn, a.response, a.response > slow) for a in answers[-MOST_BARS:]]
            self.strip.show_bars(bars, whole.median if whole else None, answer.turn)

    def _show_conversation(self) -> None:
        context, frames = self._stages.context, self._stages.frames
        for place in range(3):
            item = self._grid.itemAtPosition(0, place)
            if item is not None and (widget := item.widget()) is not None:
                widget.setVisible(context is not None)
        words = {"frames": self.words.frames(frames), "cost": self.words.cost(self.usage), "memory": ""}
        if context is not None:
            words["memory"] = self.words.memory(context)
            self.memory.setRange(0, max(1, context.capacity))
            self.memory.setValue(min(context.frames, context.capacity))
        late = frames.quantile_ms(0.99)
        self.frames.setRange(0, FRAME_MS)
        self.frames.setValue(min(FRAME_MS, max(0, round(late or 0))))
        self.frames.setFormat("" if late is None else self.tr("{0} of {1} ms").format(f"{late:.0f}", FRAME_MS))
        for key, text in words.items():
            label = self.gauges[key][2]
            if label.text() != text:  # otherwise a screen reader says it again, and a selection is lost
                label.setText(text)

    def as_text(self) -> str:
        """Returns all that is shown, as plain text."""
        lines = [self.tr("Latency of this conversation"), ""]
        if self.shown is None:
            lines.append(self.empty.text())
        else:
            lines += [f"{self.head.text()}: {self.sentence.text()}", self.why.text(), ""]
            widest = [max(map(len, column)) for column in zip(*self.table.lines, strict=True)]
            for name, *times in self.table.lines:
                padded = (time.rjust(width + 2) for time, width in zip(times, widest[1:], strict=True))
                lines.append(name.ljust(widest[0]) + "".join(padded))
        lines += ["", *(f"{title}: {words.text()}" for title, _, words in self.gauges.values() if words.text())]
        return "\n".join(lines) + "\n"

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.as_text())
        self.copy_button.setText(self.tr("Copied"))
        self._copied.start()

    # -- Qt's own events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One column, or two where there is room."""
        super().resizeEvent(event)
        wide = event.size().width() >= self.fontMetrics().averageCharWidth() * TWO_COLUMNS_LETTERS
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.LeftToRight if wide else directions.TopToBottom)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_timer"):
            self._changes = -1
            self.refresh()
