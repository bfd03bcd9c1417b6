"""The window's panes: shown and hidden by keys, sized by hand, and found so again in the next window."""

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSplitter

from app.conversation import events as e
from app.gui.window.main_window import MainWindow
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import say, shown, until


def seen(window: MainWindow) -> list[bool]:
    return [pane.isVisible() for pane in (window.conversations, window.oracle, window.inspector.timeline)]


def press(window: MainWindow, keys: str) -> None:
    QTest.keySequence(window, QKeySequence(keys))


def drag(splitter: QSplitter, handle: int, by: int) -> None:
    grip = splitter.handle(handle)
    centre = grip.rect().center()
    step = QPoint(by, 0) if splitter.orientation() == Qt.Orientation.Horizontal else QPoint(0, by)
    QTest.mousePress(grip, Qt.MouseButton.LeftButton, pos=centre)
    QTest.mouseMove(grip, centre + step)
    QTest.mouseRelease(grip, Qt.MouseButton.LeftButton, pos=centre + step)


async def test_keys_show_and_hide_the_panes_and_the_menu_says_which_are_there(window: MainWindow) -> None:
    window.resize(1280, 860)
    await until(lambda: seen(window) == [True] * 3)
    for place, keys in enumerate(("Ctrl+1", "Ctrl+2", "Ctrl+3")):
        press(window, keys)
        expected = [other > place for other in range(3)]
        assert seen(window) == expected
        assert [action.isChecked() for action in window.panes.actions_] == expected
    assert window.transcript.isVisible(), "the conversation is always there"
    for keys in ("Ctrl+3", "Ctrl+2", "Ctrl+1"):
        press(window, keys)
    assert seen(window) == [True] * 3


async def test_at_first_only_the_conversations_and_the_transcript_are_open_and_a_small_window_does_without() -> None:
    async with shown(FakeFactory(), everything=False) as window:
        window.resize(1280, 860)
        await until(lambda: seen(window) == [True, False, False])
        window.resize(1000, 860)
        await until(lambda: seen(window) == [False, False, False])
        window.resize(1280, 860)
        await until(lambda: seen(window) == [True, False, False])
        assert not window.panes.chosen
        press(window, "Ctrl+1")
        window.resize(1000, 600)
        await until(lambda: window.width() == 1000)
        window.resize(1280, 860)
        await until(lambda: window.width() == 1280)
        assert seen(window) == [False, False, False], "as it was chosen"


async def test_the_oracle_stays_as_the_user_has_it() -> None:
    async with shown(FakeFactory(), everything=False) as window:
        window.resize(1280, 860)
        say(window, e.OracleRequested(1, 1, 1, "Embedded", "small", "how high", False))
        assert not window.oracle.isVisible(), "nothing moves while the user talks"


async def test_a_comparison_has_room_for_two_columns_and_gives_it_back() -> None:
    async with shown(FakeFactory()) as window:
        window.resize(1280, 860)
        before = window.oracle.width()
        say(window, e.SecondaryChanged(1, "OpenAI", "gpt"))
        await until(lambda: window.oracle.width() > before + 50)
        say(window, e.SecondaryChanged(2, "", ""))
        await until(lambda: abs(window.oracle.width() - before) < 5)


async def test_sizes_place_and_panes_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    async with shown(FakeFactory(), Settings(path=path), everything=False) as window:
        width = 780  # no larger than the screen of this test, or it would not be given back
        window.resize(width, 730)
        await until(lambda: seen(window) == [False, False, False])
        for keys, expected in (("Ctrl+3", [False, False, True]), ("Ctrl+1", [True, False, True])):
            press(window, keys)
            await until(lambda expected=expected: seen(window) == expected)
        await until(lambda: window.panes.columns.handle(1).x() == window.conversations.width() > 180)
        await asyncio.sleep(0.02)
        columns, rows = window.panes.columns.sizes(), window.panes.rows.sizes()
        drag(window.panes.columns, 1, -40)
        drag(window.panes.rows, 1, 20)
        await until(
            lambda: (window.panes.columns.sizes()[0], window.panes.rows.sizes()[1]) == (columns[0] - 40, rows[1] - 20)
        )
        columns, rows = window.panes.columns.sizes(), window.panes.rows.sizes()
        assert not window.booth.isVisible()
        press(window, "Ctrl+B")
    async with shown(FakeFactory(), Settings(path=path), everything=False) as window:
        await until(lambda: (window.width(), window.height()) == (width, 730))
        assert seen(window) == [True, False, True]
        await until(lambda: window.panes.columns.sizes() == columns and window.panes.rows.sizes() == rows)
        assert window.panes.chosen and window.booth.isVisible() and window.commands["booth"].isChecked()
        press(window, "Ctrl+2")
        await until(lambda: window.oracle.isVisible() and window.oracle.width() >= 260)


@pytest.mark.parametrize(
    "damaged",
    [
        *("", "[]", "\udcff\udcfe\x00"),
        '{"version": 1, "window": "§", "columns": "", "rows": "", "shown": []}',
        '{"version": 1, "window": "AAAA", "columns": "AAAA", "rows": "AAAA", "shown": 4}',
        '{"version": 1, "window": "AAAA", "columns": "AAAA", "rows": "AAAA", "shown": ["timeline"], "chosen": "yes"}',
    ],
)
async def test_a_damaged_layout_is_ignored(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "window.json").write_bytes(damaged.encode("utf-8", "surrogateescape"))
    async with shown(FakeFactory(), Settings(path=tmp_path / "settings.json"), everything=False) as window:
        assert window.transcript.isVisible() and window.width() >= 480
        window.resize(1280, 860)
        await until(lambda: seen(window) == [True, False, False])
        window.resize(760, 740)
        await until(lambda: window.height() == 740)
    async with shown(FakeFactory(), Settings(path=tmp_path / "settings.json"), everything=False) as window:
        assert window.height() == 740, "and it is written again"


@pytest.mark.parametrize("percent", [100, 125])
async def test_the_conversation_keeps_its_room_and_the_other_panes_give_way(percent: int) -> None:
    async with shown(FakeFactory(), Settings(font_scale=percent), everything=False) as window:
        window.resize(1400, 860)
        for keys in ("Ctrl+2", "Ctrl+3"):
            press(window, keys)
        await until(lambda: seen(window) == [True] * 3)
        for width in (1200, 900, 700, 900, 1400):
            window.resize(width, 600)
            await until(lambda width=width: window.width() == max(width, window.minimumWidth()))
            assert window.transcript.width() >= window.panes.least_width >= 420, f"at {width}"
        await until(lambda: seen(window) == [True] * 3)
