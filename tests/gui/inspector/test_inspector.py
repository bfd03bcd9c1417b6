"""The inspector below the conversation: its tabs, its table of requests, and why an answer was slow, in words."""

import logging
import re

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.conversation.record.latency import PIECES, Answer, Cause, Reason
from app.diagnostics.logs import Log
from app.gui.inspector.latency import LatencyWords
from app.gui.inspector.requests import RequestsPage
from app.gui.logs.view import LogPage
from app.gui.window.main_window import MainWindow
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import open_dialog, press, say, shown, spoken, until


def click_tab(window: MainWindow, words: str) -> None:
    tabs = window.inspector.tabs
    place = next(n for n in range(tabs.count()) if tabs.tabText(n) == words)
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(place).center())


def some_log() -> Log:
    log = Log(100)
    log.add(1.0, logging.INFO, "app", "The first line.", "", "MainThread")
    return log


async def test_the_tabs_are_gone_through_by_mouse_and_keyboard() -> None:
    async with shown(FakeFactory(), Settings(), log=some_log()) as window:
        inspector = window.inspector
        words = [inspector.tabs.tabText(place) for place in range(inspector.tabs.count())]
        assert words == ["Timeline", "Latency", "Requests", "Log"]
        assert window.inspector.timeline.isVisible() and inspector.current == "timeline"
        click_tab(window, "Requests")
        page = window.inspector.requests
        assert page is not None and page.isVisible() and not window.inspector.timeline.isVisible()
        inspector.tabs.setFocus()
        QTest.keyClick(inspector.tabs, Qt.Key.Key_Left)
        view = window.inspector.latency
        assert view is not None and view.isVisible() and not page.isVisible()
        QTest.keyClick(inspector.tabs, Qt.Key.Key_Left)
        assert window.inspector.timeline.isVisible()


async def test_the_status_line_opens_it_at_the_page_that_is_meant() -> None:
    async with shown(FakeFactory(), Settings(), everything=False) as window:
        window.resize(1200, 900)
        say(window, *spoken(1, "How long?", "So long."))
        window.status.response.click()
        view = window.inspector.latency
        assert view is not None and view.isVisible() and view.strip.hasFocus()
        window.mini.click()
        assert window.inspector.timeline.isVisible() and window.inspector.isVisible()
        window.mini.click()
        assert not window.inspector.isVisible()
        QTest.keySequence(window, QKeySequence("Ctrl+L"))
        assert window.inspector.latency is view and view.isVisible()
        window.status.inspector_button.click()
        assert not window.inspector.isVisible()


async def test_the_log_is_followed_and_opened_as_a_whole() -> None:
    from app.gui.logs.panel import LogPanel

    log = some_log()
    async with shown(FakeFactory(), Settings(), log=log) as window:
        click_tab(window, "Log")
        page = window.inspector.pages.currentWidget()
        assert isinstance(page, LogPage) and page.table.rowCount() == 1
        log.add(2.0, logging.WARNING, "app", "Another line.", "", "MainThread")
        await until(lambda: page.table.rowCount() == 2)
        click_tab(window, "Timeline")
        assert not page._timer.isActive(), "what is not seen costs nothing"
        click_tab(window, "Log")
        press(window, "Open the whole log")
        assert open_dialog(window, LogPanel).table.rowCount() == 2


SMALL, LARGE = ("Embedded", "small"), ("OpenAI", "gpt-4.1")


def turn_with_four() -> list[e.Event]:
    """A turn whose first request was given up, whose third failed, and whose fourth was spoken."""
    return [
        e.OracleRequested(1.0, 1, 1, *SMALL, "How far", False),
        e.OracleDelta(1.4, 1, "It is about"),
        e.OracleRequested(2.0, 2, 1, *LARGE, "How far is it", False, True),
        e.OracleRequested(2.0, 3, 1, *SMALL, "How far is it", False),
        e.OracleSuperseded(2.5, 1, 3),
        e.OracleEnded(2.5, 1, "superseded", 3),
        e.OracleEnded(2.6, 3, "failed", 0),
        e.OracleDelta(3.0, 2, "Four hundred."),
        e.OracleEnded(3.1, 2, "complete", 2),
        e.OracleCounted(3.1, 2, *LARGE, 1200, 30, 0, True, 0.042, 1000.0, 9.0, 400.0),
        e.OracleRequested(3.5, 4, 1, *SMALL, "How far is it really", True),
        e.OracleDelta(5.7, 4, "Four hundred kilometres."),
        e.OracleEnded(5.8, 4, "complete", 3),
        e.OracleCounted(5.8, 4, *SMALL, 900, 12, 0, False, None, 2200.0, 9.0, 400.0),
        e.AssistantStarted(6.0, 1, 4),
        e.AssistantSaid(6.2, 1, "Four", 4),
    ]


