"""The icon in the tray: its states and menu, the window that hides into it, and notifications of answers."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtGui import QCloseEvent, QImage
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.conversation import events as e
from app.gui.desktop.tray import COLOURS, DOTS, LONGEST, AnswerNotice, Tray, plain, tray_picture
from app.gui.window.main_window import MainWindow
from app.history.store import HistoryStore
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import heard, say, shown, spoken, until

LONG = "Leaves turn red because the green in them goes first, and what was always there is seen at last."


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    """The notifications; there is a tray."""
    notifications: list[tuple[str, str]] = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    monkeypatch.setattr(
        QSystemTrayIcon, "showMessage", lambda icon, title, text, *_: notifications.append((title, text))
    )
    yield notifications


@asynccontextmanager
async def window_with_tray(
    factory: FakeFactory, *, history: HistoryStore | None = None, **settings: object
) -> AsyncIterator[tuple[MainWindow, Tray]]:
    kept = Settings(**settings)  # type: ignore[arg-type]
    async with shown(factory, kept, history=history or FakeHistory()) as window:
        tray = window.tray.tray
        assert tray is not None and tray.is_on
        yield window, tray


@pytest.fixture
def given() -> dict[str, object]:
    return {"history": FakeHistory()}


@pytest.fixture
def tray(told: list[tuple[str, str]], window: MainWindow) -> Tray:
    tray = window.tray.tray
    assert tray is not None and tray.is_on
    return tray


def close_by_the_user(window: MainWindow) -> None:
    QApplication.sendEvent(window.windowHandle(), QCloseEvent())


def test_each_state_has_a_picture_of_its_own(qapp: QApplication) -> None:
    pictures = {dot: tray_picture(dot).pixmap(32, 32).toImage() for dot in set(DOTS.values())}
    assert len(pictures) == 5
    for dot, image in pictures.items():
        assert all(dot == other or image != pictures[other] for other in pictures)
        if dot in COLOURS:
            colours = {image.pixelColor(x, y).name() for x in range(32) for y in range(32)}
            assert COLOURS[dot] in colours
    assert isinstance(pictures["idle"], QImage) and pictures["idle"].pixelColor(16, 2).alpha() == 255


async def test_its_state_follows_the_conversation(told: list[tuple[str, str]], window: MainWindow, tray: Tray) -> None:
    await until(lambda: tray.talk_action.isEnabled())
    assert tray.icon.toolTip() == "KAME"
    say(window, e.UserStarted(1, 1))
    assert tray.icon.toolTip() == "KAME – listening"
    say(window, e.UserEnded(2, 1, 1.9, "words"))
    assert tray.icon.toolTip() == "KAME – thinking"
    say(window, e.AssistantStarted(2.5, 1, 1))
    assert tray.icon.toolTip() == "KAME – speaking"
    say(window, e.AssistantEnded(3, 1, False), e.MicrophoneMuted(3.1, True))
    assert tray.icon.toolTip() == "KAME – muted"


async def test_its_menu_talks_mutes_begins_anew_and_quits(told: list[tuple[str, str]], window, tray, factory) -> None:
    await until(lambda: tray.talk_action.isEnabled())
    tray.talk_action.trigger()
    assert factory.session.calls[-1] == ("press",) and tray.talk_action.isChecked()
    tray.talk_action.trigger()
    assert factory.session.calls[-1] == ("release",) and not tray.talk_action.isChecked()
    tray.mute_action.trigger()
    assert window.manager.wanted.muted and window.commands["mute"].isChecked()
    window.commands["mute"].trigger()
    say(window, e.MicrophoneMuted(1.0, False))
    assert not tray.mute_action.isChecked() and not window.manager.wanted.muted
    tray.new_action.trigger()
    await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
    closed = heard(window.closing)
    tray.quit_action.trigger()
    assert len(closed) == 1 and not tray.is_on


async def test_hands_free_leaves_nothing_to_press(told: list[tuple[str, str]]) -> None:
    async with window_with_tray(FakeFactory(), duplex=True) as (_, tray):
        assert not tray.talk_action.isEnabled()


async def test_without_a_microphone_there_is_nothing_to_press(told: list[tuple[str, str]], window, tray) -> None:
    await until(lambda: tray.talk_action.isEnabled())
    say(window, e.DeviceChanged(1.0, "microphone", "lost", "", "It is gone."))
    assert not tray.talk_action.isEnabled()


async def test_it_shows_and_hides_the_window(told: list[tuple[str, str]], window: MainWindow, tray: Tray) -> None:
    assert tray.window_action.text() == "&Hide KAME"
    tray.window_action.trigger()
    assert not window.isVisible() and tray.window_action.text() == "&Show KAME"
    tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert window.isVisible() and tray.window_action.text() == "&Hide KAME"
    window.showMinimized()
    await until(lambda: tray.window_action.text() == "&Show KAME")
    tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Context)  # opens the menu, and nothing else
    assert window.isMinimized()
    tray.window_action.trigger()
    assert not window.isMinimized()


async def test_closing_the_window_ends_it_unless_it_is_to_stay(told: list[tuple[str, str]], window: MainWindow) -> None:
    closed = heard(window.closing)
    close_by_the_user(window)
    assert closed == [()]


async def test_with_the_setting_it_goes_on_in_the_tray_and_says_so_once(told: list[tuple[str, str]]) -> None:
    factory = FakeFactory()
    async with window_with_tray(factory, close_to_tray=True) as (window, tray):
        closed = heard(window.closing)
        window.panels.open_settings()
        for _ in range(2):
            close_by_the_user(window)
            assert not window.isVisible() and closed == [] and factory.session.stopped == 0
            assert not window.panels.settings.isVisible()
            window.come_forward()
        assert [title for title, _ in told] == ["KAME is still here"]
        window.close()  # as quitting does, also by the desktop at a logout
        assert closed == [()] and not tray.is_on


async def test_without_its_icon_the_window_never_hides(told: list[tuple[str, str]]) -> None:
    async with window_with_tray(FakeFactory(), close_to_tray=True) as (window, tray):
        tray.window_action.trigger()
        window.keep.change("tray_icon", False)
        assert not tray.is_on and window.isVisible(), "nothing else would show it again"
        closed = heard(window.closing)
        close_by_the_user(window)
        assert closed == [()]


async def test_a_hidden_start_stays_in_the_tray(told: list[tuple[str, str]], window: MainWindow) -> None:
    window.hide()
    window.tray.show_first(True)
    assert not window.isVisible()
    window.keep.change("tray_icon", False)
    window.hide()
    window.tray.show_first(True)
    assert window.isMinimized()


async def test_a_desktop_without_a_tray_is_told_of_and_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [False]
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: there[0]))
    async with shown(FakeFactory(), Settings()) as window:
        control = window.tray
        assert control.tray is None and not control.is_on
        window.panels.open_settings("close_to_tray")
        row = window.panels.settings.rows["close_to_tray"]
        assert not row.editor.isEnabled() and row.note.text() == "This desktop has no tray for icons."
        there[0] = True  # it comes after the login
        control._timer.timeout.emit()
        assert control.is_on and row.editor.isEnabled() and not row.note.isVisible()


async def test_an_answer_is_told_while_nobody_sees_the_window(told: list[tuple[str, str]], window, tray) -> None:
    say(window, *spoken(1, "Why?", LONG))
    assert told == [], "it is seen"
    window.hide()
    say(window, *spoken(2, "Why?", LONG, at=10))
    assert told == [("KAME answers", f"{LONG} …")]
    window.showMinimized()
    say(window, *spoken(3, "And?", "Because <b>x</b> & y.", at=20))
    assert told[-1] == ("KAME answers", "Because ‹b›x‹/b› &\u2060 y.") and len(told) == 2
    tray.icon.messageClicked.emit()
    assert window.isVisible() and not window.isMinimized()


async def test_it_is_not_told_where_that_is_off_or_nothing_is_to_be_kept(told: list[tuple[str, str]]) -> None:
    factory = FakeFactory()
    async with window_with_tray(factory, notify_answers=False) as (window, _):
        window.hide()
        say(window, *spoken(1, "Why?", LONG))
    async with window_with_tray(factory, keep_history=False) as (window, _):
        window.hide()
        say(window, *spoken(1, "Why?", LONG))
        window.keep.change("keep_history", True)  # which counts from the next conversation on
        say(window, *spoken(2, "Why?", LONG, at=10))
    async with window_with_tray(factory) as (window, _):
        window.hide()
        window.keep.change("keep_history", False)
        say(window, *spoken(1, "Why?", LONG))
    assert told == []


def words_of(*events: e.Event) -> list[str]:
    notice = AnswerNotice()
    return [words for words in map(notice.apply, events) if words]


def test_the_first_words_of_each_answer_once() -> None:
    begun, ended = e.AssistantStarted(1, 1, 1), e.AssistantEnded(9, 1, False)
    assert words_of(begun, e.AssistantSaid(2, 1, "Yes", 1), e.AssistantSaid(3, 1, ", of course.", 1, True), ended) == [
        "Yes, of course."
    ]
    pieces = [e.AssistantSaid(number, 1, word, 1) for number, word in enumerate(LONG.split())]
    assert words_of(begun, *pieces, ended) == [" ".join(LONG.split()[:12]) + " …"]
    assert words_of(begun, e.AssistantSaid(2, 1, "Let me think.", 0), ended) == [], "an opening is no answer"
    assert words_of(begun, ended, begun, e.AssistantSaid(2, 2, "Two", 2), ended) == ["Two"]
    assert words_of(ended, e.SessionEnded(10, 125), ended) == []
    [long] = words_of(begun, e.AssistantSaid(2, 1, "word " * 80, 1), ended)
    assert len(long) <= LONGEST + 2 and long.endswith(" …")


def test_no_desktop_finds_markup_in_it() -> None:
    shown_text = plain("<a href='x'>click</a> &amp; 1 < 2")
    assert "<" not in shown_text and ">" not in shown_text and "&amp;" not in shown_text
    assert shown_text.replace("\u2060", "") == "‹a href='x'›click‹/a› &amp; 1 ‹ 2"
