"""Applies the theme (light, dark, high contrast or the system's), the accent and the text size to the application."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from app.gui.design.fonts import base_font, load_fonts
from app.gui.design.look import blend
from app.gui.design.tokens import Scheme, Tokens, tokens_for
from app.platform.installation import resource


def style_sheet(t: Tokens) -> str:
    """Returns the application's style sheet. It sets no text sizes, which are determined by the widgets' fonts."""
    quiet = f"background: {t.sunken}; color: {t.text}; border: 1px solid transparent"
    faint = f"color: {t.outline}"
    fields = "QLineEdit, QPlainTextEdit, QAbstractSpinBox, QComboBox"
    focus = ", ".join(f"{name.strip()}:focus" for name in fields.split(","))
    disabled = ", ".join(f"{name.strip()}:disabled" for name in fields.split(","))
    down, up = _picture("chevron-down", t), _picture("chevron-up", t)
    ticked, dot = _picture("check", t), _picture("dot", t)
    both = "QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator"
    tick = _picture("tick", t)
    return f"""
QPushButton, QToolButton {{ {quiet}; border-radius: {t.radius}px; padding: 6px 12px; }}
QToolButton {{ padding: 6px 8px; }}
QPushButton:hover, QToolButton:hover {{ background: {t.hover}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {t.pressed}; }}
QPushButton:checked, QToolButton:checked {{ background: {t.accent_soft}; color: {t.accent_text}; }}
QPushButton:focus, QToolButton:focus {{ border: 2px solid {t.accent_text}; padding: 5px 11px; }}
QToolButton:focus {{ padding: 5px 7px; }}
QPushButton:disabled, QToolButton:disabled {{ {faint}; }}
QPushButton:default, QPushButton[primary="true"] {{ background: {t.accent}; color: {t.on_accent}; }}
QPushButton:default:hover, QPushButton[primary="true"]:hover {{ background: {t.accent_hover}; }}
QPushButton:default:focus, QPushButton[primary="true"]:focus {{ border-color: {t.text}; }}
QPushButton:default:disabled, QPushButton[primary="true"]:disabled {{ background: {t.sunken}; {faint}; }}
QToolButton[flat="true"], QPushButton[flat="true"] {{ background: transparent; }}
QToolButton[flat="true"]:hover, QPushButton[flat="true"]:hover {{ background: {t.hover}; }}
QToolButton[flat="true"]:checked {{ background: {t.accent_soft}; color: {t.accent_text}; }}
QToolButton::menu-indicator {{ image: none; }}
{fields} {{
    background: {t.surface}; color: {t.text}; border: 1px solid {t.outline}; border-radius: {t.radius}px;
    padding: 5px 8px; selection-background-color: {t.accent}; selection-color: {t.on_accent};
}}
{focus} {{ border: 2px solid {t.accent_text}; padding: 4px 7px; }}
{disabled} {{ background: {t.ground}; color: {t.outline}; border-color: {t.line}; }}
QComboBox {{ padding-right: 26px; combobox-popup: 0; }}
QComboBox:focus {{ padding-right: 25px; }}
QAbstractSpinBox QLineEdit {{ border: none; padding: 0px; margin-left: 6px; background: transparent; }}
QComboBox QLineEdit, QTableView QLineEdit, QListView QLineEdit {{
    border: none; padding: 0px; background: transparent; border-radius: 0px;
}}
QTableView QLineEdit, QListView QLineEdit {{ background: {t.surface}; border: 1px solid {t.accent_text}; }}
QComboBox::drop-down {{ border: none; width: 26px; subcontrol-origin: border; subcontrol-position: center right; }}
QComboBox::down-arrow {{ image: {down}; width: 14px; height: 14px; }}
QComboBox QAbstractItemView, QComboBox QAbstractItemView:focus {{
    background: {t.raised}; color: {t.text}; border: 1px solid {t.outline}; outline: none;
    selection-background-color: {t.accent_soft}; selection-color: {t.text};
}}
QAbstractSpinBox {{ padding-right: 22px; }}
QAbstractSpinBox:focus {{ padding-right: 21px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{
    background: transparent; border: none; width: 20px; subcontrol-origin: border;
}}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; margin-top: 2px; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; margin-bottom: 2px; }}
QAbstractSpinBox::up-arrow {{ image: {up}; width: 10px; height: 10px; }}
QAbstractSpinBox::down-arrow {{ image: {down}; width: 10px; height: 10px; }}
QCheckBox, QRadioButton {{ spacing: 8px; padding: 4px 2px; background: transparent; border: 2px solid transparent;
    border-radius: 6px; }}
