"""The demo's last page: a summary, the chart, and the answers as they were spoken."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImage, QImageWriter, QPalette, QRegion
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.demo.base import DemoAnswer, DemoResult, DemoSwap
from app.gui.demo.chart import DemoChart, backend_colour
from app.gui.demo.descriptions import DemoWords
from app.gui.design.look import Look
from app.gui.widgets.panel import Quiet

PICTURE_PX = 900
PICTURE_SCALE = 2
MARGIN_PX = 24


class DemoPage(QScrollArea):
    """Shows a `DemoResult`."""

    def __init__(self, words: DemoWords, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = words
        self.result = DemoResult()
        self._heads: list[tuple[QLabel, tuple[int, ...]]] = []
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Result of the demo"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.body = QWidget(self)
        self.setWidget(self.body)
        column = self._column = QVBoxLayout(self.body)
        column.setContentsMargins(0, 0, 10, 0)
        column.setSpacing(8)
        self.summary = QLabel(self.body)
        self.summary.setWordWrap(True)
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        self.summary.setAccessibleName(self.tr("Summary"))
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self.summary)
        self.chart_head = bold_label(
            self.tr("From the end of the question to the first sound of its answer"), self.body
        )
        column.addSpacing(4)
        column.addWidget(self.chart_head)
        self.chart = DemoChart(words, self.body)
        column.addWidget(self.chart)
        column.addSpacing(4)
        column.addWidget(bold_label(self.tr("The answers as they were spoken"), self.body))
        self.answers = QWidget(self.body)
        self._answers = QVBoxLayout(self.answers)
        self._answers.setContentsMargins(0, 0, 0, 0)
        self._answers.setSpacing(4)
        column.addWidget(self.answers)
        column.addStretch(1)

    def show_result(self, result: DemoResult) -> None:
        """Fills the page."""
        self.result = result
        self.summary.setText("\n".join(self.words.summary(result)))
        groups = self.words.groups(result)
        self.chart_head.setVisible(bool(groups))
        self.chart.setVisible(bool(groups))
        self.chart.show_groups(groups, self.words.names(result))
        while (item := self._answers.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._heads = []
        questions = list(dict.fromkeys([a.question for a in result.answers] + [s.question for s in result.swaps]))
        for question in questions:
            self._answers.addSpacing(8)
            self._answers.addWidget(Quiet(f"“{' '.join(question.split())}”", self.answers, selectable=True))
            for answer in self.words.sorted(a for a in result.answers if a.question == question):
                self._add_answer(answer)
            for swap in (s for s in result.swaps if s.question == question):
                self._add_swap(swap)
        self._colour()
        self.verticalScrollBar().setValue(0)

    @property
    def lines(self) -> list[str]:
        """The lines below the chart."""
        labels = self.answers.findChildren(QLabel)
        return [label.text() for label in labels if not label.isHidden()]

    def save(self, path: Path) -> None:
        """Writes the whole page as an image, in the window's colours. Raises OSError with a reason."""
        body = self.body
        before = body.size()
        width = max(PICTURE_PX, self.viewport().width())
        self.setWidgetResizable(False)  # otherwise it would be made as wide as the view again
        self._column.activate()
        body.resize(width, self._column.heightForWidth(width))
        size = body.size() + QSize(2 * MARGIN_PX, 2 * MARGIN_PX)
        image = QImage(size * PICTURE_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(PICTURE_SCALE)
        image.fill(self.palette().color(QPalette.ColorRole.Window))
        body.render(image, QPoint(MARGIN_PX, MARGIN_PX), QRegion(), QWidget.RenderFlag.DrawChildren)
        body.resize(before)
        self.setWidgetResizable(True)
        writer = QImageWriter(str(path))
        if not writer.write(image):
            raise OSError(writer.errorString())

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self._colour()

    def _add_answer(self, answer: DemoAnswer) -> None:
        names = self.words.names(self.result)
        backend = self.words.backend(answer.backend)
        head = " · ".join(
            (backend, self.words.way(answer.frontend, answer.answer_mode), self.words.time(answer.response))
        )
        self._add(head, (names.index(backend),), self.words.answer(answer))

    def _add_swap(self, swap: DemoSwap) -> None:
        names = self.words.names(self.result)
        pair = (swap.before_backend.label, swap.after_backend.label)
        head = self.tr("{0} → {1}, changed in mid-answer").format(*pair)
        places = tuple(names.index(name) if name in names else 0 for name in pair)
        if swap.trouble:
            text = f"{swap.before} … {swap.trouble}" if swap.before else swap.trouble
        else:
            text = f"{swap.before} → {swap.after} …"
        self._add(head, places, text)

    def _add(self, head: str, places: tuple[int, ...], text: str) -> None:
        title = bold_label(head, self.answers)
        self._heads.append((title, places))
        self._answers.addWidget(title)
        label = QLabel(text, self.answers)
        label.setWordWrap(True)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setContentsMargins(12, 0, 0, 2)
        self._answers.addWidget(label)

    def _colour(self) -> None:
        palette = QPalette(self.palette())
        look = Look.of(palette)
        text = palette.color(QPalette.ColorRole.WindowText)
        for label, places in self._heads:
            colour = backend_colour(places[0], look.dark)
            readable = QColor(colour) if look.dark else colour.darker(125)
            mine = QPalette(palette)
            mine.setColor(QPalette.ColorRole.WindowText, readable if readable.isValid() else text)
            label.setPalette(mine)


def bold_label(text: str, parent: QWidget) -> QLabel:
    """A bold label that wraps."""
    label = QLabel(text, parent)
    font = label.font()
    font.setWeight(QFont.Weight.DemiBold)
    label.setFont(font)
    label.setWordWrap(True)
    return label
