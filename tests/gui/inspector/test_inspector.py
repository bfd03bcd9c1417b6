"""The inspector below the conversation: its tabs by mouse and by keyboard, and what opens it."""

from __future__ import annotations

import logging

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.diagnostics.logs import Log
from app.gui.logs.view import LogPage
from app.gui.window.main_window import MainWindow
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import open_dialog, press, say, shown, spoken, until
from tests.gui.window.test_accessibility import controls, tabbed


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
        await until(window.isActiveWindow)
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


async def test_pages_are_built_when_they_are_looked_at() -> None:
    async with shown(FakeFactory(), Settings(), everything=False) as window:
        await until(window.isActiveWindow)
        assert not window.inspector.isVisible() and not window.inspector.timeline.isVisible()
        window.inspector.tabs.setCurrentIndex(1)
        assert window.inspector.latency is None and window.inspector.requests is None
        QTest.keySequence(window, QKeySequence("Ctrl+3"))
        assert window.inspector.latency is not None and window.inspector.latency.isVisible()
        assert window.inspector.requests is None
        assert window.inspector.tabs.count() == 3, "there is no log to show"


async def test_the_status_line_opens_it_at_the_page_that_is_meant() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(), everything=False) as window:
        window.resize(1200, 900)
        await until(window.isActiveWindow)
        say(window, factory, *spoken(1, "How long?", "So long."))
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


async def test_every_page_is_named_and_reached_by_tab() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(), log=some_log()) as window:
        await until(window.isActiveWindow)
        say(window, factory, *spoken(1, "How long?", "So long."))
        for words in ("Latency", "Requests", "Log"):
            click_tab(window, words)
            page = window.inspector.pages.currentWidget()
            window.inspector.tabs.setFocus()
            QTest.keyClick(window.inspector.tabs, Qt.Key.Key_Tab)
            first = QApplication.focusWidget()
            assert first is not None and page.isAncestorOf(first), words
            reached = set(tabbed())
            buttons = [
                w for w in controls(window) if page.isAncestorOf(w) and w.focusPolicy() & Qt.FocusPolicy.TabFocus
            ]
            assert buttons and all(w.accessibleName() for w in buttons)
            assert {w for w in buttons if w.isEnabled()} <= reached, words


async def test_the_log_is_followed_and_opened_as_a_whole() -> None:
    from app.gui.logs.panel import LogPanel

    log = some_log()
    async with shown(FakeFactory(), Settings(), log=log) as window:
        await until(window.isActiveWindow)
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


async def test_the_latency_has_two_columns_where_there_is_room() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings()) as window:
        window.resize(1600, 1000)
        say(window, factory, *spoken(1, "How long?", "So long."))
        window.inspector.open_latency()
        view = window.inspector.latency
        assert view is not None

        def beside() -> bool:
            return view.table.mapTo(view.widget(), QPoint()).x() > view.strip.geometry().right()

        await until(beside)
        window.resize(700, 1000)
        await until(lambda: not beside())
        assert view.widget().width() <= view.viewport().width()
