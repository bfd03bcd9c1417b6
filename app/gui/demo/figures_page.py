"""The demo's last page: both median response times in very large digits, the time per question, and image export."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QPoint, QRectF, QSize, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QImageWriter, QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.demo.base import SIDES, DemoFigure, DemoResult, Side
from app.gui.demo.fitted_text import SMALL_SHARE, Filling, FittedText, font_px, ink, side_ink
from app.gui.demo.side_view import Stopwatch
from app.gui.demo.stage_page import Verdict
from app.gui.design.look import draw_rounded, painter_on
from app.gui.design.plain import draw_words
from app.gui.design.theme import tokens
from app.gui.widgets.form import column, row

SIZE = QSize(1200, 720)
SCALE = 2
MARGIN_PX = 40


def save(result: DemoResult, path: Path) -> None:
    """Renders `result` in the current theme and writes it to `path` as an image. Raises OSError if writing fails."""
    body = FiguresBody()
    body.resize(SIZE)
    body.show_result(result)
    body.ensurePolished()
    layout = body.layout()
    assert layout is not None
    layout.activate()
    image = QImage((SIZE + QSize(2, 2) * MARGIN_PX) * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(ink("ground"))
    body.render(image, QPoint(MARGIN_PX, MARGIN_PX), QRegion(), QWidget.RenderFlag.DrawChildren)
    body.deleteLater()
    writer = QImageWriter(str(path))
    if not writer.write(image):
        raise OSError(writer.errorString())


def draw(result: DemoResult, path: Path) -> None:
    """Like `save`, but also works without an application or a display. Always uses the light theme."""
    from app.gui.design.theme import apply_theme

    if QApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication(["kame-desktop"])
    assert isinstance(app, QApplication)
    apply_theme(app, "light")
    save(result, path)


MOST_ROWS = 6
"""Maximum number of questions shown. Older ones are omitted."""


class FiguresPage(QWidget):
    """Shows a `DemoResult`, with buttons to save it, run the demo again or leave."""

    save_wanted = Signal()
    again_wanted = Signal()
    leave_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.body = FiguresBody(self)
        self.trouble = FittedText(self, colour="bad", lines=2)
        self.save_button = QPushButton(self.tr("Save as picture (S)"), self)
        self.save_button.setProperty("primary", True)
        self.again = QPushButton(self.tr("Again (Enter)"), self)
        self.leave = QPushButton(self.tr("Leave (Esc)"), self)
        self.leave.setProperty("flat", True)
        buttons = {self.save_button: self.save_wanted, self.again: self.again_wanted, self.leave: self.leave_wanted}
        unit = tokens().unit
        for button, wanted in buttons.items():
            button.clicked.connect(wanted)
        foot = row(None, *buttons, None, spacing=2 * unit)
        margins = (6 * unit, 4 * unit, 6 * unit, 6 * unit)
        column((self.body, 94), (self.trouble, 6), foot, within=self, spacing=2 * unit, margins=margins)
        self.trouble.hide()

    def show_result(self, result: DemoResult) -> None:
        """Fills the page with `result`."""
        self.show_trouble("")
        self.body.show_result(result)
        self.save_button.setFocus()

    def show_trouble(self, sentence: str) -> None:
        """Shows an error message. An empty `sentence` hides it."""
        self.trouble.show_text(sentence)
        self.trouble.setVisible(bool(sentence))


class FiguresBody(QWidget):
    """The page without its buttons, as rendered into the image."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.result = DemoResult()
        self._verdict = Verdict(self)
        self.title = FittedText(self, weight=QFont.Weight.DemiBold)
        self.names = {side: FittedText(self, weight=QFont.Weight.DemiBold) for side in SIDES}
        self.medians = {side: Stopwatch(side, self) for side in SIDES}
        self.caption = FittedText(self, colour="dim")
        self.rows = FigureRows(self)
        self.foot = FittedText(self, colour="dim", lines=2, share=SMALL_SHARE)
        for side in SIDES:
            self.names[side].show_text(self._verdict.name(side))
        sides = [(column((self.names[side], 3), (self.medians[side], 9)), 1) for side in SIDES]
        pair = row(*sides, spacing=8 * tokens().unit)
        parts = ((self.title, 12), (pair, 34), (self.caption, 5), (self.rows, 42), (self.foot, 7))
        column(*parts, within=self, spacing=2 * tokens().unit)

    def show_result(self, result: DemoResult) -> None:
        """Shows the medians and the individual questions."""
        self.result = result
        for side in SIDES:
            median = result.median(side)
            self.names[side].colour = side_ink(side)
            self.medians[side].show_seconds(median, stopped=median is not None, moving=False)
        words = self._verdict.words(result.median("cascade"), result.median("tandem"))
        self.title.show_text(words or self.tr("No figures"))
        count = len(result.counted)
        if any(figure.own for figure in result.counted):
            text = self.tr("Median of your {0} questions") if count > 1 else self.tr("Your question")
        else:
            text = self.tr("Median of {0} questions") if count > 1 else self.tr("One question")
        text = text if count else self.tr("No question was answered by both")
        self.caption.show_text(self.tr("{0}, from its end until the answer was heard").format(text.format(count)))
        self.rows.show_figures(result.figures[-MOST_ROWS:])
        self.foot.show_text(
            self.tr("KAME · {0} · the same questions, model and voice on one machine").format(result.backend)
        )


