"""The Latency page: the stages of one answer, why it was slow, and statistics for the whole conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFormLayout,
    QHeaderView,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.conversation.events import ContextMeasured
from app.conversation.frame import FRAME_MS, FRAME_SECONDS, FrameBudget
from app.conversation.record.latency import (
    PIECES,
    STAGES,
    Answer,
    Cause,
    Piece,
    Reason,
    Stages,
    culprit,
    figures,
    slow_beyond,
    why_slow,
)
from app.gui.design.model_look import model_words
from app.gui.design.plain import PlainLabel, named, set_tip
from app.gui.inspector.latency_charts import MOST_BARS, LatencyBar, LatencyStrip, piece_colour
from app.gui.state.session_model import SessionModel
from app.gui.widgets import form
from app.gui.widgets.buttons import SlimButton
from app.gui.widgets.form import bold, set_up_table, wrapped
from app.gui.widgets.formats import clock_words, decimal, seconds_words
from app.gui.widgets.panel import Quiet

TWO_COLUMNS_LETTERS = 120
"""Minimum page width for a two-column layout, as a multiple of the average character width."""
COPIED_MS = 2_000
SWATCH_PX = 10
GAUGE_PX = 130
NOTHING = "–"


class PieceWords(NamedTuple):
    """A stage's full name, short name, and help text that defines the interval it covers."""

    name: str
    short: str
    help: str


class LatencyWords(QObject):
    """Builds the page's text in the user's language."""

    def piece(self, piece: Piece) -> PieceWords:
        """Returns the names and help text of a stage."""
        return {
            "noticing": PieceWords(
                self.tr("Detecting the end of your turn"),
                self.tr("end of turn"),
                self.tr("From your last sound until KAME was sure that your turn was over."),
            ),
            "writing": PieceWords(
                self.tr("Transcribing what you said"),
                self.tr("transcript"),
                self.tr("From your last sound until your words were final."),
            ),
            "backend": PieceWords(
                self.tr("The model's first words"),
                self.tr("model"),
                self.tr("From the request that was answered until its first words. It may run while you talk."),
            ),
            "voice": PieceWords(
                self.tr("The voice's first sound"),
                self.tr("voice"),
                self.tr("From the model's first words, or the end of your turn if later, until the first sound."),
            ),
            "between": PieceWords(self.tr("In between"), self.tr("in between"), ""),
        }[piece]

    def response(self, answer: Answer) -> str:
        """Returns a message that states an answer's response time."""
        if answer.response < 0:
            return self.tr("It started {0} before you finished.").format(seconds_words(-answer.response))
        typed, spoken = self.tr("You heard it {0} after sending."), self.tr("You heard it {0} after your last sound.")
        sentence = (typed if answer.reason == "typed" else spoken).format(seconds_words(answer.response))
        if "backend" in answer.took and answer.wait["backend"] < 0.005:
            sentence += " " + self.tr("The model answered while you were speaking, so it added no delay.")
        return sentence

    def why(self, reason: Reason | None, answer: Answer, most: Piece) -> str:
        """Returns a message that explains why an answer was slow and what to do about it.

        If it wasn't slow, `reason` is None, and the message names `most`, the stage with the longest wait.
        """
        if reason is None:
            if answer.response <= 0:
                return self.tr("It was not slow: there was nothing to wait for.")
            longest = self.tr("It was not slow. The longest part was “{0}”, {1}.")
            return longest.format(self.piece(most).name, seconds_words(answer.wait[most]))
        usually = "" if reason.usual is None else self.tr(" (usually {0})").format(seconds_words(reason.usual))
        sentence = self._slow(reason.cause).format(seconds_words(reason.seconds), reason.who, usually, reason.count)
        if reason.cause in (Cause.UNFINISHED, Cause.UNSURE):
            sentence += " " + self.tr("Without hands-free, releasing the talk button ends your turn.")
        if reason.cause is Cause.BACKEND and (reason.usual is None or reason.usual > reason.seconds / 2):
            sentence += " " + self.tr("If this keeps happening, choose a faster model.")
        return sentence

    def _slow(self, cause: Cause) -> str:
        """Returns the message template of a cause. Fields: {0} time, {1} model or tool, {2} usual time, {3} count."""
        return {
            Cause.FELL_BEHIND: self.tr(
                "This machine fell behind and dropped frames ({3}). Close other programs, or choose a lighter voice."
            ),
            Cause.UNFINISHED: self.tr("KAME waited {0}{2} because your sentence sounded unfinished."),
            Cause.UNSURE: self.tr("KAME waited {0}{2} because it wasn't clear whether you had finished."),
            Cause.BUTTON: self.tr(
                "You released the talk button {0} after your last sound. Release it as soon as you have finished."
            ),
            Cause.NOTICED_LATE: self.tr("It took KAME {0} to notice that you had finished{2}."),
            Cause.RECOGNITION_BEHIND: self.tr(
                "This machine was too busy to transcribe what you said, which took {0}{2}. Close other programs."
            ),
            Cause.WRITING: self.tr("Transcribing what you said took {0}{2}."),
            Cause.STARTED_LATE: self.tr(
                "One stage waited {0} for another. If this keeps happening, close other programs."
            ),
            Cause.ASKED_AGAIN: self.tr(
                "{1} was asked again because your last words changed the question, and took {0} to its first words{2}."
            ),
            Cause.FELL_BACK: self.tr(
                "Another model had failed, so {1} was asked instead, and took {0} to its first words{2}."
            ),
            Cause.FAILED: self.tr("Another model failed, which took {0}. Then {1} was asked instead."),
            Cause.SWAPPED: self.tr("You had switched the model, so {1} was asked again, which took {0}."),
            Cause.TOOL: self.tr("The tool “{1}” ran for {0} before the model could answer."),
            Cause.FIRST: self.tr(
                "{1} took {0} to its first words. It was its first answer in this conversation: a "
                "model that has just been loaded is slower once."
            ),
            Cause.BACKEND: self.tr("{1} took {0} to its first words{2}."),
            Cause.DELAY: self.tr("You set a pause of {0} before each answer. Lower “Answer delay” to hear it sooner."),
            Cause.BY_ITSELF: self.tr("The voice's own model started after {0}, without waiting for another model."),
            Cause.VOICE: self.tr("The voice took {0} from the model's first words to its first sound{2}."),
        }[cause]

    # -- the conversation

    def memory(self, context: ContextMeasured) -> str:
        """Returns a message that states how much of the front-end's context is in use."""
        known, most = (clock_words(round(n * FRAME_SECONDS)) for n in (context.frames, context.capacity))
        return self.tr("The voice's model remembers {0} of {1} minutes.").format(known, most)

    def frames(self, frames: FrameBudget) -> str:
        """Returns a summary of frame processing times, late and dropped frames, and audio gaps."""
        half, most = frames.quantile_ms(0.5), frames.quantile_ms(0.99)
        if half is None or most is None:
            return self.tr("KAME processes sound in frames of {0} ms; there were none yet.").format(FRAME_MS)
        return self.tr("Median {0} ms, 99 % within {1} ms. Late: {2}, dropped: {3}, gaps in the sound: {4}.").format(
            decimal(half, 1), decimal(most, 1), frames.late, frames.dropped, frames.gaps
        )


