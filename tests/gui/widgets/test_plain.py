"""Text from outside is shown as it is: no tooltip, label or view takes it for HTML, nor loads what it names."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QColor, QHelpEvent, QImage, QTextDocumentFragment
from PySide6.QtGui import Qt as Guesses
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.conversation.prompt import Document
from app.gui.cards.card import Card
from app.gui.cards.links import LinkView
from app.gui.cards.view import CardView
from app.gui.conversations.pane import ConversationsPane
from app.gui.design.plain import LONGEST_TIP, LegendLabel, PlainLabel, set_tip, tip, verbatim
from app.gui.models.current_model import CurrentModel
from app.gui.models.favourites import Favourites
from app.gui.models.model_lists import ModelLists
from app.gui.models.model_pill import ModelPill
from app.gui.models.servers import Servers
from app.gui.oracle.column import Mark
from app.gui.shell.message_row import MessageRow
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.gui.state.settings_controller import SettingsController
from app.gui.transcript.document_chips import DocumentChip
from app.gui.transcript.header import TranscriptHeader
from app.gui.widgets.panel import ElidedLabel, Quiet
from app.history.base import LONGEST_TITLE, ConversationView
from app.session.control import BackendChoice, SessionChoice, Style, ToolChoice
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from tests.gui.conversations import conftest as conversations
from tests.gui.fakes import FakeFactory

clock, pane = conversations.clock, conversations.pane

HIGH = 700
"""The height of the picture, which no tooltip of words has."""


class Bait:
    """Words that name a picture on this machine, one on a server, and one that is only to be shown."""

    def __init__(self, folder: Path, server: str) -> None:
        path = folder / "p.png"
        image = QImage(HIGH, HIGH, QImage.Format.Format_RGB32)
        image.fill(QColor("red"))
        assert image.save(str(path))
        self.words = f'<img src="{path.as_uri()}"><img src="{server}/x.png"><b>bold</b> &lt;'


@pytest.fixture
def bait(tmp_path: Path) -> Iterator[Bait]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Bait(tmp_path, f"http://127.0.0.1:{server.getsockname()[1]}")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def shown_tip(widget: QWidget, at: QPoint | None = None) -> QLabel:
    QToolTip.hideText()
    at = widget.rect().center() if at is None else at
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at)))
    found = [one for one in QApplication.topLevelWidgets() if one.objectName() == "qtooltip_label" and one.isVisible()]
    assert found, "no tooltip is shown"
    assert isinstance(found[-1], QLabel)
    return found[-1]


def as_shown(label: QLabel) -> str:
    text = label.text()
    return QTextDocumentFragment.fromHtml(text).toPlainText() if Guesses.mightBeRichText(text) else text


def header(words: str, window: QWidget) -> TranscriptHeader:
    model = SessionModel(window)
    made = TranscriptHeader(model, window)
    made.show_title(words)
    model.begin_state(SessionChoice(style=Style(persona=words), tools=ToolChoice((f"mcp:{words}",))))
    return made


def pill(words: str, window: QWidget) -> ModelPill:
    keep = SettingsController(Settings(), WindowState(), window)
    lists = ModelLists((), None, Servers(keep, window), BackgroundTasks(window), window)
    manager = SessionManager(FakeFactory(), SessionModel(window), window)
    manager.prepare(SessionChoice(backend=BackendChoice("ollama", words)))
    made = ModelPill(window)
    made.follow(CurrentModel(manager, lists, window))
    return made


MAKERS: dict[str, Callable[[str, QWidget], QWidget]] = {
    "tip": lambda words, window: set_tip(window, words) or window,
    "details": lambda words, window: header(words, window).words,
    "title": lambda words, window: header(words, window).heading,
    "pill": pill,
    "chip": lambda words, window: DocumentChip(Document(words, "text"), 1, window),
    "message": lambda words, window: MessageRow(words + " word" * 400, (), "error", "", window).label,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_tooltip_shows_markup_as_text_only(qtbot: QtBot, bait: Bait, make: Callable[[str, QWidget], QWidget]) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    one = make(bait.words, window)
    window.resize(600, 200)
    window.show()
    label = shown_tip(one)
    assert label.height() < HIGH
    assert bait.words in as_shown(label)


def test_the_list_of_conversations_shows_markup_as_text_only(qtbot: QtBot, bait: Bait, pane: ConversationsPane) -> None:
    pane.show_conversations([ConversationView("a", bait.words, changed=0.0, backends=(bait.words,), folder="")])
    at = pane.rows.visualRect(pane.list.index(pane.list.place("a"))).center()
    label = shown_tip(pane.rows.viewport(), at)
    assert label.height() < HIGH and bait.words in as_shown(label)


def legend(words: str) -> QLabel:
    made = LegendLabel()
    made.show_names([("#ff0000", words)])
    return made


@pytest.mark.parametrize("make", [PlainLabel, Mark, Quiet, ElidedLabel, legend])
def test_a_label_shows_markup_as_text(qtbot: QtBot, bait: Bait, make: Callable[[str], QLabel]) -> None:
    label = make(bait.words)
    qtbot.addWidget(label)
    label.show()
    assert label.sizeHint().height() < HIGH / 4


def test_a_transcript_loads_nothing_a_model_names(qtbot: QtBot, bait: Bait, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(LinkView, "loadResource", lambda view, kind, name: asked.append(name))
    view = CardView()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    address = bait.words.split('"')[1]
    written = f"![a]({address})\n\n{bait.words}\n\n| <img src={address}> |\n|--|\n| ![]({address}) |"
    view.insert_card(0, Card((), (), "assistant", written=written, tip=bait.words))
    QApplication.processEvents()
    assert view.document().size().height() < HIGH and not asked
    label = shown_tip(view.viewport(), QPoint(view.box_of(0).center().toPoint()))
    assert label.height() < HIGH and bait.words in as_shown(label)


def test_a_view_with_links_loads_nothing_itself(qtbot: QtBot, bait: Bait) -> None:
    view = LinkView()
    qtbot.addWidget(view)
    view.setHtml(bait.words)
    view.resize(600, 400)
    view.show()
    assert view.document().size().height() < HIGH


def test_a_link_shows_where_it_leads_before_it_can_be_opened(qtbot: QtBot) -> None:
    view = CardView()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    view.insert_card(0, Card((), (), "assistant", written="[https://bank.example](https://other.example)"))
    cursor = view.textCursor()
    cursor.setPosition(view.document().toPlainText().index("bank"))
    at = view.cursorRect(cursor).center()
    QToolTip.hideText()
    QTest.mouseMove(view.viewport(), at)
    assert "https://other.example" in QToolTip.text()
    QToolTip.hideText()
    view._told_link = ""
    view.setFocus()
    view.setTextCursor(cursor)
    assert "https://other.example" in QToolTip.text()


def test_ampersands_in_names_are_no_mnemonics(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    servers = Servers(SettingsController(Settings(), WindowState(), window), window)
    favourites = Favourites(window, ModelLists((), None, servers, BackgroundTasks(window), window))
    favourites.show_backends((BackendChoice("ollama", "salt&pepper"),))
    assert favourites.picks[0].text().startswith("salt&&pepper")
    made = pill("salt&pepper", window)
    assert made.text() == "salt&pepper" and made.shortcut().isEmpty()
    assert verbatim("a\tb\n&c") == "a b &&c"


def test_a_title_of_a_megabyte_holds_nothing_up(qtbot: QtBot, pane: ConversationsPane) -> None:
    long = "word <b>" * 2**17
    pane.show_conversations([ConversationView(str(n), long, changed=0.0, backends=(long,)) for n in range(50)])
    index = pane.list.index(pane.list.place("0"))
    assert len(index.data()) <= LONGEST_TITLE
    pane.rows.viewport().grab()
    label = shown_tip(pane.rows.viewport(), pane.rows.visualRect(index).center())
    assert len(label.text()) < 8 * LONGEST_TIP
    made = TranscriptHeader(SessionModel())
    qtbot.addWidget(made)
    made.show_title(long)
    assert len(made.heading.text()) <= LONGEST_TITLE
    assert len(PlainLabel(long).text()) < len(long) / 4
    assert len(tip(long)) < 8 * LONGEST_TIP
