"""From an answer to the thoughts behind it: by the film of them, and by its menu."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices, QTextCursor
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.cards.view import CardView
from app.gui.window.main_window import MainWindow
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import WELCOMED, say, shown, transcript, until
from tests.gui.transcript.test_typing import choose, menu_at, offered


def revised(turn: int, count: int = 3) -> list[e.Event]:
    """A turn during which the model was asked so many times, and its answer."""
    at, first = turn * 20.0, turn * 10
    events: list[e.Event] = [e.UserStarted(at, turn)]
    for number in range(first, first + count):
        at += 1
        final = number == first + count - 1
        events += [
            e.OracleRequested(at, number, turn, "embedded", "small", f"Words of turn {turn}", final),
            e.OracleDelta(at + 0.3, number, f"Thought {number}. " + "And on it goes, line after line. " * 12),
            e.OracleEnded(at + 0.4, number, "complete", 9),
        ]
    events.append(e.TranscriptFinal(at + 0.5, turn, f"Words of turn {turn}", at))
    events.append(e.UserEnded(at + 0.5, turn, at, "words"))
    events.append(e.AssistantStarted(at + 0.6, turn, first + count - 1))
    events.append(e.AssistantSaid(at + 0.7, turn, f"Thought {first + count - 1}.", first + count - 1))
    events.append(e.AssistantEnded(at + 0.8, turn, False))
    return events


def link_at(view: CardView, words: str) -> QPoint:
    """The middle of these words in a view, which is scrolled to them; they are the newest such ones."""
    view.moveCursor(QTextCursor.MoveOperation.End)
    assert view.find(words, view.document().FindFlag.FindBackward), words
    cursor = view.textCursor()
    cursor.setPosition((cursor.selectionStart() + cursor.selectionEnd()) // 2)
    view.setTextCursor(cursor)
    return view.cursorRect().center()


def in_view(window: MainWindow, words: str) -> bool:
    view = window.oracle.view
    if not (window.oracle.earlier and view.isVisible() and window.focusWidget() is view):
        return False
    place = view.content.place_of(view.textCursor().block())
    return words in view.content.text(place) and 0 <= view.box_of(place).top() < view.viewport().height()


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    addresses: list[object] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", addresses.append)
    return addresses


async def test_a_click_at_the_foot_plays_the_film_of_the_thoughts(opened: list[object]) -> None:
    async with shown(FakeFactory(), state=WELCOMED, everything=False) as window:
        window.resize(1200, 800)
        for turn in (1, 2, 3):
            say(window, *revised(turn))
        view, film = window.transcript.view, window.transcript.film
        await until(lambda: window.conversations.isVisible() and view.width() < 1000)
        answer = transcript(window)[-1]
        assert answer.endswith("changed its mind 2 times")
        place = link_at(view, "changed its mind")
        QTest.mouseMove(view.viewport(), place)
        assert view.viewport().cursor().shape() == Qt.CursorShape.PointingHandCursor
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        seen = []
        for _ in range(3):
            seen.append(transcript(window)[-1])
            film.timer.timeout.emit()
        assert [one.split(".")[0].split("\n")[1] for one in seen] == ["Thought 30", "Thought 31", "Thought 32"]
        assert seen[0].startswith("KAME   1/3   after “… Words of turn 3”")
        assert transcript(window)[-1] == answer and not film.timer.isActive()
        assert not window.oracle.isVisible(), "the side pane stays as it is"
        menu = menu_at(window, next(n for n, text in enumerate(transcript(window)) if "Thought 22." in text))
        choose(menu, "Show its thoughts")
        await until(lambda: in_view(window, "Thought 20."))
        assert window.panes.oracle_action.isChecked() and window.settings.oracle_earlier
        view = window.oracle.view
        assert view.box_of(view.content.place_of(view.textCursor().block())).top() < 20
    assert opened == []


async def test_by_the_keyboard_and_only_where_there_are_thoughts(window: MainWindow) -> None:
    say(window, *revised(1), *revised(2, count=1))
    view = window.transcript.view
    link_at(view, "changed its mind")
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert any("1/3" in text for text in transcript(window))
    window.transcript.film.stop()
    cards = transcript(window)
    once = next(n for n, text in enumerate(cards) if "Thought 20." in text)
    assert "mind" not in cards[once]
    menu_at(window, once)
    assert offered(window, "Show its thoughts")
    menu_at(window, once - 1)
    assert not offered(window, "Show its thoughts")


async def test_an_opened_talk_has_its_thoughts_too() -> None:
    factory, history = FakeFactory(), FakeHistory()
    async with shown(factory, history=history) as window:
        say(window, *revised(1), *revised(2))
        old = window.talks.key
        window.starter.start_fresh()
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is factory.session)
        window.talks.open(history.views[old])
        await until(lambda: any("Thought 22." in text for text in transcript(window)))
        # It goes on, and its turns are counted from 1 again.
        await until(lambda: window.manager.phase == "stopped" or len(factory.sessions) == 3)
        window.starter.go_on_if_stopped()
        await until(lambda: len(factory.sessions) == 3 and window.manager.session is factory.session)
        answers = [n for n, text in enumerate(transcript(window)) if text.startswith("KAME")]
        assert len(answers) == 2
        say(window, *revised(1))
        window.transcript.view.verticalScrollBar().setValue(0)
        choose(menu_at(window, answers[0]), "Show its thoughts")
        await until(lambda: in_view(window, "Thought 10."))


async def test_thoughts_that_are_no_longer_kept_are_not_promised(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.gui.oracle.pane.MOST_SHOWN", 4)
    for turn in (1, 2, 3):
        say(window, *revised(turn))
    window.transcript.view.verticalScrollBar().setValue(0)
    first = next(n for n, text in enumerate(transcript(window)) if "Thought 12." in text)
    choose(menu_at(window, first), "Show its thoughts")
    await until(lambda: any("no longer here" in words for words in window.messages.sentences()))
