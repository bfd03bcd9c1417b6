"""The pill-shaped button in the top bar that shows the current model and opens the model list."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.gui.design.fonts import sized
from app.gui.design.icons import paint_icon
from app.gui.design.look import draw_rounded, painter_on, set_ink
from app.gui.design.model_colours import model_colour
from app.gui.design.plain import draw_words, elided, set_name, set_tip
from app.gui.design.theme import tokens

PAD_PX, DOT_PX, CHEVRON_PX, GAP_PX = 12, 10, 14, 8
LEAST_PX, MOST_PX = 96, 360
ROUNDING_PX = 4
"""Extra width to absorb rounding errors of text widths. A single missing pixel would elide the name."""


class ModelPill(QAbstractButton):
    """A button with the model's colour, its name and, if there is room, its provider."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._provider = self._detail = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription(self.tr("Opens the list of models."))

    def show_model(self, provider: str, name: str, detail: str) -> None:
        """Shows a model's name, followed by `detail`, the display name of its provider."""
        if (provider, name, detail) == (self._provider, self.text(), self._detail):
            return
        self._provider, self._detail = provider, detail
        set_name(self, name)
        self.setAccessibleName(self.tr("Model: {0}").format(f"{name}, {detail}" if detail else name))
        set_tip(self, self.tr("{0}. Click to change the model, also in mid-answer (Ctrl+Shift+M).").format(name))
        self.updateGeometry()
        self.update()

    def colour(self) -> QColor:
        """Returns the model's colour."""
        return model_colour(self._provider, self.text(), tokens().dark)

    def sizeHint(self) -> QSize:
        name = QFontMetrics(self._name_font()).horizontalAdvance(self.text())
        detail = self.fontMetrics().horizontalAdvance(self._detail) + GAP_PX if self._detail else 0
        wide = 2 * PAD_PX + DOT_PX + GAP_PX + name + detail + GAP_PX + CHEVRON_PX + ROUNDING_PX
        return QSize(min(wide, MOST_PX), max(tokens().control, self.fontMetrics().height() + 12))

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_PX, self.sizeHint().height())

    def _name_font(self) -> QFont:
        return sized(self.font(), "small", QFont.Weight.Medium)

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = tokens()
        with painter_on(self) as painter:
            box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            fill = shown.pressed if self.isDown() else shown.hover if self.underMouse() else shown.sunken
            edge = QPen(QColor(shown.accent_text), 2) if self.hasFocus() else None
            draw_rounded(painter, box, box.height() / 2, fill=QColor(fill), edge=edge)
            middle = self.rect().center().y() + 0.5
            set_ink(painter, fill=self.colour())
            painter.drawEllipse(QRectF(PAD_PX, middle - DOT_PX / 2, DOT_PX, DOT_PX))
            chevron = QRectF(self.width() - PAD_PX - CHEVRON_PX, middle - CHEVRON_PX / 2, CHEVRON_PX, CHEVRON_PX)
            paint_icon(painter, "chevron-down", QColor(shown.dim), chevron)
            left, right = PAD_PX + DOT_PX + GAP_PX, int(chevron.left()) - GAP_PX
            font = self._name_font()
            metrics = QFontMetrics(font)
            name = elided(metrics, self.text(), Qt.TextElideMode.ElideRight, right - left)
            room = QRect(left, 0, right - left, self.height())
            draw_words(painter, room, name, QColor(shown.text), font)
            rest = room.adjusted(metrics.horizontalAdvance(name) + GAP_PX, 0, 0, 0)
            if self._detail and rest.width() > 24:
                draw_words(painter, rest, self._detail, QColor(shown.dim), self.font())
