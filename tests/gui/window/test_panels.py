"""The window's other dialogs: reached by keyboard, left by Escape, gone with the window; the licences as text."""

import logging
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.diagnostics.logs import Log
from app.gui.shell.about_dialog import AboutDialog
from app.gui.window.main_window import MainWindow
from app.platform.installation import installed, resource
from app.services.bill_of_materials import Part
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import (
    CHOICES,
    FakeBackendService,
    FakeFactory,
    FakeMachine,
    FakePrices,
    FakeServers,
    FakeSoundService,
    two_devices,
)
from tests.gui.helpers import WELCOMED, press, shown, until
from tests.gui.models.test_local_models import FakeModels


def everything() -> dict[str, Any]:
    """All that a window can be given, so that all its dialogs are there."""
    return {
        "choices": CHOICES,
        "service": FakeBackendService(
            lists={"ollama": ("gemma3:4b",)}, tool_servers=FakeServers(), prices=FakePrices()
        ),
        "sound_service": FakeSoundService(),
        "history": FakeHistory(),
        "machine": FakeMachine(),
        "log": Log(100),
        "list_devices": two_devices,
        "state": WELCOMED,
    }


def open_menu(window: MainWindow, title: str) -> QMenu:
    """Opens the menu with F10, and one of its menus by its letter."""
    bar = window.commands.bar
    QTest.keyClick(window, Qt.Key.Key_F10)
    assert bar.isVisible()
    action = next(action for action in bar.actions() if action.text().replace("&", "") == title)
    letter = action.text()[action.text().index("&") + 1]
    QTest.keyClick(bar, getattr(Qt.Key, f"Key_{letter.upper()}"))
    menu = action.menu()
    assert isinstance(menu, QMenu) and menu.isVisible(), f"{letter} opens “{title}”"
    return menu


def choose(window: MainWindow, title: str, entry: str) -> None:
    menu = open_menu(window, title)
    action = next(action for action in menu.actions() if entry in action.text().replace("&", ""))
    assert action.isVisible() and action.isEnabled()
    letter = action.text()[action.text().index("&") + 1]
    QTest.keyClick(menu, getattr(Qt.Key, f"Key_{letter.upper()}"))
    if menu.isVisible():  # another entry has the letter as well
        assert menu.activeAction() is action or QTest.keyClick(menu, Qt.Key.Key_Return) is None
    assert not menu.isVisible(), f"“{entry}” in “{title}” is not taken by its letter alone"


def dialogs(window: QWidget) -> list[QDialog]:
    return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QDialog) and widget.isVisible()]


ENTRIES = (
    *(("Conversation", entry) for entry in ("Style and tools", "Sound")),
    ("Edit", "Settings"),
    *(("Model", entry) for entry in ("Models and servers", "Compare")),
    *(("Help", entry) for entry in ("Keys", "Guide", "Log", "About KAME")),
)


@pytest.mark.parametrize(("title", "entry"), ENTRIES)
async def test_each_is_reached_by_keyboard_and_left_by_escape(title: str, entry: str) -> None:
    async with shown(FakeFactory(), Settings(provider="openai"), **everything()) as window:
        choose(window, title, entry)
        await until(lambda: len(dialogs(window)) == 1)
        (dialog,) = dialogs(window)
        await until(dialog.isActiveWindow)
        assert entry in dialog.windowTitle() or entry in dialog.accessibleName()
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert dialogs(window) == [] and window.isVisible()
        window.activateWindow()  # as a desktop does
        await until(window.isActiveWindow)
        choose(window, title, entry)
        await until(lambda: len(dialogs(window)) == 1)
        assert dialogs(window)[0] is dialog, "it is made once"


async def test_the_guide_shows_its_pictures_and_fits_its_dialog() -> None:
    async with shown(FakeFactory(), **everything()) as window:
        choose(window, "Help", "Guide")
        await until(lambda: len(dialogs(window)) == 1)
        page = window.panels.guide.page
        await until(lambda: page.verticalScrollBar().maximum() > 0)
        assert page.horizontalScrollBar().maximum() == 0
        named = resource("guide", "guide.md").read_text("utf-8").count("](../screenshots/")
        pictures, block = [], page.document().begin()
        while block.isValid():
            for fragment in block:
                image = fragment.fragment().charFormat().toImageFormat()
                if image.isValid():
                    address = page.document().baseUrl().resolved(QUrl(image.name()))
                    pictures.append(page.document().resource(QTextDocument.ResourceType.ImageResource.value, address))
            block = block.next()
        assert len(pictures) == named > 5
        assert all(not picture.isNull() and picture.width() <= page.viewport().width() for picture in pictures)
        contents = window.panels.guide.contents
        chapters = [contents.item(row).text() for row in range(contents.count())]
        assert chapters[0] == "Talking" and "Models" in chapters
        contents.setCurrentRow(chapters.index("Models"))
        first = page.cursorForPosition(page.viewport().rect().topLeft() + QPoint(20, 24))
        assert first.block().text() == "Models"