class FigureRows(Filling):
    """One row per question, with a bar for each side."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, tokens().control * MOST_ROWS)
        self.figures: tuple[DemoFigure, ...] = ()
        self.setAccessibleName(self.tr("Each question"))

    def show_figures(self, figures: tuple[DemoFigure, ...]) -> None:
        """Shows `figures`."""
        self.figures = figures
        self.setAccessibleDescription(
            "; ".join(f"{f.question} {self._time(f.cascade)}, {self._time(f.tandem)}" for f in figures)
        )
        self.update()

    def _time(self, seconds: float | None) -> str:
        return self.tr("no answer") if seconds is None else self.tr("{0} s").format(f"{seconds:.2f}")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints each question above its two bars."""
        if not self.figures:
            return
        with painter_on(self) as painter:
            row = min(self.height() / len(self.figures), self.height() / 3)
            longest = max([t for f in self.figures for t in (f.cascade, f.tandem) if t is not None] + [0.5])
            for place, figure in enumerate(self.figures):
                self._paint_row(painter, figure, QRectF(0, place * row, self.width(), row * 0.9), longest)

    def _paint_row(self, painter: QPainter, figure: DemoFigure, room: QRectF, longest: float) -> None:
        line = room.height() / 3
        px = max(tokens().caption, line * 0.7)
        question = self.tr("Yours: {0}").format(figure.question) if figure.own else figure.question
        upper = QRectF(0, room.top(), room.width(), line)
        draw_words(painter, upper, question, ink("text"), font_px(self.font(), px, QFont.Weight.Medium))
        font = font_px(self.font(), max(tokens().caption, line * 0.62))
        times: tuple[tuple[Side, float | None], ...] = (("cascade", figure.cascade), ("tandem", figure.tandem))
        space = QFontMetricsF(font).horizontalAdvance(self._time(88.88)) + 2 * tokens().unit
        for number, (side, seconds) in enumerate(times, 1):
            top = room.top() + number * line
            width = max(2.0, (room.width() - space) * (seconds or 0.0) / longest) if seconds is not None else 0.0
            draw_rounded(painter, QRectF(0, top + line * 0.16, width, line * 0.68), line * 0.2, fill=side_ink(side))
            place = QRectF(width + 2 * tokens().unit, top, room.width() - width, line)
            draw_words(painter, place, self._time(seconds), ink("text" if seconds is not None else "bad"), font)
