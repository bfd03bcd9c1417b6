"""Files that are dropped on the window or chosen: chips, what the session gets, and what is kept."""

import asyncio
import itertools
import logging
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.conversation import events as e
from app.conversation.prompt import MOST_DOCUMENTS, Document
from app.gui.design.theme import apply_theme
from app.gui.window.main_window import MainWindow
from app.history.base import ConversationView, Setup
from app.history.store import HistoryStore
from app.session.control import BackendChoice
from app.untrusted.limits import DOCUMENT_BYTES
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import say, shown, spoken, until
from tests.support.pdf import pdf_of


def drag(*paths: Path | str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) if isinstance(path, Path) else QUrl(path) for path in paths])
    return data


def enter(widget: QWidget, data: QMimeData) -> bool:
    """Holds something over a widget; returns whether it may be dropped there."""
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, buttons, keys)
    event.ignore()
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def drop(widget: QWidget, *paths: Path | str) -> None:
    data = drag(*paths)
    if enter(widget, data):
        buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, keys)
        QApplication.sendEvent(widget.window(), event)


def chips(window: MainWindow) -> list[str]:
    row = window.transcript.documents
    return [f"{chip.name.text()} · {chip.size_label.text()}" for chip in row.chips if chip.isVisible()]


def told(window: MainWindow) -> list[str]:
    return [row.sentence for row in window.messages.rows]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_text("\ufeffThe mill belongs to Ada.", "utf-8")
    return path


async def test_a_dropped_file_becomes_a_chip_and_is_the_sessions_until_it_is_removed(
    notes: Path, window: MainWindow, factory: FakeFactory
) -> None:
    assert not window.transcript.documents.isVisible()
    drop(window.transcript.composer.field.viewport(), notes)
    await until(lambda: chips(window) == ["notes.md · 5 words"])
    assert factory.session.choice.documents == (Document("notes.md", "The mill belongs to Ada."),)
    assert window.transcript.composer.field.text() == "", "no path is typed"
    window.transcript.composer.field.setFocus()
    button = window.transcript.documents.chips[0].remove
    for _ in range(100):
        if button.hasFocus():
            break
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab)
    assert button.hasFocus() and button.accessibleName() == "Remove notes.md"
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert chips(window) == [] and factory.session.choice.documents == ()
    assert not window.transcript.documents.isVisible() and told(window) == []


async def test_it_may_be_dropped_anywhere_and_the_composer_says_so(notes: Path, window: MainWindow) -> None:
    field = window.transcript.composer.field
    before = field.placeholderText()
    for widget in (window.oracle, window.transcript.view.viewport(), field.viewport(), window.top_bar):
        assert enter(widget, drag(notes))
        assert field.placeholderText() == "Drop files to add them to the conversation"
        QApplication.sendEvent(window, QDragLeaveEvent())
        assert field.placeholderText() == before
    assert not enter(window.oracle, drag("https://example.org/a.txt")), "a link is no file"
    text = QMimeData()
    text.setText("plain words")
    assert enter(field.viewport(), text), "words can still be dragged into the field"


