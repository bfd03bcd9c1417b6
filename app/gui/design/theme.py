"""Applies the theme (light, dark, high contrast or the system's), the accent and the text size to the application."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from app.gui.design.fonts import base_font, load_fonts
from app.gui.design.look import blend
from app.gui.design.style_sheet import style_sheet
from app.gui.design.tokens import Scheme, Tokens, tokens_for

Theme = Literal["system", "light", "dark", "contrast"]

_SCHEMES = {
    "light": Qt.ColorScheme.Light,
    "dark": Qt.ColorScheme.Dark,
    "contrast": Qt.ColorScheme.Dark,
}

FONT_CLASSES = (
    "QAbstractItemView",
    "QMenu",
    "QMessageBox",
    "QTipLabel",
    "QHeaderView",
    "QToolButton",
    "QStatusBar",
)
"""Widget classes for which system themes may set their own fonts, as on Windows."""

_tokens = tokens_for("light")


def tokens() -> Tokens:
    """Returns the design tokens of the current theme."""
    return _tokens


def apply_theme(app: QApplication, theme: Theme | str, font_percent: int = 100, accent: str = "teal") -> None:
    """Applies a theme to the whole application; "system" follows the system's colour scheme.

    `font_percent` is the text size relative to the default. May be called again at any time.
    """
    manager = app.findChild(_Manager) or _Manager(app)
    manager.show(theme, font_percent, accent)


def palette_of(tokens: Tokens) -> QPalette:
    """Returns the palette that corresponds to `tokens`."""
    shades = {
        _R.Window: tokens.ground,
        _R.WindowText: tokens.text,
        _R.Base: tokens.surface,
        _R.AlternateBase: tokens.ground,
        _R.Text: tokens.text,
        _R.PlaceholderText: tokens.dim,
        _R.Button: tokens.sunken,
        _R.ButtonText: tokens.text,
        _R.BrightText: tokens.on_accent,
        _R.Light: tokens.raised,
        _R.Midlight: tokens.hover,
        _R.Mid: tokens.line,
        _R.Dark: tokens.outline,
        _R.Shadow: tokens.pressed,
        _R.Highlight: tokens.accent,
        _R.HighlightedText: tokens.on_accent,
        _R.Accent: tokens.accent,
        _R.Link: tokens.accent_text,
        _R.LinkVisited: tokens.accent_text,
        _R.ToolTipBase: tokens.raised,
        _R.ToolTipText: tokens.text,
    }
    palette = QPalette()
    for role, shade in shades.items():
        palette.setColor(role, QColor(shade))
    text, ground = QColor(tokens.text), QColor(tokens.ground)
    for role in (_R.WindowText, _R.Text, _R.ButtonText, _R.PlaceholderText, _R.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, blend(text, ground, 0.5))
    for role in (_R.Highlight, _R.Accent):
        palette.setColor(QPalette.ColorGroup.Disabled, role, blend(ground, text, 0.15))
    return palette


_R = QPalette.ColorRole


def _told(app: QApplication) -> Qt.ColorScheme:
    """Returns the system's colour scheme."""
    return app.styleHints().colorScheme()


class _Manager(QObject):
    """Holds the selected theme and follows the system's colour scheme. The application owns a single instance."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._theme = "system"
        self._accent = "teal"
        self._percent = 0
        self._shown: Tokens | None = None
        load_fonts()
        # Otherwise, widgets with a style sheet would keep their initial font and palette.
        app.setAttribute(Qt.ApplicationAttribute.AA_UseStyleSheetPropagationInWidgetStyles)
        app.styleHints().colorSchemeChanged.connect(self._paint)

    def show(self, theme: str, percent: int, accent: str) -> None:
        self._theme, self._accent = theme, accent
        self._app.styleHints().setColorScheme(_SCHEMES.get(theme, Qt.ColorScheme.Unknown))
        if percent != self._percent:
            self._percent = percent
            self._app.setFont(base_font(percent))
        self._paint()
        QTimer.singleShot(0, self, self._set_class_fonts)  # after any system colour change that Qt has queued

    def _set_class_fonts(self) -> None:
        """Sets the application's font for the widget classes that have their own font in the system theme."""
        font = self._app.font()
        for name in FONT_CLASSES:
            if QApplication.font(name) != font:  # type: ignore[call-overload]  # the stub wants bytes, PySide text
                QApplication.setFont(font, name)  # type: ignore[arg-type]

    def _scheme(self) -> Scheme:
        if self._theme == "contrast":
            return "contrast"
        return "dark" if _SCHEMES.get(self._theme, _told(self._app)) == Qt.ColorScheme.Dark else "light"

    def _paint(self) -> None:
        global _tokens
        made = tokens_for(self._scheme(), self._accent)
        if made == self._shown:
            return
        if self._shown is None:
            self._app.setStyle(QStyleFactory.create("Fusion"))
        self._shown = _tokens = made
        self._app.setStyleSheet(style_sheet(made))
        self._app.setPalette(palette_of(made))  # last, because widgets derive their own palettes from it
        # Qt sends no event to widgets that have set their own palette, derived from the application's.
        for widget in self._app.allWidgets():
            if widget.testAttribute(Qt.WidgetAttribute.WA_SetPalette):
                QApplication.sendEvent(widget, QEvent(QEvent.Type.PaletteChange))
