"""The command palette over a window: opened, searched and left by keys, and what its commands do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.gui.design.theme import apply_theme
from app.gui.palette.delegate import COMMAND_ROLE
from app.gui.palette.palette import CommandPalette
from app.gui.state.choice import WindowChoices
from app.gui.window.main_window import MainWindow
from app.history.base import ConversationView
from app.session.control import BackendChoice
from app.settings.window_state import WindowState
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import PROVIDERS, FakeBackendService, FakeFactory
from tests.gui.helpers import shown, until

CTRL = Qt.KeyboardModifier.ControlModifier


@asynccontextmanager
async def palette_over(recent: Sequence[object] = ()) -> AsyncIterator[tuple[MainWindow, CommandPalette]]:
    """A window with two conversations, and its palette opened by its keys; `recent`: the commands used last."""
    history = FakeHistory(ConversationView("a", "Why leaves turn <b>red</b>"), ConversationView("b", "Bread"))
    async with shown(
        FakeFactory(),
        state=WindowState(recent_commands=list(recent)),
        service=FakeBackendService(),
        history=history,
        choices=WindowChoices(backends=PROVIDERS),
    ) as window:
        await until(lambda: window.list.history is not None and window.list.history.known)
        await until(window.isActiveWindow)
        palette = window.quick.palette
        window.transcript.composer.field.setFocus()
        open_(window)
        yield window, palette


def open_(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_K, CTRL)
    assert window.quick.palette.isVisible() and window.quick.palette.field.hasFocus()


def choose(palette: CommandPalette, typed: str) -> None:
    QTest.keyClicks(palette.field, typed)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)


async def test_it_opens_and_is_left_by_keys_and_gives_the_focus_back() -> None:
    async with palette_over() as (window, palette):
        QTest.keyClick(palette.field, Qt.Key.Key_Escape)
        assert not palette.isVisible() and window.transcript.composer.field.hasFocus()
        open_(window)
        QTest.keyClick(palette.field, Qt.Key.Key_K, CTRL)
        assert not palette.isVisible()


async def test_a_command_does_what_the_menu_does() -> None:
    async with palette_over() as (window, palette):
        made: list[bool] = []
        window.menu.new_talk.connect(lambda: made.append(palette.isVisible()))
        choose(palette, "new conv")
        assert made == [False], "it has closed before"
        open_(window)
        choose(palette, "mute mic")
        assert window.menu.mute_action.isChecked() and window.manager.wanted.muted


async def test_only_what_can_be_used_is_offered_and_not_the_palette_itself() -> None:
    async with palette_over() as (window, palette):
        assert not window.menu.hand_action.isEnabled()
        titles = palette.titles()
        assert "New conversation" in titles and "Quit" in titles
        assert "Switch to the comparison model" not in titles and "Commands…" not in titles
        assert "Log…" not in titles, "there is no log here"
        quit_ = next(
            palette.list.model().index(place, 0).data(COMMAND_ROLE)
            for place, title in enumerate(titles)
            if title == "Quit"
        )
        assert (quit_.keys, quit_.place) == ("Ctrl+Q", "Conversation")


async def test_a_setting_opens_where_it_is() -> None:
    async with palette_over() as (window, palette):
        choose(palette, "text size")
        dialog = window.panels.settings
        assert dialog is not None and dialog.isVisible() and dialog.area.title.text() == "General"
        assert dialog.rows["font_scale"].isVisible()


async def test_a_conversation_is_opened_by_its_title_which_is_plain_text() -> None:
    async with palette_over() as (window, palette):
        QTest.keyClicks(palette.field, "leaves")
        assert palette.titles() == ["Why leaves turn <b>red</b>"]
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        await until(lambda: window.talks.key == "a")


async def test_a_model_is_picked_by_its_name() -> None:
    async with palette_over() as (window, palette):
        choose(palette, "haiku")
        assert window.setup.choice == BackendChoice("anthropic", "claude-haiku-4-5")


async def test_arrows_choose_and_go_round() -> None:
    async with palette_over() as (_window, palette):
        last = len(palette.titles()) - 1
        QTest.keyClick(palette.field, Qt.Key.Key_Up)
        assert palette.list.currentIndex().row() == last
        QTest.keyClick(palette.field, Qt.Key.Key_Down)
        QTest.keyClick(palette.field, Qt.Key.Key_Down)
        assert palette.list.currentIndex().row() == 1 and palette.field.hasFocus()
        QTest.keyClick(palette.field, Qt.Key.Key_PageUp)
        assert palette.list.currentIndex().row() == 0
        assert "New conversation" in palette.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)


async def test_what_was_used_is_first_and_remembered_but_no_conversation() -> None:
    async with palette_over() as (window, palette):
        choose(palette, "bread")
        await until(lambda: window.talks.key == "b")
        open_(window)
        choose(palette, "text size")
        window.panels.settings.close()
        window.activateWindow()
        await until(window.isActiveWindow)
        open_(window)
        assert palette.titles()[:2] == ["Text size", "Bread"]
        window.keep.close()
        kept = WindowState.load(window.settings.path.with_name("window.json")).recent_commands
        assert kept == ["setting:General:Text size"]
    async with palette_over(kept) as (_, palette):
        assert palette.titles()[0] == "Text size"
    async with palette_over([{"nonsense": 1}, 4]) as (_, palette):
        assert palette.titles()[0] == "New conversation"


async def test_a_click_elsewhere_closes_it_and_one_on_a_line_runs_it() -> None:
    async with palette_over() as (window, palette):
        QTest.mouseClick(window.transcript.view.viewport(), Qt.MouseButton.LeftButton)
        assert not palette.isVisible()
        open_(window)
        QTest.keyClicks(palette.field, "text size")
        rect = palette.list.visualRect(palette.list.model().index(0, 0))
        QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
        assert not palette.isVisible() and window.panels.settings is not None


async def test_nothing_found_is_said_and_enter_does_nothing() -> None:
    async with palette_over() as (_window, palette):
        choose(palette, "qqqqq")
        assert palette.isVisible() and palette.nothing.isVisible() and not palette.list.isVisible()


@pytest.mark.parametrize("percent", [100, 200])
async def test_it_stays_inside_of_a_small_window(qapp: QApplication, percent: int) -> None:
    apply_theme(qapp, "light", percent)
    try:
        async with palette_over() as (window, palette):
            window.resize(window.minimumSize())
            QApplication.processEvents()
            assert window.rect().contains(palette.geometry())
            assert palette.rect().contains(palette.list.geometry())
            assert palette.list.height() >= palette.list.sizeHintForRow(0)
    finally:
        apply_theme(qapp, "light")
