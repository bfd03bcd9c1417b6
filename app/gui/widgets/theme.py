"""Applies the window's theme and text size: light, dark, or as the system has it."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QToolTip

from app.gui.widgets.palette import blend

Theme = Literal["system", "light", "dark"]

_SCHEMES = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
_MOTION = "reducedMotion"


def apply_theme(app: QApplication, theme: Theme | str, font_percent: int = 100) -> None:
    """Applies a theme to the whole application; "system" follows the system.

    `font_percent`: the size of text in per cent of the system's. May be called again at any time.
    """
    manager = app.findChild(_Manager) or _Manager(app)
    manager.show(theme, font_percent)


def reduce_motion(reduced: bool) -> None:
    """Sets whether changes are shown at once, without animation."""
    app = QApplication.instance()
    assert app is not None
    app.setProperty(_MOTION, reduced)


def reduced_motion() -> bool:
    """Whether animations are off. Qt does not report the system's setting."""
    app = QApplication.instance()
    return bool(app is not None and app.property(_MOTION))


def palette_of(dark: bool) -> QPalette:
    """The app's own palette, for platforms without suitable colours."""
    shades = _DARK if dark else _LIGHT
    colours = {role: QColor(shade) for role, shade in shades.items()}
    palette = QPalette(colours[QPalette.ColorRole.Button], colours[QPalette.ColorRole.Window])
    for role, colour in colours.items():
        palette.setColor(role, colour)
    ground = colours[QPalette.ColorRole.Window]
    for role in (
        QPalette.ColorRole.WindowText,
        QPalette.ColorRole.Text,
        QPalette.ColorRole.ButtonText,
        QPalette.ColorRole.PlaceholderText,
        QPalette.ColorRole.HighlightedText,
    ):
        palette.setColor(QPalette.ColorGroup.Disabled, role, blend(colours[QPalette.ColorRole.Text], ground, 0.5))
    for role in (QPalette.ColorRole.Highlight, QPalette.ColorRole.Accent):
        faded = blend(ground, colours[QPalette.ColorRole.Text], 0.15)
        palette.setColor(QPalette.ColorGroup.Disabled, role, faded)
    return palette


_R = QPalette.ColorRole
_LIGHT = {
    _R.Window: "#f4f5f6",
    _R.WindowText: "#1b1f23",
    _R.Base: "#ffffff",
    _R.AlternateBase: "#f0f2f4",
    _R.Text: "#1b1f23",
    _R.PlaceholderText: "#68727b",
    _R.Button: "#f1f3f4",
    _R.ButtonText: "#1b1f23",
    _R.BrightText: "#ffffff",
    _R.Light: "#ffffff",
    _R.Midlight: "#e6e9eb",
    _R.Mid: "#c3c9ce",
    _R.Dark: "#a2abb2",
    _R.Shadow: "#6b747c",
    _R.Highlight: "#0b7486",
    _R.HighlightedText: "#ffffff",
    _R.Accent: "#0b7486",
    _R.Link: "#0a6475",
    _R.LinkVisited: "#5a4a8a",
    _R.ToolTipBase: "#ffffff",
    _R.ToolTipText: "#1b1f23",
}
_DARK = {
    _R.Window: "#25292d",
    _R.WindowText: "#e7eaec",
    _R.Base: "#1a1e21",
    _R.AlternateBase: "#202428",
    _R.Text: "#e7eaec",
    _R.PlaceholderText: "#a2abb2",
    _R.Button: "#3a4248",
    _R.ButtonText: "#e7eaec",
    _R.BrightText: "#ffffff",
    _R.Light: "#566067",
    _R.Midlight: "#454e55",
    _R.Mid: "#2a2f33",
    _R.Dark: "#14171a",
    _R.Shadow: "#0b0d0e",
    _R.Highlight: "#359eb0",
    _R.HighlightedText: "#0a1517",
    _R.Accent: "#359eb0",
    _R.Link: "#5cc5d6",
    _R.LinkVisited: "#b3a2e6",
    _R.ToolTipBase: "#3a4248",
    _R.ToolTipText: "#e7eaec",
}
_OUTLINES = {False: QColor("#c4cacf"), True: QColor("#aab4bb")}
"""Fusion uses a 1.4 times darker shade of these for outlines."""
OUTLINED = ("QCheckBox", "QRadioButton", "QLineEdit", "QAbstractSpinBox", "QComboBox", "QPlainTextEdit")
"""The classes of controls with these outlines."""


def _told(app: QApplication) -> Qt.ColorScheme:
    """The system's colour scheme."""
    return app.styleHints().colorScheme()


class _Manager(QObject):
    """Holds the chosen theme and follows the system's changes. A child of the application; there is one."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._theme = "system"
        self._font = QFont(app.font())
        self._percent = 100
        self._dark: bool | None = None
        # Windows and macOS paint light and dark themselves.
        self._native = app.platformName() in ("windows", "cocoa")
        app.styleHints().colorSchemeChanged.connect(self._paint)

    def show(self, theme: str, percent: int) -> None:
        self._theme = theme
        self._app.styleHints().setColorScheme(_SCHEMES.get(theme, Qt.ColorScheme.Unknown))
        self._paint()
        if percent != self._percent:
            self._percent = percent
            self._app.setFont(self._scaled())

    def _paint(self) -> None:
        if self._native:
            return
        dark = _SCHEMES.get(self._theme, _told(self._app)) == Qt.ColorScheme.Dark
        if self._app.style().name() != "fusion":
            self._app.setStyle(QStyleFactory.create("Fusion"))
        if dark == self._dark:
            return
        self._dark = dark
        palette = palette_of(dark)
        self._app.setPalette(palette)
        QToolTip.setPalette(palette)
        # Fusion draws outlines of controls as a shade of the window's colour, with too little contrast.
        palette.setColor(QPalette.ColorRole.Window, _OUTLINES[dark])
        for name in OUTLINED:
            self._app.setPalette(palette, name)  # type: ignore[arg-type]  # the stub wants bytes, PySide takes str
        # Widgets with palettes of their own, mixed from the application's, get no event by themselves.
        for widget in self._app.allWidgets():
            if widget.testAttribute(Qt.WidgetAttribute.WA_SetPalette):
                QApplication.sendEvent(widget, QEvent(QEvent.Type.PaletteChange))

    def _scaled(self) -> QFont:
        font = QFont(self._font)
        if font.pointSizeF() > 0:
            font.setPointSizeF(font.pointSizeF() * self._percent / 100)
        else:
            font.setPixelSize(round(font.pixelSize() * self._percent / 100))
        return font