async def test_closing_the_window_closes_all() -> None:
    async with shown(FakeFactory(), **everything()) as window:
        window.panels.open_settings()
        window.panels.open_log()
        window.panels.open_about()
        window.dialogs.open_backend(BackendChoice("openai"))
        window.dialogs.open_duplicate("x", BackendChoice())
        assert len(dialogs(window)) == 5
        window.close()
        assert dialogs(window) == []


async def test_a_fault_leads_to_the_log_and_its_line() -> None:
    log = Log(100)
    async with shown(FakeFactory(), log=log) as window:
        log.add(1.0, logging.INFO, "app", "All is well.", "", "MainThread")
        log.add(2.0, logging.ERROR, "app", "Something broke.", "", "MainThread")
        window.model.fault.emit(RuntimeError("x"))
        (row,) = window.messages.rows
        press(row, "Show log")
        panel = window.panels.log
        assert panel is not None and panel.isVisible()
        assert "Something broke." in panel.details.toPlainText()
        QTest.mouseClick(panel.diagnostics_button, Qt.MouseButton.LeftButton)
        await until(lambda: QApplication.clipboard().text() == "diagnostics")


async def test_what_it_is_made_of_can_be_read(window: MainWindow) -> None:
    window.panels.open_about()
    about = window.panels.about
    assert about is not None and "Qt" in about.version.text() and installed().version in about.version.text()
    await until(about.isActiveWindow)
    assert "Apache License 2.0" in about.licence.text() and about.licence.isVisible()
    assert not about.licences.isVisible()
    QTest.mouseClick(about.licences_button, Qt.MouseButton.LeftButton)
    assert about.licences.isVisible() and about.licences.hasFocus()
    QTest.keyClick(about, Qt.Key.Key_Escape)
    assert about.isVisible() and not about.licences.isVisible() and about.licences_button.hasFocus()
    QTest.mouseClick(about.guide_button, Qt.MouseButton.LeftButton)
    assert window.panels.guide is not None and window.panels.guide.isVisible()
    window.panels.guide.close()
    QTest.mouseClick(about.close_button, Qt.MouseButton.LeftButton)
    assert not about.isVisible()


async def test_the_parts_of_an_installed_app_are_listed_from_its_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [Part("numpy", "2.2.6", "BSD-3-Clause", False), Part("torch", "2.9.1", "BSD and more", True)]
    monkeypatch.setattr("app.gui.shell.about_dialog.read_bill", lambda: parts)
    async with shown(FakeFactory()) as window:
        window.panels.open_about()
        lines = window.panels.about.licences.toPlainText().splitlines()
        assert lines[:3] == ["Made of", "numpy 2.2.6: BSD-3-Clause", "torch 2.9.1: BSD and more (optional)"]
        assert any("PySide6-Essentials" in line for line in lines)


async def test_a_broken_bill_is_told_above_the_page_of_licences(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[Part]:
        raise ValueError("The bill of materials can't be read.")

    monkeypatch.setattr("app.gui.shell.about_dialog.read_bill", broken)
    async with shown(FakeFactory()) as window:
        window.panels.open_about()
        text = window.panels.about.licences.toPlainText()
        assert text.startswith("The bill of materials can't be read.") and "PySide6-Essentials" in text


async def test_the_settings_offer_the_voices_that_speak_the_language_and_lead_to_other_dialogs() -> None:
    async with shown(FakeFactory(), Settings(language="de"), models=FakeModels(), **everything()) as window:
        window.panels.open_settings("voice")
        dialog = window.panels.settings
        voices = dialog.rows["voice"].editor
        await until(lambda: len(voices.texts) > 1)
        assert voices.texts == ["Automatic", "Mouth", "Bea"]
        assert dialog.rows["recogniser"].editor.texts == ["Automatic", "Ear"]
        window.keep.change("language", "en")
        await until(lambda: voices.texts == ["Automatic", "Ann"])
        for link in dialog.area.links:
            if link.link.target in ("sound", "servers", "log", "models", "style", "prices", "set_up"):
                before = len(dialogs(window))
                link.button.click()
                assert len(dialogs(window)) == before + 1, link.link.target
                for other in dialogs(window):
                    if other is not dialog:
                        other.close()


def test_the_apps_own_page_is_read_whole(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    text = AboutDialog(parent).licences.toPlainText()
    for mark in ("|", "<!--", "`", "**", "\n#"):
        assert mark not in text
    rows = resource("licences.md").read_text("utf-8").count("\n| ")
    assert rows > 50 and "PySide6-Essentials" in text and "LGPL-3.0" in text and "yarl" in text


def test_a_licence_that_looks_like_markup_is_shown_as_it_is(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Part("<b>x</b>", "1", "MIT & <i>more</i>", False)
    monkeypatch.setattr("app.gui.shell.about_dialog.read_bill", lambda: [odd])
    parent = QWidget()
    qtbot.addWidget(parent)
    page = AboutDialog(parent).licences
    assert "<b>x</b> 1: MIT & <i>more</i>\n" in page.toPlainText() and page.isReadOnly()
