"""Paints the rows of the model list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui.design.fonts import sized
from app.gui.design.icons import paint_icon
from app.gui.design.look import draw_rounded, set_ink
from app.gui.design.model_look import known_colour
from app.gui.design.plain import LONGEST_NAME, draw_words
from app.gui.design.theme import tokens

if TYPE_CHECKING:
    from app.gui.models.model_list import ModelListView, ModelRow

STATE_ICONS = {"keyless": "key", "away": "triangle-alert", "connect": "plus", "download": "download"}
ROW_PX, HEADING_PX, PAD_PX, STAR_PX, DOT_PX = 36, 28, 10, 16, 8
"""Dimensions at the default text size."""

_Index = QModelIndex | QPersistentModelIndex


class ModelItems(QStyledItemDelegate):
    """An item delegate that paints headings and model rows."""

    def __init__(self, view: ModelListView) -> None:
        super().__init__(view)
        self._view = view

    def _scale(self) -> float:
        return max(1.0, self._view.fontMetrics().height() / 16)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        high = ROW_PX if self._view.rows.row(index) is not None else HEADING_PX
        return QSize(0, round(high * self._scale()))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = self._view.rows.row(index)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row is None:
            self._paint_heading(painter, option.rect, index)
        else:
            self._paint_row(painter, option, index, row)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, index: _Index) -> None:
        font = sized(self._view.font(), "caption", QFont.Weight.DemiBold)
        room, words = rect.adjusted(PAD_PX, 0, -PAD_PX, -4), str(self._view.rows.data(index))
        draw_words(painter, room, words, QColor(tokens().dim), font, Qt.AlignmentFlag.AlignBottom)

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index, row: ModelRow) -> None:
        shown, view = tokens(), self._view
        box = QRectF(option.rect).adjusted(2, 1, -2, -1)
        lit = index == view.currentIndex()
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        current = view.is_current(row)
        if current or lit or hover:
            draw_rounded(painter, box, shown.radius, fill=QColor(shown.accent_soft if current else shown.hover))
        if lit and view.hasFocus():
            draw_rounded(painter, box, shown.radius, inset=0.5, edge=QColor(shown.accent_text))
        room = option.rect.adjusted(PAD_PX, 0, -PAD_PX, 0)
        middle = room.center().y() + 0.5
        dot = QRectF(room.left(), middle - DOT_PX / 2, DOT_PX, DOT_PX)
        colour = known_colour(*view.model_id(row.choice))
        if current:
            paint_icon(painter, "check", QColor(shown.accent_text), dot.adjusted(-4, -4, 4, 4))
        elif colour is not None:
            set_ink(painter, fill=colour)
            painter.drawEllipse(dot)
        right = self._paint_right(painter, option.rect, row, lit or hover)
        self._paint_names(
            painter, QRect(room.left() + DOT_PX + 8, room.top(), right - room.left() - 24, room.height()), row
        )

    def _paint_right(self, painter: QPainter, rect: QRect, row: ModelRow, lit: bool) -> int:
        """Paints the star or download icon, and the shortcut or progress. Returns the x at which the name must end."""
        shown, view = tokens(), self._view
        star = view.star_box(rect)
        kept = row.choice in view.favourites
        if row.state != "usable":
            paint_icon(painter, STATE_ICONS[row.state], QColor(shown.dim), QRectF(star))
        elif kept or lit:
            paint_icon(painter, "star", QColor(shown.accent_text if kept else shown.dim), QRectF(star))
        words = ", ".join(filter(None, (view.rows.note(row), row.keys)))
        if row.download and row.download == view.busy_key:
            words = view.busy_words
        painter.setFont(sized(view.font(), "caption"))
        painter.setPen(QColor(shown.dim))
        wide = QFontMetrics(painter.font()).horizontalAdvance(words)
        left = star.left() - 10 - wide
        painter.drawText(QRect(left, rect.top(), wide, rect.height()), Qt.AlignmentFlag.AlignVCenter, words)
        return left - 8

    def _paint_names(self, painter: QPainter, room: QRect, row: ModelRow) -> None:
        view, name_font = self._view, self._view.font()
        wide = min(QFontMetrics(name_font).horizontalAdvance(row.name[:LONGEST_NAME]) + 2, room.width())
        ink = tokens().text if row.state in ("usable", "connect") else tokens().dim
        draw_words(painter, room, row.name, QColor(ink), name_font)
        rest = room.adjusted(wide + 10, 0, 0, 0)
        if row.detail and rest.width() > 40:
            draw_words(painter, rest, row.detail, QColor(tokens().dim), sized(view.font(), "caption"))