async def test_what_is_no_text_is_refused_in_a_sentence_and_kept_out_of_the_log(
    notes: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\x00\x01")
    (tmp_path / "huge.txt").write_bytes(b"a " * (DOCUMENT_BYTES // 2 + 1))
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "folder").mkdir()
    async with shown(FakeFactory()) as window:
        for name, why in (
            ("picture.png", "“picture.png” is no text"),
            ("huge.txt", "“huge.txt” is larger than 10 MB"),
            ("paper.pdf", "“paper.pdf” is no PDF that KAME can read"),
            ("folder", "“folder” is a folder"),
        ):
            drop(window, tmp_path / name)
            await until(lambda why=why: any(why in sentence for sentence in told(window)))
        assert str(tmp_path) not in " ".join(told(window)) and chips(window) == []
        drop(window, tmp_path / "folder", notes)
        await until(lambda: chips(window) == ["notes.md · 5 words"])
        (tmp_path / "paper.pdf").write_bytes(pdf_of([["Ada wrote notes"]]))
        drop(window, tmp_path / "paper.pdf")
        await until(lambda: chips(window) == ["notes.md · 5 words", "paper.pdf · 3 words"], 20)
    for word in ("Ada", "notes.md", "picture.png", "huge.txt"):
        assert word not in caplog.text


async def test_there_is_a_limit_and_the_same_name_takes_the_place(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(MOST_DOCUMENTS + 1)]
    for path in paths:
        path.write_text("one two", "utf-8")
    async with shown(FakeFactory()) as window:
        drop(window, *paths)
        await until(lambda: told(window))
        assert len(chips(window)) == MOST_DOCUMENTS and "5.txt” was not added" in told(window)[0]
        paths[1].write_text("one", "utf-8")
        drop(window, paths[1])
        await until(lambda: "1.txt · 1 word" in chips(window))
        assert len(chips(window)) == MOST_DOCUMENTS


async def test_the_chip_says_when_the_model_gets_only_a_part(tmp_path: Path) -> None:
    factory = FakeFactory()
    path = tmp_path / ("long.txt" if os.name == "nt" else "<b>long.txt")
    path.write_text("word " * 10_000, "utf-8")
    async with shown(factory) as window:
        drop(window, path)
        await until(lambda: chips(window) == [f"{path.name} · {window.locale().toString(10_000)} words"])
        chip = window.transcript.documents.chips[0]
        assert "only the first" in chip.toolTip() and "<b>" not in chip.toolTip() + chip.remove.toolTip()
        say(window, e.ConversationConfigured(1.0, "embedded", "small", "", "", None, "medium", given=(400,)))
        assert f"only the first 400 of {window.locale().toString(10_000)} words" in chip.remove.accessibleDescription()
        say(window, e.ConversationConfigured(1.0, "a", "b", "", "", None, "medium", given=(10_000,)))
        assert "gets all of it" in chip.toolTip()


async def test_a_file_dropped_while_all_is_being_prepared_belongs_to_the_talk_that_begins(
    notes: Path, gate: asyncio.Event, window: MainWindow, factory: FakeFactory
) -> None:
    drop(window, notes)
    await until(lambda: chips(window))
    gate.set()
    await until(lambda: window.manager.session is not None)
    assert [one.name for one in factory.session.choice.documents] == ["notes.md"]


async def test_documents_are_kept_with_their_conversation(notes: Path, tmp_path: Path) -> None:
    factory = FakeFactory()
    history = HistoryStore(tmp_path / "history.sqlite3", None)
    async with shown(factory, history=history) as window:
        drop(window, notes)
        await until(lambda: chips(window))
        say(window, *spoken(1, "Whose is the mill?", "Ada's."))
        window.top_bar.new_button.click()
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        assert chips(window) == [] and factory.session.choice.documents == ()
    factory = FakeFactory()
    history = HistoryStore(tmp_path / "history.sqlite3", None)
    async with shown(factory, history=history) as window:
        await until(lambda: window.conversations.list.rowCount() == 2)
        window.conversations.rows.highlight(window.conversations.list.rows[1].name)
        QTest.keyClick(window.conversations.rows, Qt.Key.Key_Return)
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        assert chips(window) == ["notes.md · 5 words"]
        assert factory.session.choice.documents == (Document("notes.md", "The mill belongs to Ada."),)
        window.transcript.documents.chips[0].remove.click()
        await until(lambda: window.list.history.known[0].setup.documents == ())


async def test_a_removed_conversation_leaves_no_chip(tmp_path: Path) -> None:
    view = ConversationView(
        "a", "The mill", changed=5.0, turns=2, setup=Setup(BackendChoice("ollama"), documents=(Document("a.txt", "x"),))
    )
    async with shown(FakeFactory(), history=FakeHistory(view)) as window:
        await until(lambda: window.conversations.list.rowCount() == 2)
        window.devices.stop_button.click()
        window.conversations.opened.emit("a")
        window.conversations.rows.opened.emit("a")
        await until(lambda: chips(window) == ["a.txt · 1 word"])
        window.conversations.remove_wanted.emit("a")
        await until(lambda: chips(window) == [])
        assert window.manager.wanted.documents == ()


@pytest.mark.parametrize("percent", [100, 200])
async def test_chips_fit_a_small_window(qapp: QApplication, percent: int, tmp_path: Path) -> None:
    paths = [tmp_path / f"a rather long name of a file {number}.txt" for number in range(MOST_DOCUMENTS)]
    for path in paths:
        path.write_text("one two", "utf-8")
    async with shown(FakeFactory(), everything=False) as window:
        drop(window, *paths)
        await until(lambda: len(chips(window)) == MOST_DOCUMENTS)
        window.resize(900, 600)
        apply_theme(qapp, "light", percent)
        QApplication.processEvents()
        row = window.transcript.documents
        await until(lambda: row.chips[0].height() >= row.chips[0].minimumSizeHint().height())
        QApplication.processEvents()
        assert row.width() <= window.transcript.width()
        places = [chip.geometry() for chip in row.chips]
        assert not any(one.intersects(other) for one, other in itertools.combinations(places, 2))
        assert all(row.widget().rect().contains(place) for place in places)
        row.chips[-1].remove.setFocus()
        last = row.chips[-1].remove
        assert row.viewport().rect().contains(last.mapTo(row.viewport(), last.rect().center()))
        letters = 8 * row.fontMetrics().averageCharWidth()
        for chip in row.chips:
            assert chip.rect().contains(chip.remove.geometry()) and chip.name.width() >= letters
            assert chip.size_label.width() >= chip.size_label.sizeHint().width()
