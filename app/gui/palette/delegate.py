"""Paints the commands in the palette's list: icon (a tick for what is on), title with the matched letters highlighted,
place, and shortcut as key caps.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui.design.fonts import sized
from app.gui.design.icons import paint_icon
from app.gui.design.look import draw_rounded
from app.gui.design.plain import draw_words, elided
from app.gui.design.theme import tokens
from app.gui.design.tokens import Tokens
from app.gui.palette.command import Command, Kind
from app.gui.palette.ranking import Match

SIDES_PX, ENDS_PX, CAP_GAP_PX, CAP_RADIUS_PX = 6.0, 2.0, 4.0, 4.0


def caps_of(keys: str) -> list[str]:
    """Splits a shortcut into the names of its keys: "Ctrl+Shift+N" has three, "Ctrl++" has two."""
    return [cap for cap in re.split(r"\+(?=.)", keys) if cap]


def caps_size(keys: str, font: QFont) -> QSizeF:
    """Returns the size of a shortcut painted as key caps."""
    widths = [_width(cap, QFontMetricsF(font)) for cap in caps_of(keys)]
    if not widths:
        return QSizeF(0, 0)
    return QSizeF(sum(widths) + CAP_GAP_PX * (len(widths) - 1), QFontMetricsF(font).height() + 2 * ENDS_PX)


def paint_caps(painter: QPainter, keys: str, font: QFont, right: float, middle: float, tokens: Tokens) -> None:
    """Paints a shortcut as key caps, right-aligned at `right` and vertically centred at `middle`."""
    metrics, size = QFontMetricsF(font), caps_size(keys, font)
    painter.setFont(font)
    left = right - size.width()
    for cap in caps_of(keys):
        box = QRectF(left, middle - size.height() / 2, _width(cap, metrics), size.height())
        outlined = tokens.scheme == "contrast"
        edge = QColor(tokens.line) if outlined else None
        draw_rounded(painter, box, CAP_RADIUS_PX, fill=QColor(tokens.sunken), edge=edge)
        painter.setPen(QColor(tokens.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, cap)
        left += box.width() + CAP_GAP_PX


def _width(cap: str, metrics: QFontMetricsF) -> float:
    return max(metrics.horizontalAdvance(cap) + 2 * SIDES_PX, metrics.height() + 2 * ENDS_PX)


COMMAND_ROLE, MATCH_ROLE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
ICONS: dict[Kind, str] = {
    "command": "chevron-right",
    "setting": "settings",
    "value": "sliders-horizontal",
    "conversation": "message-square",
    "model": "sparkles",
    "ask": "arrow-up",
}
ICON_PX, SIDE_PX, GAP_PX, RADIUS_PX = 16, 12, 12, 8


class CommandDelegate(QStyledItemDelegate):
    """Paints a command on a single line."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, max(36, round(QFontMetricsF(option.font).height()) + 18))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        command: Command = index.data(COMMAND_ROLE)
        match: Match = index.data(MATCH_ROLE)
        t = tokens()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        room = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            edge = QColor(t.accent_text) if t.scheme == "contrast" else None
            draw_rounded(painter, room, RADIUS_PX, inset=0.5, fill=QColor(t.accent_soft), edge=edge)
        middle = room.center().y()
        side = max(ICON_PX, QFontMetricsF(option.font).ascent())
        icon = QRectF(room.left() + SIDE_PX, middle - side / 2, side, side)
        paint_icon(
            painter,
            "check" if command.current else ICONS[command.kind],
            QColor(t.accent_text if chosen else t.dim),
            icon,
        )
        left, right = icon.right() + GAP_PX, room.right() - SIDE_PX
        small = sized(option.font, "caption")
        if command.keys:
            paint_caps(painter, command.keys, small, right, middle, t)
            right -= caps_size(command.keys, small).width() + GAP_PX
        if command.place:
            width = min(QFontMetricsF(small).horizontalAdvance(command.place) + 1, (right - left) / 3)
            box = QRectF(right - width, room.top(), width, room.height())
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            draw_words(painter, box, command.place, QColor(t.dim), small, flags)
            right -= width + GAP_PX
        self._paint_title(
            painter, option.font, command.title, match, QRectF(left, room.top(), right - left, room.height())
        )
        painter.restore()

    def _paint_title(self, painter: QPainter, font: QFont, title: str, match: Match, room: QRectF) -> None:
        """Paints the title with the matched letters in bold and in the accent colour."""
        t = tokens()
        strong = QFont(font)
        strong.setWeight(QFont.Weight.DemiBold)
        shown = elided(QFontMetricsF(strong), title, Qt.TextElideMode.ElideRight, room.width())
        left = room.left()
        for run, typed in _runs(shown, match.places):
            face = strong if typed else font
            painter.setFont(face)
            painter.setPen(QColor(t.accent_text if typed else t.text))
            width = QFontMetricsF(face).horizontalAdvance(run)
            box = QRectF(left, room.top(), width + 2, room.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, run)
            left += width


def _runs(title: str, places: frozenset[int]) -> list[tuple[str, bool]]:
    """Splits the title into runs of matched and unmatched letters."""
    runs: list[tuple[str, bool]] = []
    for place, letter in enumerate(title):
        typed = place in places
        if runs and runs[-1][1] == typed:
            runs[-1] = (runs[-1][0] + letter, typed)
        else:
            runs.append((letter, typed))
    return runs