class StageTable(QTableWidget):
    """A table of the selected answer's stages and their distribution over the conversation.

    `lines`: the text of each row's cells, starting with the header.
    """

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
        """Shows the stages of `picked`, which must be one of `answers`."""
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
                of = STAGES[row] if row < len(STAGES) else None
                if of is None:
                    item.setFont(bold)
                if not column:
                    colour = piece_colour(of, self.palette()) if of else QColor(0, 0, 0, 0)
                    item.setData(Qt.ItemDataRole.DecorationRole, colour)
                    overlap = self.tr("Stages may overlap: together they may take longer than this.")
                    set_tip(item, self._words.piece(of).help if of else overlap)
        heads, rows = self.horizontalHeader().sizeHint().height(), self.verticalHeader().length()
        self.setFixedHeight(heads + rows + 2 * self.frameWidth())


def _cells(time: float | None, times: Sequence[float]) -> list[str]:
    """Formats `time`, followed by the median, 95th percentile and maximum of `times`."""
    of_all = figures(times)
    cells = (time, None, None, None) if of_all is None else (time, of_all.median, of_all.p95, of_all.slowest)
    return [NOTHING if cell is None else seconds_words(cell) for cell in cells]


class LatencyView(QScrollArea):
    """The Latency page, which displays the stages of the session's answers. Call `refresh` whenever they may have
    changed.

    `cost`: returns a summary of token usage and cost.
    """

    def __init__(self, model: SessionModel, cost: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._cost = model, cost
        self._picked = 0  # the turn whose answer is shown, or 0 for the newest answer
        self._shown_of: tuple[object, int] = (None, -1)
        self.setAccessibleName(self.tr("Latency"))
        body = self._body = QWidget(self)
        self.words = LatencyWords(self)
        self.empty = Quiet(self.tr("No answer yet. Say something, and you will see here where the time went."), body)
        self.empty.setAccessibleName(self.tr("No answer yet"))
        self.head = bold("", body)
        self.sentence = wrapped(body, self.tr("How fast the answer came"))
        self.bar = LatencyBar({piece: self.words.piece(piece).short for piece in PIECES}, body)
        self.why_head = bold(self.tr("Why was this slow?"), body)
        self.why = wrapped(body, self.tr("Why was this slow?"))
        self.strip_head = bold(self.tr("The latest answers and their median"), body)
        self.strip = LatencyStrip(body)
        self.table = StageTable(self.words, body)
        self.gauges: dict[str, Quiet] = {}
        """Labels for the conversation's statistics, keyed by title."""
        self._form = QFormLayout()
        self.memory = self._add_gauge(self.tr("Memory"), self.tr("Memory of the conversation"))
        self.frames = self._add_gauge(self.tr("Frames"), self.tr("Time budget of a frame"))
        self._add_gauge(self.tr("Cost"))
        self.copy_button = named(SlimButton(self.tr("Co&py as text"), body), self.tr("Copy as text"))
        self._lay_out()
        self.strip.picked.connect(self.pick)
        self.copy_button.clicked.connect(self._copy)
        self.refresh()

    def _add_gauge(self, title: str, name: str = "") -> QProgressBar:
        """Adds a labelled row of text, with a progress bar before the text if `name`, its accessible name, is given."""
        bar = named(QProgressBar(self._body), name)
        bar.setFixedWidth(GAUGE_PX)
        words = self.gauges[title] = Quiet(parent=self._body, selectable=True, name=title)
        if not name:
            bar.hide()
        self._form.addRow(PlainLabel(title, self._body), form.row(*(bar,) if name else (), (words, 1)))
        return bar

    def _lay_out(self) -> None:
        heads = (self.empty, self.head, self.sentence, self.bar, self.why_head, self.why, self.strip_head)
        foot = form.row(bold(self.tr("This conversation"), self._body), self.copy_button, stretch=0)
        answer = form.column(*heads, (self.strip, 100), None, spacing=8)
        conversation = form.column(self.table, foot, self._form, None, spacing=8)
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom, self._body)
        self._columns.setContentsMargins(0, 0, 8, 8)
        self._columns.setSpacing(16)
        form.add_items(self._columns, (answer, 1), (conversation, 1))
        form.fill_area(self, self._body)

    def take_focus(self) -> None:
        """Focuses the strip of answers, or the Copy button if there are no answers yet."""
        self.refresh()
        (self.strip if self.strip.isVisible() else self.copy_button).setFocus()

    def pick(self, turn: int) -> None:
        """Shows the answer to `turn`. Selecting the newest one makes the page follow new answers."""
        answers = self._stages.answers
        self._picked = 0 if answers and answers[-1].turn == turn else turn
        self._shown_of = (None, -1)
        self.refresh()

    @property
    def _stages(self) -> Stages:
        return self._model.record.stages

    def refresh(self) -> None:
        """Updates the page."""
        self._show_conversation()
        if (self._stages, self._stages.changes) != self._shown_of:
            self._shown_of = self._stages, self._stages.changes
            self._show_answers()

    @property
    def shown(self) -> Answer | None:
        """The displayed answer, or None if there are no answers yet."""
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
            self.head.setText(" · ".join(filter(None, (head, model_words(answer.backend, answer.model)))))
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
            if label.text() != text:  # setting the same text would clear a selection and make screen readers repeat it
                label.setText(text)

    def as_text(self) -> str:
        """Returns the page's content as plain text, with tab-separated table columns."""
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

    # -- Qt events

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Switches between one and two columns, depending on the width."""
        super().resizeEvent(event)
        wide = event.size().width() >= self.fontMetrics().averageCharWidth() * TWO_COLUMNS_LETTERS
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.LeftToRight if wide else directions.TopToBottom)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "copy_button"):
            self._shown_of = (None, -1)
            self.refresh()
