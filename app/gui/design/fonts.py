"""The bundled typefaces, Inter and JetBrains Mono, and the window's five text sizes."""

from __future__ import annotations

from typing import Literal

from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication, QWidget

from app.gui.design.tokens import tokens_for
from app.platform.installation import resource

FILES = (
    "Inter-Regular.ttf",
    "Inter-Medium.ttf",
    "Inter-SemiBold.ttf",
    "Inter-Italic.ttf",
    "JetBrainsMono-Regular.ttf",
)
FAMILY, CODE_FAMILY = "Inter", "JetBrains Mono"
POINTS_PER_PX = 0.75
"""Points per pixel at 96 dpi. Sizes are set in points, so that they scale with the system's resolution."""

Size = Literal["caption", "small", "body", "title", "display"]

_loaded = False


def load_fonts() -> None:
    """Registers the bundled typefaces with Qt. Idempotent; if a file is missing, Qt falls back to a system font."""
    global _loaded
    if not _loaded:
        _loaded = True
        for name in FILES:
            QFontDatabase.addApplicationFont(str(resource("fonts", name)))


def base_font(percent: int = 100) -> QFont:
    """Returns the default font of all controls, in size `small` scaled to `percent`."""
    font = QFont(FAMILY)
    font.setPointSizeF(tokens_for("light").small * POINTS_PER_PX * percent / 100)
    return font


def sized(font: QFont, size: Size, weight: QFont.Weight | None = None) -> QFont:
    """Returns a copy of `font` in one of the five sizes, scaled in proportion to the application's font."""
    tokens, copy = tokens_for("light"), QFont(font)
    points = QApplication.font().pointSizeF() * getattr(tokens, size) / tokens.small
    copy.setPointSizeF(points)
    if weight is not None:
        copy.setWeight(weight)
    return copy


def set_size(widget: QWidget, size: Size, weight: QFont.Weight | None = None) -> None:
    """Sets a widget's font to one of the five sizes. Must be called again when the application's font changes."""
    font = sized(widget.font(), size, weight)
    if font != widget.font():
        widget.setFont(font)


def embolden(widget: QWidget) -> None:
    """Makes a widget's font semi-bold."""
    font = widget.font()
    font.setWeight(QFont.Weight.DemiBold)
    widget.setFont(font)
