"""Derives colours for custom painting from a light or dark palette, and provides helpers for painting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPaintDevice, QPainter, QPalette, QPen


class Dressed:
    """A mixin for widgets that adapt to a new font or palette: calls `_dress` after the events in `dressed_by`."""

    dressed_by: tuple[QEvent.Type, ...] = (QEvent.Type.FontChange,)

    def changeEvent(self: Any, event: QEvent) -> None:
        super().changeEvent(event)  # type: ignore[misc]
        if event.type() in self.dressed_by:
            self._dress()


STATE_COLOURS = {
    "loading": QColor("#5f6670"),
    "ready": QColor("#1f5fa8"),
    "listening": QColor("#0f6b74"),
    "hearing": QColor("#1b7439"),
    "thinking": QColor("#8f5400"),
    "speaking": QColor("#6a3fb0"),
    "stopped": QColor("#5f6670"),
    "muted": QColor("#a32638"),
}
"""The colours of the conversation's states. White text is readable on all of them, in light and dark themes."""


def blend(colour: QColor, other: QColor, share: float) -> QColor:
    """Blends `colour` towards `other`. `share`: the fraction of `other` in the result, from 0 to 1."""
    return QColor.fromRgbF(
        colour.redF() + (other.redF() - colour.redF()) * share,
        colour.greenF() + (other.greenF() - colour.greenF()) * share,
        colour.blueF() + (other.blueF() - colour.blueF()) * share,
    )


def painter_on(device: QPaintDevice) -> QPainter:
    """Returns a painter with antialiasing, for use in a `with` statement."""
    painter = QPainter(device)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


Ink = QColor | QPen | None


def set_ink(painter: QPainter, *, fill: QColor | None = None, edge: Ink = None) -> None:
    """Sets a painter's brush and pen; None for no fill or no outline, respectively."""
    painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
    painter.setPen(Qt.PenStyle.NoPen if edge is None else edge)


def draw_rounded(
    painter: QPainter,
    box: QRect | QRectF,
    radius: float,
    *,
    inset: float = 0.0,
    fill: QColor | None = None,
    edge: Ink = None,
) -> None:
    """Draws a rectangle with rounded corners.

    Args:
        inset: the distance from the edges of `box`; half the pen's width keeps the outline sharp.
        fill: the fill colour, or None for no fill.
        edge: the colour or pen of the outline, or None for no outline.
    """
    set_ink(painter, fill=fill, edge=edge)
    painter.drawRoundedRect(QRectF(box).adjusted(inset, inset, -inset, -inset), radius, radius)


@dataclass(frozen=True, slots=True)
class Look:
    """Colours for custom painting, named by purpose."""

    dark: bool
    text: QColor
    dim: QColor
    line: QColor
    base: QColor
    sunken: QColor
    accent: QColor
    bad: QColor
    good: QColor
    warn: QColor
    user_card: QColor
    plain_card: QColor
    live_card: QColor

    @classmethod
    def of(cls, palette: QPalette) -> Look:
        """Returns the colours derived from `palette`."""
        text = palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.Text)
        base = palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.Base)
        highlight = palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.Highlight)
        dark = base.lightnessF() < 0.5
        return cls(
            dark=dark,
            text=text,
            # Keeps small print above a contrast ratio of 4.5 : 1 on all cards, light or dark.
            dim=blend(text, base, 0.26 if dark else 0.3),
            line=blend(base, text, 0.18),
            base=base,
            sunken=blend(base, text, 0.12),
            accent=blend(highlight, text, 0.5 if dark else 0.3),
            bad=QColor("#ff8a80" if dark else "#b3261e"),
            good=QColor("#34a853"),
            warn=QColor("#f0a020"),
            user_card=blend(base, highlight, 0.2 if dark else 0.13),
            plain_card=blend(base, text, 0.06),
            live_card=blend(base, highlight, 0.16 if dark else 0.08),
        )
