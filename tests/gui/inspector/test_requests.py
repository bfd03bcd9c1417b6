"""The table of requests: events in, lines out; sorted, copied, and followed only while it is seen."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.design.model_colours import model_colour
from app.gui.inspector.requests import RequestsPage
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import dark_theme, say, shown, spoken, until

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
    """The table as it is shown."""
    model = page.view.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


async def test_every_request_has_a_line_the_newest_first() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        window.inspector.open_at("requests")
        page = window.inspector.requests
        assert page is not None and page.empty.isVisible() and not page.copy_button.isEnabled()
        say(window, factory, *turn_with_four())
        assert lines(page) == [], "not for every batch"
        await until(lambda: len(lines(page)) == 4)
        assert lines(page) == [
            ["4", "1", "small", "5", "2.2 s", "3", "≈ 900", "≈ 12", "–", "spoken"],
            ["3", "1", "small", "4", "–", "0", "–", "–", "–", "failed"],
            ["2", "1", "gpt-4.1", "4", "1.0 s", "2", "1,200", "30", "$0.042", "compared"],
            ["1", "1", "small", "2", "400 ms", "3", "–", "–", "–", "replaced"],
        ]
        assert page.count.text() == "4 requests" and not page.empty.isVisible()
        say(window, factory, e.OracleRequested(9.0, 5, 2, *SMALL, "And", False))
        await until(lambda: len(lines(page)) == 5)
        assert lines(page)[0] == ["5", "2", "small", "1", "–", "0", "–", "–", "–", "waiting"]
        say(window, factory, e.OracleDelta(9.5, 5, "Well then"))
        await until(lambda: lines(page)[0][4:6] == ["500 ms", "2"] and lines(page)[0][-1] == "writing")


async def test_it_is_sorted_by_a_click_and_by_value() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, *turn_with_four())
        window.inspector.open_at("requests")
        page = window.inspector.requests
        assert page is not None

        def click(column: int) -> list[str]:
            """Clicks the title of a column, and returns what stands below it."""
            heads = page.view.horizontalHeader()
            place = QPoint(heads.sectionViewportPosition(column) + 12, heads.height() // 2)
            QTest.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=place)
            return [line[column] for line in lines(page)]

        assert click(6) == ["–", "–", "≈ 900", "1,200"]
        assert click(6) == ["1,200", "≈ 900", "–", "–"]
        assert click(4) == ["–", "400 ms", "1.0 s", "2.2 s"]
        assert click(0) == ["1", "2", "3", "4"]


async def test_the_models_have_their_colours_in_light_and_dark() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, *turn_with_four())
        window.inspector.open_at("requests")
        page = window.inspector.requests
        assert page is not None

        def colours() -> list[QColor]:
            model = page.view.model()
            return [model.index(row, 2).data(Qt.ItemDataRole.DecorationRole) for row in range(model.rowCount())]

        assert colours()[0] == model_colour(*SMALL, dark=False) != colours()[2]
        with dark_theme():
            assert colours()[0] == model_colour(*SMALL, dark=True)


async def test_it_is_copied_as_text() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        await until(window.isActiveWindow)
        say(window, factory, *turn_with_four())
        window.inspector.open_at("requests")
        page = window.inspector.requests
        assert page is not None
        page.copy_button.click()
        copied = QGuiApplication.clipboard().text().splitlines()
        assert copied[0].split("\t")[:4] == ["No.", "Turn", "Model", "Asked"]
        assert [line.split("\t") for line in copied[1:]] == lines(page)
        page.view.selectRow(1)
        page.view.setFocus()
        QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.clipboard().text().splitlines()[1:] == ["\t".join(lines(page)[1])]


async def test_what_is_not_seen_is_not_read() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        window.inspector.open_at("requests")
        page = window.inspector.requests
        assert page is not None
        window.inspector.open_at("timeline")
        say(window, factory, *turn_with_four())
        await asyncio.sleep(0.4)
        assert lines(page) == []
        window.inspector.open_at("requests")
        assert len(lines(page)) == 4


async def test_it_holds_the_conversation_that_is_shown() -> None:
    factory, history = FakeFactory(), FakeHistory()
    async with shown(factory, history=history) as window:
        say(window, factory, *spoken(1, "What is it?", "A test."))
        old = window.talks.key
        window.inspector.open_at("requests")
        page = window.inspector.requests
        assert page is not None and len(lines(page)) == 1
        window.starter.start_fresh()
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is factory.session)
        await until(lambda: lines(page) == [])
        window.talks.open(history.views[old])
        await until(lambda: len(factory.sessions) == 3 and window.manager.session is factory.session)
        await until(lambda: len(lines(page)) == 1)
        say(window, factory, *spoken(1, "And then?", "Another one."))
        await until(lambda: len(lines(page)) == 2)
        assert [line[0] for line in lines(page)] == ["1", "1"], "each session counts from 1"


async def test_it_grows_with_the_text() -> None:
    async with shown(FakeFactory(), Settings()) as window:
        window.inspector.open_at("requests")
        page = window.inspector.requests
        assert page is not None
        before = page.view.verticalHeader().defaultSectionSize()
        font = page.font()
        font.setPointSizeF(font.pointSizeF() * 2)
        page.setFont(font)
        assert page.view.verticalHeader().defaultSectionSize() > 1.5 * before
