"""Shows the times of every stage: the picked answer's next to the conversation's distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSizePolicy, QTableWidget, QTableWidgetItem, QWidget

from app.conversation.latency import STAGES, Answer, Figures, Stage, figures
from app.gui.design.plain import set_tip
from app.gui.latency.bar import SWATCH_PX, piece_colour
from app.gui.latency.descriptions import LatencyWords
from app.gui.widgets.formats import seconds_words

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; `time` is the picked answer's, in seconds."""

    name: str
    time: float | None
    figures: Figures | None

    @property
    def cells(self) -> list[str]:
        """The line in words."""
        f = self.figures
        times = (self.time, None, None, None) if f is None else (self.time, f.median, f.p95, f.slowest)
        return [self.name, *(NOTHING if t is None else seconds_words(t) for t in times)]


def rows(answers: Sequence[Answer], picked: Answer | None, words: LatencyWords) -> list[Row]:
    """Makes the lines of a conversation: one for each stage, and one for the whole."""

    def of(stage: Stage) -> Row:
        times = (a.took[stage] for a in answers if stage in a.took)
        return Row(words.stage(stage), picked.took.get(stage) if picked else None, figures(times))

    whole = Row(words.whole(), picked.response if picked else None, figures(a.response for a in answers))
    return [*(of(stage) for stage in STAGES), whole]


class StageTable(QTableWidget):
    """A table of five lines without scrolling; Tab leaves it."""

    def __init__(self, words: LatencyWords, parent: QWidget | None = None) -> None:
        super().__init__(len(STAGES) + 1, 5, parent)
        self._words = words
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
        self._cells = [[QTableWidgetItem() for _ in range(self.columnCount())] for _ in range(self.rowCount())]
        for line, cells in enumerate(self._cells):
            for column, item in enumerate(cells):
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                right, left = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft
                item.setTextAlignment((right if column else left) | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(line, column, item)
        for line, stage in enumerate(STAGES):
            set_tip(self._cells[line][0], words.help(stage))
        self._cells[-1][0].setToolTip(self.tr("Stages may overlap: together they may take longer than this."))
        self._embolden()
        self._colour()

    def show_rows(self, lines: Sequence[Row], newest: bool) -> None:
        """Shows these lines; `newest`: the picked answer is the last one."""
        titles = self.header_words(newest)
        for place, title in enumerate(titles):
            item = QTableWidgetItem(title)
            side = Qt.AlignmentFlag.AlignRight if place else Qt.AlignmentFlag.AlignLeft
            item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            self.setHorizontalHeaderItem(place, item)
        for line, row in enumerate(lines):
            for column, text in enumerate(row.cells):
                self._cells[line][column].setText(text)

    def header_words(self, newest: bool) -> list[str]:
        """The columns' titles."""
        mine = self.tr("Last") if newest else self.tr("This one")
        return [self.tr("Stage"), mine, self.tr("Median"), self.tr("95 %"), self.tr("Slowest")]

    def sizeHint(self) -> QSize:
        height = self.horizontalHeader().sizeHint().height() + self.verticalHeader().length() + 2 * self.frameWidth()
        return QSize(super().sizeHint().width(), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self._colour()

    def _embolden(self) -> None:
        font = self.font()
        font.setWeight(QFont.Weight.DemiBold)
        for item in self._cells[-1]:
            item.setFont(font)

    def _colour(self) -> None:
        dark = self.palette().color(QPalette.ColorRole.Base).lightnessF() < 0.5
        for cells, stage in zip(self._cells, STAGES, strict=False):
            cells[0].setIcon(_swatch(piece_colour(stage, dark)))
        self._cells[-1][0].setIcon(_swatch(QColor(Qt.GlobalColor.transparent)))  # aligns its words with the others


def _swatch(colour: QColor) -> QIcon:
    image = QPixmap(4 * SWATCH_PX, 4 * SWATCH_PX)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(image.rect(), 8, 8)
    painter.end()
    return QIcon(image)
