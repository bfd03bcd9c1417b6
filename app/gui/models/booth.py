"""Booth mode: the favourites as large numbered chips that swap the model in mid-sentence, and flash when it takes
over.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.conversation import events as e
from app.conversation.record.heard_part import HeardPart
from app.conversation.record.record import Change
from app.conversation.record.transcript import Turn
from app.gui.design.icons import IconButton
from app.gui.design.look import blend, draw_rounded, painter_on
from app.gui.design.model_look import backend_name, model_colour, model_name
from app.gui.design.motion import Glide
from app.gui.design.plain import PlainLabel, elided, named
from app.gui.design.theme import tokens
from app.gui.models.current_model import CurrentModel
from app.gui.models.favourites import Favourites
from app.gui.models.model_lists import ModelLists
from app.gui.state.session_model import SessionModel
from app.gui.widgets.form import row
from app.session.control import BackendChoice

FLASH_MS = 200
CHIP_PX, NUMBER_SCALE = 72, 2.0


class Chip(QAbstractButton):
    """A favourite with its number. Checked while it answers; `coming` while it is being loaded or opened."""

    def __init__(self, number: int, choice: BackendChoice, lists: ModelLists, parent: QWidget) -> None:
        super().__init__(parent)
        self.choice, self.number, self.id = choice, number, lists.model_id(choice)
        self.coming = False
        self.name = model_name("", self.id[1]) or lists.place_label(choice) or backend_name(self.id[0])
        self.setCheckable(True)
        self.setMinimumSize(CHIP_PX, CHIP_PX)
        self._flash = Glide(lambda _: self.update(), self, milliseconds=FLASH_MS)
        named(self, self.tr("{0}: {1}").format(number, self.name))

    def sizeHint(self) -> QSize:
        return QSize(2 * CHIP_PX, CHIP_PX)

    def flash(self) -> None:
        """Lights up for `FLASH_MS`."""
        self._flash.jump(1.0)
        self._flash.go(0.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        shown, colour = tokens(), model_colour(*self.id)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        with painter_on(self) as painter:
            fill = colour if self.isChecked() else blend(QColor(shown.raised), colour, 0.12)
            fill = blend(fill, QColor("white"), 0.7 * self._flash.value)
            edge = colour if self.coming or self.hasFocus() or self.isChecked() else QColor(shown.frame)
            draw_rounded(painter, box, shown.radius, fill=fill, edge=edge)
            painter.setPen(QColor("white") if self.isChecked() else self.palette().windowText().color())
            self._write(painter, box)

    def _write(self, painter: QPainter, box: QRectF) -> None:
        font = self.font()
        font.setBold(True)
        font.setPointSizeF(font.pointSizeF() * NUMBER_SCALE)
        painter.setFont(font)
        number, rest = QRectF(box), QRectF(box)
        number.setWidth(QFontMetricsF(font).horizontalAdvance("0") + 24)
        rest.setLeft(number.right())
        painter.drawText(number, Qt.AlignmentFlag.AlignCenter, str(self.number))
        font.setPointSizeF(font.pointSizeF() / NUMBER_SCALE * 1.15)
        painter.setFont(font)
        words = self.tr("{0} …").format(self.name) if self.coming else self.name
        words = elided(QFontMetricsF(font), words, Qt.TextElideMode.ElideRight, rest.width() - 8)
        painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)


class BoothStrip(QWidget):
    """The chips. It follows `model` for what is spoken, and `current` for who answers and who is coming."""

    picked = Signal(object)
    """Emits the `BackendChoice` of a chip."""
    took_over = Signal()
    """Emitted at the first word of a model that has taken over in the middle of an answer."""

    def __init__(
        self,
        model: SessionModel,
        favourites: Favourites,
        lists: ModelLists,
        current: CurrentModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._favourites, self._lists, self._current = favourites, lists, current
        self.chips: list[Chip] = []
        self._newest: HeardPart | None = None  # the last one with which a model took over
        self._row = row(within=self, spacing=tokens().unit)
        self.setAccessibleName(self.tr("Favourites"))
        self.hint = PlainLabel(self.tr("Mark models with a star in the list of models: they appear here."), self)
        self.away = IconButton("maximize-2", self.tr("Move to the other screen"), self, self.leave, size=16)
        self._row.addWidget(self.hint)
        self._home: QWidget | None = None
        favourites.shown.connect(self._fill)
        current.changed.connect(self._show)
        model.follow(self._take)
        self._fill()
        self.hide()

    def pick(self, number: int) -> bool:
        """Picks the favourite with a number; returns whether there is one."""
        if not self.isVisible() or not 1 <= number <= len(self.chips):
            return False
        self.picked.emit(self.chips[number - 1].choice)
        return True

    def leave(self) -> None:
        """Fills the other screen, or returns to the window."""
        if self._home is not None:
            home, self._home = self._home, None
            self.setWindowFlag(Qt.WindowType.Window, False)
            layout = home.layout()
            assert layout is not None
            layout.addWidget(self)
            self.show()
            return
        other = next((screen for screen in self.screen().virtualSiblings() if screen is not self.screen()), None)
        parent = self.parentWidget()
        if other is not None and parent is not None:
            self._home = parent
            self.setParent(parent, Qt.WindowType.Window)
            self.setGeometry(other.geometry())
            self.showFullScreen()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """On the other screen: a digit swaps, and Escape returns."""
        if self._home is not None and event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif not (event.text().isdigit() and self.pick(int(event.text()))):
            super().keyPressEvent(event)

    def _fill(self) -> None:
        for chip in self.chips:
            self._row.removeWidget(chip)
            chip.deleteLater()
        self.chips = [
            Chip(number, choice, self._lists, self) for number, choice in enumerate(self._favourites.backends, 1)
        ]
        for chip in self.chips:
            chip.clicked.connect(lambda _=False, choice=chip.choice: self.picked.emit(choice))
            self._row.addWidget(chip, 1)
        self._row.removeWidget(self.away)
        self._row.addWidget(self.away)
        self.hint.setVisible(not self.chips)
        self.away.setVisible(len(self.screen().virtualSiblings()) > 1)
        self._show()

    def _show(self) -> None:
        answers, coming = self._current.answers, self._current.coming
        for chip in self.chips:
            chip.setChecked(chip.id == answers.id)
            chip.coming = coming is not None and chip.id == coming.id != answers.id
            chip.update()

    def _take(self, change: Change) -> None:
        turn = change.entry
        if not isinstance(change.event, e.AssistantSaid) or not isinstance(turn, Turn):
            return
        part = turn.parts[-1]
        if part.took is not None and part is not self._newest:
            self._newest = part
            self.took_over.emit()
            for chip in self.chips:
                if chip.id[1] == turn.backends[-1]:
                    chip.flash()
