"""Generates the style sheet for Qt's own controls from the design tokens."""

from __future__ import annotations

from app.gui.design.tokens import Tokens
from app.platform.installation import resource


def style_sheet(tokens: Tokens) -> str:
    """Returns the application's style sheet. It sets no text sizes, which are determined by the widgets' fonts."""
    t = tokens
    quiet = f"background: {t.sunken}; color: {t.text}; border: 1px solid transparent"
    return "\n".join(
        (
            _buttons(t, quiet),
            _fields(t),
            _choices(t),
            _lists(t),
            _menus(t),
            _small_parts(t),
        )
    )


def _picture(name: str, tokens: Tokens) -> str:
    """Returns the style-sheet URL of a drawing in the theme's colour. Qt style sheets only support image files."""
    return f'url("{resource("icons", "controls", f"{name}-{tokens.scheme}.svg").as_posix()}")'


def _buttons(t: Tokens, quiet: str) -> str:
    faint = f"color: {t.outline}"
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
QToolButton[popupMode="1"]::menu-indicator {{ image: none; }}
"""


def _fields(t: Tokens) -> str:
    fields = "QLineEdit, QPlainTextEdit, QAbstractSpinBox, QComboBox"
    focus = ", ".join(f"{name.strip()}:focus" for name in fields.split(","))
    disabled = ", ".join(f"{name.strip()}:disabled" for name in fields.split(","))
    down, up = _picture("chevron-down", t), _picture("chevron-up", t)
    return f"""
{fields} {{
    background: {t.surface}; color: {t.text}; border: 1px solid {t.outline}; border-radius: {t.radius}px;
    padding: 5px 8px; selection-background-color: {t.accent}; selection-color: {t.on_accent};
}}
{focus} {{ border: 2px solid {t.accent_text}; padding: 4px 7px; }}
{disabled} {{ background: {t.ground}; color: {t.outline}; border-color: {t.line}; }}
QComboBox {{ padding-right: 26px; }}
QComboBox:focus {{ padding-right: 25px; }}
QAbstractSpinBox QLineEdit {{ border: none; padding: 0px; margin-left: 6px; background: transparent; }}
QComboBox QLineEdit, QTableView QLineEdit, QListView QLineEdit {{
    border: none; padding: 0px; background: transparent; border-radius: 0px;
}}
QTableView QLineEdit, QListView QLineEdit {{ background: {t.surface}; border: 1px solid {t.accent_text}; }}
QComboBox::drop-down {{ border: none; width: 26px; subcontrol-origin: border; subcontrol-position: center right; }}
QComboBox::down-arrow {{ image: {down}; width: 14px; height: 14px; }}
QComboBox QAbstractItemView {{
    background: {t.raised}; color: {t.text}; border: 1px solid {t.outline}; padding: 4px; outline: none;
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
"""


def _choices(t: Tokens) -> str:
    check, round_ = _picture("check", t), _picture("dot", t)
    both = "QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator"
    return f"""
QCheckBox, QRadioButton {{ spacing: 8px; padding: 4px 2px; background: transparent; border: 2px solid transparent;
    border-radius: 6px; }}
QCheckBox:focus, QRadioButton:focus {{ border: 2px solid {t.accent_text}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.outline}; }}
{both} {{ width: 16px; height: 16px; background: {t.surface}; border: 1px solid {t.outline}; border-radius: 4px; }}
QRadioButton::indicator {{ border-radius: 9px; }}
QCheckBox::indicator:hover, QRadioButton::indicator:hover {{ border-color: {t.accent_text}; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{
    background: {t.accent}; border-color: {t.accent}; image: {check};
}}
QRadioButton::indicator:checked {{ background: {t.accent}; border-color: {t.accent}; image: {round_}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ background: {t.ground}; border-color: {t.line}; }}
"""


def _lists(t: Tokens) -> str:
    return f"""
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
"""


def _menus(t: Tokens) -> str:
    check = _picture("tick", t)
    return f"""
QMenu {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 6px; }}
QMenu::item {{ padding: 6px 24px 6px 28px; border-radius: 6px; background: transparent; }}
QMenu::item:selected {{ background: {t.hover}; }}
QMenu::item:disabled {{ color: {t.outline}; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: 6px 8px; }}
QMenu::indicator {{ width: 14px; height: 14px; left: 8px; background: transparent; border: none; }}
QMenu::indicator:checked {{ image: {check}; }}
QMenu::icon {{ left: 8px; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.outline}; padding: 6px 8px; }}
"""


def _small_parts(t: Tokens) -> str:
    return f"""
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