def lines(page: RequestsPage) -> list[list[str]]:
    model = page.view.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def open_requests(window: MainWindow) -> RequestsPage:
    window.inspector.open_at("requests")
    return window.inspector.requests


async def test_every_request_has_a_line_the_newest_first(window: MainWindow) -> None:
    page = open_requests(window)
    assert page is not None and page.empty.isVisible() and not page.copy_button.isEnabled()
    say(window, *turn_with_four())
    assert lines(page) == [], "not for every batch"
    await until(lambda: len(lines(page)) == 4)
    assert lines(page) == [
        ["4", "1", "small", "5", "2.2 s", "3", "≈ 900", "≈ 12", "–", "spoken"],
        ["3", "1", "small", "4", "–", "0", "–", "–", "–", "failed"],
        ["2", "1", "gpt-4.1", "4", "1.0 s", "2", "1,200", "30", "$0.042", "compared"],
        ["1", "1", "small", "2", "400 ms", "3", "–", "–", "–", "replaced"],
    ]
    assert page.count.text() == "4 requests" and not page.empty.isVisible()
    say(window, e.OracleRequested(9.0, 5, 2, *SMALL, "And", False))
    await until(lambda: len(lines(page)) == 5)
    assert lines(page)[0] == ["5", "2", "small", "1", "–", "0", "–", "–", "–", "waiting"]
    say(window, e.OracleDelta(9.5, 5, "Well then"))
    await until(lambda: lines(page)[0][4:6] == ["500 ms", "2"] and lines(page)[0][-1] == "writing")


async def test_it_is_sorted_by_a_click_and_by_value(window: MainWindow) -> None:
    say(window, *turn_with_four())
    page = open_requests(window)

    def click(column: int) -> list[str]:
        heads = page.view.horizontalHeader()
        place = QPoint(heads.sectionViewportPosition(column) + 12, heads.height() // 2)
        QTest.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=place)
        return [line[column] for line in lines(page)]

    assert click(6) == ["–", "–", "≈ 900", "1,200"]
    assert click(6) == ["1,200", "≈ 900", "–", "–"]
    assert click(4) == ["–", "400 ms", "1.0 s", "2.2 s"]
    assert click(0) == ["1", "2", "3", "4"]


async def test_it_is_copied_as_text(window: MainWindow) -> None:
    say(window, *turn_with_four())
    page = open_requests(window)
    page.copy_button.click()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert copied[0].split("\t")[:4] == ["No.", "Turn", "Model", "Asked"]
    assert [line.split("\t") for line in copied[1:]] == lines(page)
    page.view.selectRow(1)
    page.view.setFocus()
    QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().splitlines()[1:] == ["\t".join(lines(page)[1])]


async def test_it_holds_the_conversation_that_is_shown() -> None:
    factory, history = FakeFactory(), FakeHistory()
    async with shown(factory, history=history) as window:
        say(window, *spoken(1, "What is it?", "A test."))
        old = window.talks.key
        page = open_requests(window)
        assert page is not None and len(lines(page)) == 1
        window.starter.start_fresh()
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is factory.session)
        await until(lambda: lines(page) == [])
        window.talks.open(history.views[old])
        await until(lambda: len(factory.sessions) == 3 and window.manager.session is factory.session)
        await until(lambda: len(lines(page)) == 1)
        say(window, *spoken(1, "And then?", "Another one."))
        await until(lambda: len(lines(page)) == 2)
        assert [line[0] for line in lines(page)] == ["1", "1"], "each session counts from 1"


SLOW = Answer(1, 2.0, "words", {}, dict.fromkeys(PIECES, 0.4))


@pytest.mark.parametrize("cause", Cause, ids=lambda cause: cause.name)
@pytest.mark.parametrize("usual", [None, 0.3])
def test_each_cause_is_told_in_words(cause: Cause, usual: float | None) -> None:
    said = LatencyWords().why(Reason(cause, 1.64, usual, "gpt-4.1", count=3), SLOW, "backend")
    assert said.endswith(".") and ("(3)" if cause is Cause.FELL_BEHIND else "1.64 s") in said
    assert not re.search(r"[{}]|\s\s|\.\.", said)
