"""The pill-shaped button in the top bar: who answers, who is coming, and the way to the model list."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.gui.design.fonts import sized
from app.gui.design.icons import paint_icon
from app.gui.design.look import draw_rounded, painter_on, set_ink
from app.gui.design.motion import Glide, reduced_motion, timer
from app.gui.design.plain import draw_words, elided, set_name, set_tip
from app.gui.design.theme import tokens
from app.gui.models.current_model import CurrentModel, ShownModel

PAD_PX, DOT_PX, CHEVRON_PX, GAP_PX = 12, 10, 14, 8
LEAST_PX, MOST_PX = 96, 380
ROUNDING_PX = 4
"""Extra width to absorb rounding errors of text widths. A single missing pixel would elide the name."""
STEP_MS, STEP_DEGREES = 80, 40
"""How fast the arc turns while a model is being loaded."""
SHAKE_MS, SHAKE_PX, SHAKES = 450, 5, 3
"""How the pill says no when a model was refused."""
ARROW = "\u2192"


def paint_dot(painter: QPainter, model: ShownModel, box: QRectF) -> None:
    """Paints a dot in a model's colour; an empty ring if it has not been used yet."""
    colour = model.colour()
    if colour is not None:
        set_ink(painter, fill=colour)
        painter.drawEllipse(box)
    else:
        set_ink(painter, edge=QPen(QColor(tokens().dim), 1.5))
        painter.drawEllipse(box.adjusted(1, 1, -1, -1))


class ModelPill(QAbstractButton):
    """A button with the colour and the name of the model that answers, and where it is, if there is room.

    While another one is coming, its name stands behind an arrow, with a turning arc. If that one is refused, the pill
    shakes.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._current: CurrentModel | None = None
        self._angle = 0
        self._turn = timer(self, STEP_MS, self._step, repeats=True)
        self._shake = Glide(lambda _: self.update(), self, milliseconds=SHAKE_MS)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription(self.tr("Opens the list of models."))

    def follow(self, current: CurrentModel) -> None:
        """Shows `current` from now on."""
        self._current = current
        current.changed.connect(self._show)
        current.refused.connect(self._say_no)
        self._show()

    @property
    def coming(self) -> ShownModel | None:
        """The model behind the arrow: one that is coming in another's place."""
        current = self._current
        return current.coming if current is not None and current.coming != current.answers else None

    def _show(self) -> None:
        assert self._current is not None
        answers, coming, loading = self._current.answers, self.coming, self._current.coming is not None
        set_name(self, answers.name)
        name = f"{answers.name}, {answers.place}" if answers.place else answers.name
        if coming is not None:
            name = self.tr("{0}; {1} is coming").format(name, coming.name)
        self.setAccessibleName(self.tr("Model: {0}").format(name))
        tip = self.tr("{0}. Click to change the model, also in mid-answer (Ctrl+Shift+M).")
        if coming is not None:
            tip = self.tr("{0} answers until {1} is ready. Click to change the model (Ctrl+Shift+M).")
        set_tip(self, tip.format(answers.name, coming.name if coming is not None else ""))
        if loading and not reduced_motion():
            self._turn.start()
        else:
            self._turn.stop()
        self.updateGeometry()
        self.update()

    def _step(self) -> None:
        self._angle = (self._angle - STEP_DEGREES) % 360
        self.update()

    def _say_no(self, refused: ShownModel) -> None:
        self._shake.jump(1.0)
        self._shake.go(0.0)

    def colour(self) -> QColor | None:
        """Returns the colour of the model that answers, or None if it has none yet."""
        return self._current.answers.colour() if self._current is not None else None

    def sizeHint(self) -> QSize:
        current, metrics = self._current, QFontMetrics(self._name_font())
        wide = 2 * PAD_PX + DOT_PX + GAP_PX + metrics.horizontalAdvance(self.text()) + GAP_PX + CHEVRON_PX + ROUNDING_PX
        coming = self.coming
        if coming is not None:
            wide += 2 * GAP_PX + metrics.horizontalAdvance(f"{ARROW} {coming.name}")
        elif current is not None and current.answers.place:
            wide += self.fontMetrics().horizontalAdvance(current.answers.place) + GAP_PX
        return QSize(min(wide, MOST_PX), max(tokens().control, self.fontMetrics().height() + 12))

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_PX, self.sizeHint().height())

    def _name_font(self) -> QFont:
        return sized(self.font(), "small", QFont.Weight.Medium)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._current is None:
            return
        with painter_on(self) as painter:
            swing = self._shake.value * SHAKE_PX
            if swing:
                whole = self._shake.value * SHAKES * 2
                painter.translate(swing if int(whole) % 2 else -swing, 0)
            self._paint(painter, self._current.answers)

    def _paint(self, painter: QPainter, answers: ShownModel) -> None:
        shown, current = tokens(), self._current
        assert current is not None
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        fill = shown.pressed if self.isDown() else shown.hover if self.underMouse() else shown.sunken
        edge = QPen(QColor(shown.accent_text), 2) if self.hasFocus() else None
        if self._shake.value > 0.05:
            edge = QPen(QColor(shown.bad), 2)
        draw_rounded(painter, box, box.height() / 2, fill=QColor(fill), edge=edge)
        middle = self.rect().center().y() + 0.5
        dot = QRectF(PAD_PX, middle - DOT_PX / 2, DOT_PX, DOT_PX)
        paint_dot(painter, answers, dot)
        if current.coming is not None:
            set_ink(painter, edge=QPen(QColor(shown.accent_text), 2))
            painter.drawArc(dot.adjusted(-3, -3, 3, 3), self._angle * 16, 110 * 16)
        chevron = QRectF(self.width() - PAD_PX - CHEVRON_PX, middle - CHEVRON_PX / 2, CHEVRON_PX, CHEVRON_PX)
        paint_icon(painter, "chevron-down", QColor(shown.dim), chevron)
        left, right = PAD_PX + DOT_PX + GAP_PX, int(chevron.left()) - GAP_PX
        font, coming = self._name_font(), self.coming
        metrics = QFontMetrics(font)
        room = right - left if coming is None else (right - left) // 2
        name = elided(metrics, self.text(), Qt.TextElideMode.ElideRight, room)
        space = QRect(left, 0, right - left, self.height())
        draw_words(painter, space, name, QColor(shown.text if coming is None else shown.dim), font)
        rest = space.adjusted(metrics.horizontalAdvance(name) + GAP_PX, 0, 0, 0)
        if coming is not None:
            words = elided(metrics, f"{ARROW} {coming.name}", Qt.TextElideMode.ElideRight, rest.width())
            draw_words(painter, rest, words, QColor(shown.text), font)
        elif answers.place and rest.width() > 24:
            draw_words(painter, rest, answers.place, QColor(shown.dim), self.font())
