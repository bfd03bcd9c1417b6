"""New versions: looked for only where that is switched on, told in a message with their page, and in the settings."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest

from app.services.updates import UpdateAnswer, UpdateService
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import shown, until

PAGE = "https://example.org/kame"
NEWER = UpdateAnswer("KAME Desktop 0.2.0 is there; this is 0.1.0.", PAGE)


@dataclass
class FakeUpdates(UpdateService):
    """Answers what it is given, and counts."""

    answer: UpdateAnswer | Exception | None = NEWER
    feed: str = "https://example.org/feed"
    asked: int = 0

    async def check(self) -> UpdateAnswer | None:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_it_is_off_until_it_is_switched_on_in_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    updates = FakeUpdates()
    async with shown(FakeFactory(), Settings(), updates=updates) as window:
        window.panels.open_settings("check_updates")
        row = window.panels.settings.rows["check_updates"]
        assert row.isVisible() and not row.value and updates.asked == 0 and not row.note.isVisible()
        QTest.keyClick(row.editor.box, Qt.Key.Key_Space)
        await until(lambda: NEWER.sentence in window.messages.sentences())
        assert updates.asked == 1 and window.settings.check_updates
        assert row.note.isVisible() and row.note.text() == NEWER.sentence
        [message] = [row for row in window.messages.rows if row.message.topic == "update"]
        assert message.message.offer == "Open the page" and opened == []
        message.offer_taken.emit()
        assert opened == [QUrl(PAGE)]
        QTest.keyClick(row.editor.box, Qt.Key.Key_Space)
        assert not row.note.isVisible() and not window.settings.check_updates and updates.asked == 1


async def test_it_looks_at_the_start_where_it_is_on() -> None:
    updates = FakeUpdates(answer=UpdateAnswer("This is the newest version, 0.1.0."))
    async with shown(FakeFactory(), Settings(check_updates=True), updates=updates) as window:
        await until(lambda: updates.asked == 1)
        window.panels.open_settings("check_updates")
        row = window.panels.settings.rows["check_updates"]
        await until(lambda: row.note.text() == "This is the newest version, 0.1.0.")
        assert window.messages.sentences() == [], "nobody needs to know at once that nothing has changed"


async def test_a_failure_is_told_in_the_settings_only() -> None:
    updates = FakeUpdates(answer=UserError("The address for new versions can't be reached."))
    async with shown(FakeFactory(), Settings(check_updates=True), updates=updates) as window:
        window.panels.open_settings("check_updates")
        row = window.panels.settings.rows["check_updates"]
        await until(lambda: "can't be reached" in row.note.text())
        assert window.messages.sentences() == []


async def test_a_build_without_an_address_says_so_and_never_asks() -> None:
    updates = FakeUpdates(feed="")
    async with shown(FakeFactory(), Settings(check_updates=True), updates=updates) as window:
        window.panels.open_settings("check_updates")
        row = window.panels.settings.rows["check_updates"]
        assert row.note.text() == "This build of KAME has no address to ask." and not row.editor.isEnabled()
        window.live.change("check_updates", False)
        window.live.change("check_updates", True)
        assert updates.asked == 0 and row.note.text() == "This build of KAME has no address to ask."
