"""The dialog “Log”: entries are shown, filtered, read and copied; diagnostics go to the clipboard."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl, qCritical, qWarning
from PySide6.QtGui import QDesktopServices, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.diagnostics.logs import Log
from app.gui.logs.panel import UPDATE_MS, LogPanel
from app.gui.logs.qt_messages import qt_logged
from app.gui.logs.table_model import LEVEL, MESSAGE, TIME, WHERE
from app.gui.state.background_tasks import BackgroundTasks
from app.session.control import UserError
from tests.gui.helpers import nothing_left, until

NOON = 1_700_000_000.25
TRACE = 'Traceback (most recent call last):\n  File "x.py", line 3\nValueError: no such card'


class Place:
    """The dialog with its log; `asked` collects whether each request for diagnostics included what was said."""

    def __init__(self, kept: int) -> None:
        self.parent = QWidget()
        self.log = Log(kept)
        self.background = BackgroundTasks(self.parent)
        self.asked: list[bool] = []
        self.refusal: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.panel = LogPanel(self.log, self.diagnose, self.background, self.parent)

    async def diagnose(self, with_words: bool) -> str:
        self.asked.append(with_words)
        await self.gate.wait()
        if self.refusal is not None:
            raise self.refusal
        return f"diagnostics, words: {with_words}"

    def note(
        self, message: str, level: int = logging.INFO, where: str = "app.gui.window.main_window", details: str = ""
    ) -> None:
        self.log.add(NOON, level, where, message, details, "MainThread")

    def rows(self, column: int = MESSAGE) -> list[str]:
        table = self.panel.table
        return [table.index(row, column).data() for row in range(table.rowCount())]

    def choose(self, row: int) -> None:
        view = self.panel.view
        QTest.mouseClick(
            view.viewport(),
            Qt.MouseButton.LeftButton,
            pos=view.visualRect(self.panel.table.index(row, MESSAGE)).center(),
        )


@asynccontextmanager
async def opened(kept: int = 2_000, *lines: str) -> AsyncIterator[Place]:
    """The panel on screen. Checks that no task is left behind."""
    async with nothing_left():
        place = Place(kept)
        for line in lines:
            place.note(line)
        try:
            place.panel.open_log()
            await until(place.panel.isActiveWindow)
            yield place
        finally:
            place.panel.close()
            await place.background.close()
            await asyncio.sleep(0)
            place.parent.deleteLater()


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with opened() as place:
        yield place


async def test_entries_are_shown_while_the_dialog_is_open() -> None:
    async with opened(2_000, "first") as place:
        panel = place.panel
        assert place.rows() == ["first"] and panel.count.text() == "1 entry"
        place.note("second\nand more", logging.WARNING)
        place.note("", logging.ERROR, "asyncio", TRACE)
        assert place.rows() == ["first"], "gathered, not one by one"
        await until(lambda: len(place.rows()) == 3)
        assert place.rows() == ["first", "second …", "ValueError: no such card"]
        assert place.rows(LEVEL) == ["Note", "Warning", "Error"]
        assert place.rows(WHERE) == ["app.gui.window.main_window", "app.gui.window.main_window", "asyncio"]
        local = time.strftime("%H:%M:%S", time.localtime(NOON))
        assert place.rows(TIME) == [f"{local}.250"] * 3
        assert UPDATE_MS >= 250, "at most four times a second"
        panel.close_button.click()
        assert not panel._update_timer.isActive()
        place.note("unseen")
        panel.open_log()
        assert place.rows()[-1] == "unseen"


async def test_levels_and_words_filter_the_entries(place: Place) -> None:
    panel = place.panel
    assert panel.empty.isVisible() and panel.empty.text() == "Nothing has been logged yet."
    place.note("The Card is here")
    place.note("the card got hot", logging.WARNING)
    place.note("it failed", logging.ERROR, "app.main", TRACE)
    place.note("aborted", logging.CRITICAL, "qt")
    panel.catch_up()
    assert not panel.empty.isVisible()
    QTest.keyClicks(panel.search, "CARD")
    await until(lambda: len(place.rows()) == 3)
    assert place.rows() == ["The Card is here", "the card got hot", "it failed"], "the traceback counts, too"
    assert panel.count.text() == "3 of 4 entries"
    QTest.keyClicks(panel.search, " hot")
    QTest.keyClick(panel.search, Qt.Key.Key_Return)
    assert place.rows() == ["the card got hot"] and panel.isVisible()
    place.note("the card is hot again", logging.WARNING)
    place.note("all is well")
    panel.catch_up()
    assert place.rows() == ["the card got hot", "the card is hot again"]
    panel.search.clear()
    await until(lambda: len(place.rows()) == 6)
    panel.level.setFocus()
    QTest.keyClick(panel.level, Qt.Key.Key_Down)
    assert panel.level.currentText() == "Warnings and worse"
    assert place.rows() == ["the card got hot", "it failed", "aborted", "the card is hot again"]
    QTest.keyClick(panel.level, Qt.Key.Key_Down)
    assert place.rows(LEVEL) == ["Error", "Bug"]
    panel.search.setText("nowhere")
    await until(lambda: panel.empty.isVisible())
    assert panel.empty.text().startswith("No entry matches.")


async def test_an_entry_is_shown_in_full_and_entries_are_copied(place: Place) -> None:
    panel = place.panel
    place.note("loaded")
    place.note("it failed", logging.ERROR, "app.main", TRACE)
    place.note("went on")
    panel.catch_up()
    assert not panel.copy_button.isEnabled() and panel.details.toPlainText() == ""
    place.choose(1)
    text = panel.details.toPlainText()
    assert text.startswith(time.strftime("%Y-%m-%d", time.localtime(NOON))) and text.endswith(TRACE)
    assert "Error  app.main  [MainThread]\nit failed" in text
    QTest.keyClick(panel.view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keySequence(panel.view, QKeySequence(QKeySequence.StandardKey.Copy))
    copied = QApplication.clipboard().text()
    assert TRACE in copied and copied.rstrip().endswith("went on") and "loaded" not in copied
    assert panel.answer.text() == "Copied 2 entries."
    place.choose(0)
    panel.copy_button.click()
    assert QApplication.clipboard().text().endswith("\nloaded\n") and panel.answer.text() == "Copied 1 entry."
    place.note("newer")
    panel.catch_up()
    assert panel.details.toPlainText().endswith("loaded"), "what is read stays"


async def test_the_log_is_cleared_and_goes_on() -> None:
    async with opened(2_000, "old", "older") as place:
        place.choose(0)
        place.panel.clear_button.click()
        assert place.rows() == [] and place.log.entries() == () and place.panel.details.toPlainText() == ""
        assert not place.panel.clear_button.isEnabled() and not place.panel.copy_button.isEnabled()
        place.note("new")
        place.panel.catch_up()
        assert place.rows() == ["new"]


async def test_the_newest_entry_is_followed_until_the_user_scrolls() -> None:
    async with opened(300, *(f"line {number}" for number in range(300))) as place:
        panel, bar = place.panel, place.panel.view.verticalScrollBar()
        await until(lambda: bar.maximum() > 100)
        panel.catch_up()
        assert bar.value() == bar.maximum() and not panel.newest_button.isEnabled()
        for number in range(10):
            place.note(f"later {number}")
        panel.catch_up()
        assert place.rows()[0] == "line 10" and place.rows()[-1] == "later 9" and len(place.rows()) == 300
        assert bar.value() == bar.maximum()
        bar.setValue(100)
        top = place.rows()[100]
        assert panel.newest_button.isEnabled()
        for number in range(25):
            place.note(f"last {number}")
        panel.catch_up()
        assert place.rows()[bar.value()] == top, "what is read does not move away"
        panel.newest_button.click()
        assert bar.value() == bar.maximum() and not panel.newest_button.isEnabled()


async def test_diagnostics_are_copied_without_words_unless_asked(place: Place) -> None:
    panel = place.panel
    assert not panel.words.isChecked()
    place.gate.clear()
    panel.diagnostics_button.click()
    assert not panel.diagnostics_button.isEnabled() and panel.answer.text() == "Writing …"
    place.gate.set()
    await until(panel.diagnostics_button.isEnabled)
    assert QApplication.clipboard().text() == "diagnostics, words: False"
    assert panel.answer.text() == "Copied, without keys and without what was said."
    QTest.keyClick(panel.words, Qt.Key.Key_Space)
    panel.diagnostics_button.click()
    await until(lambda: "with what was said" in panel.answer.text())
    assert place.asked == [False, True] and QApplication.clipboard().text() == "diagnostics, words: True"
    place.refusal = UserError("The disk is gone.")
    panel.diagnostics_button.click()
    await until(lambda: panel.answer.text() == "The disk is gone.")
    assert panel.diagnostics_button.isEnabled()


async def test_the_folder_of_the_files_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: not shown.append(url))
    async with opened() as place:
        assert not place.panel.folder_button.isVisible(), "nothing is written"
        place.log.folder = tmp_path
        place.panel.open_log()
        place.panel.folder_button.click()
        assert shown == [QUrl.fromLocalFile(str(tmp_path))] and place.panel.answer.text() == ""
        monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: False)
        place.panel.folder_button.click()
        assert str(tmp_path) in place.panel.answer.text()


def test_qt_messages_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    flushed: list[str] = []
    with caplog.at_level("DEBUG"), qt_logged(lambda: flushed.append("now")):
        qWarning("a style sheet is wrong")
        qCritical("worse")
    qWarning("no longer")
    found = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert found == [("qt", "WARNING", "a style sheet is wrong"), ("qt", "ERROR", "worse")] and flushed == []