QCheckBox:focus, QRadioButton:focus {{ border: 2px solid {t.accent_text}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.outline}; }}
{both} {{ width: 16px; height: 16px; background: {t.surface}; border: 1px solid {t.outline}; border-radius: 4px; }}
QRadioButton::indicator {{ border-radius: 9px; }}
QCheckBox::indicator:hover, QRadioButton::indicator:hover {{ border-color: {t.accent_text}; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{
    background: {t.accent}; border-color: {t.accent}; image: {ticked};
}}
QRadioButton::indicator:checked {{ background: {t.accent}; border-color: {t.accent}; image: {dot}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ background: {t.ground}; border-color: {t.line}; }}
QAbstractScrollArea {{ border: none; }}
QTextEdit, QTextBrowser, QAbstractItemView {{
    background: {t.surface}; color: {t.text}; selection-background-color: {t.accent}; selection-color: {t.on_accent};
}}
QPlainTextEdit {{ border: 1px solid {t.outline}; }}
QAbstractItemView {{ outline: none; }}
QListView::item {{ padding: 6px 8px; border-radius: 6px; }}
QListView::item:hover, QTableView::item:hover, QTreeView::item:hover {{ background: {t.hover}; }}
QListView::item:selected, QTableView::item:selected, QTreeView::item:selected {{
    background: {t.accent_soft}; color: {t.text};
}}
QTableView {{ gridline-color: {t.line}; border: 1px solid {t.line}; border-radius: {t.radius}px; }}
QAbstractItemView[plain="true"] {{ background: transparent; }}
QAbstractItemView[sidebar="true"] {{ background: {t.ground}; }}
QTableView:focus, QListView:focus, QTextEdit:focus {{ border: 2px solid {t.accent_text}; }}
QHeaderView::section {{
    background: {t.ground}; color: {t.dim}; border: none; border-bottom: 1px solid {t.line}; padding: 6px 8px;
}}
QTableCornerButton::section {{ background: {t.ground}; border: none; }}
QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0px; }}
QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0px; }}
QScrollBar::handle {{ background: {t.pressed}; border-radius: 3px; margin: 3px; }}
QScrollBar::handle:hover {{ background: {t.outline}; }}
QScrollBar::handle:vertical {{ min-height: 32px; }}
QScrollBar::handle:horizontal {{ min-width: 32px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0px; height: 0px; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; }}
QMenu {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 6px; }}
QMenu::item {{ padding: 6px 24px 6px 28px; border-radius: 6px; background: transparent; }}
QMenu::item:selected {{ background: {t.hover}; }}
QMenu::item:disabled {{ color: {t.outline}; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: 6px 8px; }}
QMenu::indicator {{ width: 14px; height: 14px; left: 8px; background: transparent; border: none; }}
QMenu::indicator:checked {{ image: {tick}; }}
QMenu::icon {{ left: 8px; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.outline}; padding: 6px 8px; }}
QProgressBar {{
    background: {t.sunken}; color: {t.text}; border: none; border-radius: {t.radius - 2}px; text-align: center;
    min-height: 20px;
}}
QProgressBar::chunk {{ background: {t.accent_soft}; border-radius: {t.radius - 2}px; }}
QFrame[frameShape="4"] {{ background: {t.line}; border: none; max-height: 1px; }}
QSplitter::handle {{ background: transparent; }}
QSplitter::handle:hover {{ background: {t.line}; }}
QGroupBox {{ border: none; margin-top: 20px; font-weight: 600; }}
QGroupBox::title {{ subcontrol-origin: margin; left: 0px; }}
QSlider::groove:horizontal {{ height: 4px; background: {t.sunken}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {t.accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{
    background: {t.accent}; border: 2px solid {t.surface}; width: 14px; height: 14px; margin: -7px 0px;
    border-radius: 9px;
}}
QSlider::handle:horizontal:focus {{ border-color: {t.text}; }}
QTabBar::tab {{
    background: transparent; color: {t.dim}; padding: 6px 12px; border: 2px solid transparent;
    border-radius: {t.radius}px; margin-right: 4px;
}}
QTabBar::tab:hover {{ background: {t.hover}; }}
QTabBar::tab:selected {{ background: {t.sunken}; color: {t.text}; }}
QTabBar::tab:focus {{ border-color: {t.accent_text}; }}
QTabWidget::pane {{ border: none; }}
"""


def _picture(name: str, tokens: Tokens) -> str:
    """Returns the style-sheet URL of a drawing in the theme's colour. Qt style sheets only support image files."""
    return f'url("{resource("icons", "controls", f"{name}-{tokens.scheme}.svg").as_posix()}")'


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
