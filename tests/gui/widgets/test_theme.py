"""Light, dark and as the system has it: all can be read in each, follows at once, and has the size that is wanted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.gui.settings.dialog import SettingsDialog
from app.gui.widgets import theme
from app.gui.widgets.palette import STATE_COLOURS, Look
from app.gui.widgets.theme import apply_theme, palette_of, reduce_motion, reduced_motion
from app.settings.declarations import Settings, choices_of
from tests.gui.widgets.test_palette import contrast

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
    """The application, and afterwards as it was."""
    palette, font, tip = QPalette(qapp.palette()), qapp.font(), QPalette(QToolTip.palette())
    yield qapp
    manager = qapp.findChild(theme._Manager)
    if manager is not None:
        qapp.styleHints().colorSchemeChanged.disconnect(manager._paint)
        manager.setParent(None)
    qapp.styleHints().unsetColorScheme()
    qapp.setPalette(palette)
    for name in theme.OUTLINED:
        qapp.setPalette(palette, name)
    QToolTip.setPalette(tip)
    qapp.setFont(font)
    reduce_motion(False)


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


@pytest.mark.parametrize("dark", [False, True])
def test_every_kind_of_text_can_be_read(app: QApplication, dark: bool) -> None:
    apply_theme(app, "dark" if dark else "light")
    palette = app.palette()
    poor = [(ink, ground) for ink, ground in PAIRS if contrast(palette.color(ink), palette.color(ground)) < 4.5]
    assert poor == []
    tip = QToolTip.palette()
    assert contrast(tip.color(R.ToolTipText), tip.color(R.ToolTipBase)) >= 4.5
    look = Look.of(palette)
    assert look.dark == dark
    for ground in (look.base, look.user_card, look.plain_card, look.live_card):
        for ink in (look.text, look.dim, look.accent, look.bad):
            assert contrast(ink, ground) >= 4.5, (ink.name(), ground.name())


@pytest.mark.parametrize("dark", [False, True])
def test_controls_stand_out_from_the_window(app: QApplication, dark: bool) -> None:
    palette = palette_of(dark)
    window, base = palette.color(R.Window), palette.color(R.Base)
    outline = theme._OUTLINES[dark].darker(140)
    focus = palette.color(R.Highlight).darker(125)
    for line in (outline, focus):
        assert contrast(line, window) >= 2.9 and contrast(line, base) >= 2.4
    assert contrast(window, base) >= 1.08
    for state in STATE_COLOURS.values():
        assert contrast(state, window) >= 1.5
    disabled = QPalette.ColorGroup.Disabled
    assert palette.color(disabled, R.ButtonText) != palette.color(R.ButtonText)


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


def test_every_theme_of_the_settings_is_one(app: QApplication) -> None:
    for choice in choices_of("theme"):
        apply_theme(app, choice)
        assert is_dark(app) == (choice == "dark")


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
    narrow, low = dialog.minimumWidth(), row.editor.text.height()
    for name in ("dark", "light"):
        apply_theme(app, name, 170)
        QApplication.processEvents()
        for label in (row.words, row.refusal, row.label):
            palette = label.palette()
            assert contrast(palette.color(R.WindowText), app.palette().color(R.Window)) >= 4.5
        picture = dialog.grab().toImage()
        assert (picture.pixelColor(3, 3).lightnessF() < 0.5) == (name == "dark")
    assert dialog.minimumWidth() > 1.4 * narrow and row.editor.text.height() > 1.4 * low
    assert dialog.groups.sizeHintForColumn(0) <= dialog.groups.viewport().width()


def test_motion_is_reduced_when_it_is_wanted(app: QApplication) -> None:
    assert not reduced_motion()
    reduce_motion(True)
    assert reduced_motion()
    reduce_motion(False)
    assert not reduced_motion()
