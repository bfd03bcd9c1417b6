"""Light, dark and as the system has it: all can be read in each, follows at once, and has the size that is wanted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.gui.design import theme
from app.gui.design.fonts import CODE_FAMILY, FAMILY
from app.gui.design.look import STATE_COLOURS, Look
from app.gui.design.theme import apply_theme
from app.gui.design.tokens import ACCENTS, tokens_for
from app.gui.settings.dialog import SettingsDialog
from app.settings.declarations import Settings
from tests.gui.pictures.test_contrast import luminance


def contrast(a: QColor, b: QColor) -> float:
    low, high = sorted(luminance(np.array([a.rgb(), b.rgb()])))
    return float((high + 0.05) / (low + 0.05))


R = QPalette.ColorRole
PAIRS = [
    (R.WindowText, R.Window),
    (R.Text, R.Base),
    (R.Text, R.AlternateBase),
    (R.ButtonText, R.Button),
    (R.HighlightedText, R.Highlight),
    (R.ToolTipText, R.ToolTipBase),
    (R.PlaceholderText, R.Base),
    (R.Link, R.Base),
    (R.Link, R.Window),
    (R.LinkVisited, R.Base),
    (R.Text, R.Window),
]


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    yield qapp
    qapp.styleHints().unsetColorScheme()


@pytest.fixture
def told(app: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Qt.ColorScheme]]:
    """What the system's scheme is; the screen of these tests has none."""
    told = [Qt.ColorScheme.Unknown]
    monkeypatch.setattr(theme, "_told", lambda app: told[-1])
    yield told


def system_turns(app: QApplication, told: list[Qt.ColorScheme], scheme: Qt.ColorScheme) -> None:
    told.append(scheme)
    app.styleHints().colorSchemeChanged.emit(scheme)


def is_dark(app: QApplication) -> bool:
    return Look.of(app.palette()).dark


THEMES = [(scheme, accent) for scheme in ("light", "dark") for accent in ACCENTS] + [("contrast", "teal")]


@pytest.mark.parametrize("theme, accent", THEMES)
def test_every_kind_of_text_can_be_read(app: QApplication, theme: str, accent: str) -> None:
    apply_theme(app, theme, accent=accent)
    palette = app.palette()
    poor = [(ink, ground) for ink, ground in PAIRS if contrast(palette.color(ink), palette.color(ground)) < 4.5]
    assert poor == []
    look = Look.of(palette)
    assert look.dark == (theme != "light")
    for ground in (look.base, look.user_card, look.plain_card, look.live_card):
        for ink in (look.text, look.dim, look.accent, look.bad):
            assert contrast(ink, ground) >= 4.5, (ink.name(), ground.name())


@pytest.mark.parametrize("scheme, accent", THEMES)
def test_the_tokens_keep_their_contrast(scheme: str, accent: str) -> None:
    tokens = tokens_for(scheme, accent)
    grounds = (tokens.ground, tokens.surface, tokens.raised, tokens.sunken)
    for ground in map(QColor, grounds):
        for name in ("text", "dim", "accent_text", "good", "warn", "bad"):
            assert contrast(QColor(getattr(tokens, name)), ground) >= 4.5, (name, ground.name())
        assert contrast(QColor(tokens.outline), ground) >= 2.7
    assert contrast(QColor(tokens.outline), QColor(tokens.surface)) >= 3.0
    for fill in (tokens.accent, tokens.accent_hover):
        assert contrast(QColor(tokens.on_accent), QColor(fill)) >= 4.5
    for ink in (tokens.text, tokens.accent_text):
        assert contrast(QColor(ink), QColor(tokens.accent_soft)) >= 4.5
    for ground in map(QColor, (tokens.hover, tokens.pressed)):
        assert contrast(QColor(tokens.text), ground) >= 4.5


@pytest.mark.parametrize("state", STATE_COLOURS)
def test_white_words_are_readable_on_the_talk_button(state: str) -> None:
    assert contrast(QColor("white"), STATE_COLOURS[state]) >= 4.5


def test_the_bundled_typefaces_are_used(app: QApplication) -> None:
    font = app.font()
    assert font.family() == FAMILY and QFontInfo(font).family() == FAMILY
    assert QFontInfo(QFont(CODE_FAMILY)).family() == CODE_FAMILY
    for weight in (QFont.Weight.Normal, QFont.Weight.Medium, QFont.Weight.DemiBold):
        font.setWeight(weight)
        assert QFontInfo(font).weight() == weight.value


def test_the_system_is_followed_while_it_changes(app: QApplication, told: list[Qt.ColorScheme]) -> None:
    apply_theme(app, "system")
    assert not is_dark(app)
    system_turns(app, told, Qt.ColorScheme.Dark)
    assert is_dark(app)
    system_turns(app, told, Qt.ColorScheme.Light)
    assert not is_dark(app)


def test_a_wish_of_ones_own_outweighs_the_system(app: QApplication, told: list[Qt.ColorScheme]) -> None:
    apply_theme(app, "dark")
    system_turns(app, told, Qt.ColorScheme.Light)
    assert is_dark(app)
    apply_theme(app, "system")
    assert not is_dark(app)
    apply_theme(app, "light")
    system_turns(app, told, Qt.ColorScheme.Dark)
    assert not is_dark(app)


def test_text_grows_in_what_is_shown_already_and_shrinks_back(app: QApplication, qtbot: QtBot) -> None:
    usual = app.font().pointSizeF()
    label, bold = QLabel("KAME"), QLabel("KAME")
    font = bold.font()
    font.setBold(True)
    bold.setFont(font)
    for one in (label, bold):
        qtbot.addWidget(one)
        one.show()
    width = label.sizeHint().width()
    apply_theme(app, "light", 150)
    QApplication.processEvents()
    for one in (label, bold):
        assert one.font().pointSizeF() == pytest.approx(usual * 1.5)
    assert bold.font().bold() and label.sizeHint().width() > 1.3 * width
    apply_theme(app, "light", 150)
    QApplication.processEvents()
    assert label.font().pointSizeF() == pytest.approx(usual * 1.5)
    apply_theme(app, "light")
    QApplication.processEvents()
    assert label.font().pointSizeF() == pytest.approx(usual) and label.sizeHint().width() == width


def test_what_is_open_follows_the_theme_and_the_size(app: QApplication, qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    apply_theme(app, "light")
    dialog = SettingsDialog(Settings(), host)
    dialog.open_refreshed("persona")
    row = dialog.rows["persona"]
    narrow, least, low = dialog.area.minimumWidth(), dialog.minimumWidth(), row.editor.text.height()
    for name in ("dark", "light"):
        apply_theme(app, name, 170)
        QApplication.processEvents()
        for label in (row.words, row.refusal, row.label):
            palette = label.palette()
            assert contrast(palette.color(R.WindowText), app.palette().color(R.Window)) >= 4.5
        picture = dialog.grab().toImage()
        assert (picture.pixelColor(3, 3).lightnessF() < 0.5) == (name == "dark")
    assert dialog.area.minimumWidth() > 1.4 * narrow and row.editor.text.height() > 1.4 * low
    assert dialog.minimumWidth() - least >= dialog.area.minimumWidth() - narrow
    assert dialog.pages.sizeHintForColumn(0) <= dialog.pages.viewport().width()
