"""Parts of the system in the settings: the start at login, and the check for new versions."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest

from app.cli import parser
from app.gui.settings.rows import SettingRow
from app.gui.window import app
from app.gui.window.main_window import MainWindow
from app.platform import single_instance
from app.services.updates import UpdateAnswer, UpdateService
from app.session.control import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import press, shown, until


@dataclass
class FakeLogin:
    """Starts the app at login if `on`; refuses what raises."""

    on: bool = False
    supported: bool = True
    refusal: OSError | None = None
    calls: list[bool] = field(default_factory=list)

    def is_supported(self) -> bool:
        return self.supported

    def is_on(self) -> bool:
        return self.on

    def set_on(self, on: bool) -> None:
        self.calls.append(on)
        if self.refusal is not None:
            raise self.refusal
        self.on = on


def row_of(window: MainWindow) -> SettingRow:
    window.panels.open_settings("launch_at_login")
    return window.panels.settings.rows["launch_at_login"]


async def test_it_is_off_until_it_is_switched_on() -> None:
    login = FakeLogin()
    async with shown(FakeFactory(), Settings(), start_at_login=login) as window:
        row = row_of(window)
        assert login.calls == [] and not row.value
        QTest.keyClick(row.editor.box, Qt.Key.Key_Space)
        assert login.on and window.settings.launch_at_login
        QTest.keyClick(row.editor.box, Qt.Key.Key_Space)
        assert not login.on and not window.settings.launch_at_login


async def test_what_the_system_refuses_is_told_and_taken_back() -> None:
    login = FakeLogin(refusal=PermissionError(13, "Permission denied"))
    async with shown(FakeFactory(), Settings(), start_at_login=login) as window:
        row = row_of(window)
        QTest.keyClick(row.editor.box, Qt.Key.Key_Space)
        assert row.refusal.text() == "This could not be changed (Permission denied)."
        await until(lambda: not row.value)
        assert not window.settings.launch_at_login and row.refusal.isVisible()


async def test_a_failure_is_said_in_the_window_if_the_settings_are_closed() -> None:
    login = FakeLogin(refusal=PermissionError(13, "Permission denied"))
    async with shown(FakeFactory(), Settings(), start_at_login=login) as window:
        palette = window.quick.palette
        palette.open()
        QTest.keyClicks(palette.field, "start at login: on")
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        assert window.messages.sentences() == ["Start at login: This could not be changed (Permission denied)."]
        await until(lambda: not window.settings.launch_at_login)
        login.refusal = None
        window.keep.change("launch_at_login", True)
        assert login.on and window.messages.sentences() == []


@pytest.mark.parametrize("login", [None, FakeLogin(supported=False)])
async def test_where_it_cannot_be_the_settings_say_so(login: FakeLogin | None) -> None:
    async with shown(FakeFactory(), Settings(), start_at_login=login) as window:
        row = row_of(window)
        assert not row.editor.isEnabled() and row.note.text() == "This copy of KAME can't be started at login."


@pytest.mark.parametrize("on", [True, False])
async def test_what_was_changed_elsewhere_is_shown(on: bool) -> None:
    login = FakeLogin(on=on)
    settings = Settings(launch_at_login=not on)
    async with shown(FakeFactory(), settings, start_at_login=login) as window:
        assert row_of(window).value is on and window.settings.launch_at_login is on and login.calls == []


def test_the_command_line_passes_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[Path | None, bool]] = []
    monkeypatch.setattr("app.main.open_window", lambda report, *, hidden: opened.append((report, hidden)) or 0)
    assert parser.main(["--hidden"]) == parser.main([]) == 0
    assert opened == [(None, True), (None, False)]


def test_a_hidden_start_leaves_a_window_that_is_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Taken:
        def listen(self) -> bool:
            return False

    told: list[str] = []
    monkeypatch.setattr(single_instance, "tell", told.append)
    assert app._bring_forward_or_be(Taken(), hidden=True) == (False, "") and told == []  # type: ignore[arg-type]
    assert app._bring_forward_or_be(Taken()) == (False, "") and told == ["raise"]  # type: ignore[arg-type]


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
        [message] = [row for row in window.messages.rows if row.topic == "update"]
        assert opened == []
        press(message, "Open the page")
        assert opened == [QUrl(PAGE)]
        QTest.keyClick(row.editor.box, Qt.Key.Key_Space)
        assert not row.note.isVisible() and not window.settings.check_updates and updates.asked == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (UpdateAnswer("This is the newest version, 0.1.0."), "This is the newest version, 0.1.0."),
        (UserError("The address for new versions can't be reached."), "can't be reached"),
    ],
)
async def test_it_looks_at_the_start_and_tells_in_the_settings_only_what_nobody_needs_at_once(
    answer: UpdateAnswer | Exception, words: str
) -> None:
    updates = FakeUpdates(answer=answer)
    async with shown(FakeFactory(), Settings(check_updates=True), updates=updates) as window:
        await until(lambda: updates.asked == 1)
        window.panels.open_settings("check_updates")
        row = window.panels.settings.rows["check_updates"]
        await until(lambda: words in row.note.text())
        assert window.messages.sentences() == []


async def test_a_build_without_an_address_says_so_and_never_asks() -> None:
    updates = FakeUpdates(feed="")
    async with shown(FakeFactory(), Settings(check_updates=True), updates=updates) as window:
        window.panels.open_settings("check_updates")
        row = window.panels.settings.rows["check_updates"]
        assert row.note.text() == "This build of KAME has no address to ask." and not row.editor.isEnabled()
        window.keep.change("check_updates", False)
        window.keep.change("check_updates", True)
        assert updates.asked == 0 and row.note.text() == "This build of KAME has no address to ask."
