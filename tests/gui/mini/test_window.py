"""The mini window in the main window's place, and the last words that it shows."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from app.conversation import events as e
from app.gui.mini.window import HEIGHT_PX, WIDTH_PX, MiniWindow
from app.gui.window.main_window import MainWindow
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import key, say, shown, spoken, type_keys, until, window_and_factory


async def opened(window: MainWindow) -> MiniWindow:
    await until(window.isActiveWindow)
    QTest.keySequence(window, QKeySequence("Ctrl+Shift+K"))
    mini = window.mini_mode.mini
    await until(mini.isActiveWindow)
    return mini


@pytest.fixture
async def mini(window: MainWindow) -> MiniWindow:
    return await opened(window)


def press_key(mini: MiniWindow, code: Qt.Key) -> None:
    """A key as the keyboard sends it, with its release."""
    for down in (True, False):
        key(mini, code, down=down)  # type: ignore[arg-type]


def drag(mini: MiniWindow, start: QPoint, by: QPoint) -> None:
    QTest.mousePress(mini, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(mini, start + by)
    QTest.mouseRelease(mini, Qt.MouseButton.LeftButton, pos=start)


async def test_it_takes_the_windows_place_and_gives_it_back() -> None:
    async with window_and_factory() as (window, factory):
        mini = await opened(window)
        assert mini.isVisible() and not window.isVisible() and window.mini_mode.is_on
        assert mini.windowFlags() & Qt.WindowType.WindowStaysOnTopHint
        assert (mini.width(), mini.height()) == (WIDTH_PX, HEIGHT_PX)
        assert mini.screen().availableGeometry().contains(mini.geometry())
        ways = (
            lambda: QTest.mouseClick(mini.back, Qt.MouseButton.LeftButton),
            lambda: QTest.mouseDClick(mini, Qt.MouseButton.LeftButton, pos=QPoint(180, 100)),
            lambda: press_key(mini, Qt.Key.Key_Return),
            lambda: QTest.keySequence(mini, QKeySequence("Ctrl+Shift+K")),
            window.come_forward,
            mini.windowHandle().close,  # by the window manager
        )
        for leave in ways:
            leave()
            assert window.isVisible() and not mini.isVisible() and not window.mini_mode.is_on
            assert await opened(window) is mini
        assert factory.session.stopped == 0, "the conversation goes on"
    assert window.mini_mode.mini is None, "it goes with the window"


async def test_it_shows_the_words_as_they_are_said_as_plain_text(window: MainWindow, mini: MiniWindow) -> None:
    assert mini.words.text() == "Hold to talk, or hold the space bar"
    say(window, e.UserStarted(1.0, 1), e.TranscriptPartial(1.5, 1, "Is it <b>bold", "or", 1.4))
    assert mini.words.text() == "Is it <b>bold or" and mini.words.dim
    assert mini.button.word == "hearing" and mini.words.lines() == ["Is it <b>bold or"]
    say(window, *spoken(1, "Is it <b>bold</b>?", " ".join(f"word{n}" for n in range(60)))[1:-1])
    assert mini.button.word == "speaking" and not mini.words.dim
    lines = mini.words.lines()
    assert len(lines) >= 2 and lines[0].startswith("…") and lines[-1].endswith("word59")
    high = mini.words.fontMetrics().lineSpacing() * len(lines)
    assert high <= mini.words.height()
    for line in lines:
        assert mini.words.fontMetrics().horizontalAdvance(line) <= mini.words.width()


async def test_a_new_conversation_begins_without_the_old_ones_words(window: MainWindow, factory: FakeFactory) -> None:
    say(window, *spoken(1, "What is it?", "A secret."))
    mini = await opened(window)
    assert mini.words.text() == "A secret."
    window.starter.start_fresh()
    await until(lambda: len(factory.sessions) == 2 and window.manager.session is factory.session)
    window.model.flush()
    assert "secret" not in mini.words.text()


async def test_the_space_bar_and_the_ring_talk(window: MainWindow, factory: FakeFactory, mini: MiniWindow) -> None:
    calls = factory.session.calls
    calls.clear()
    key(mini, Qt.Key.Key_Space, down=True)  # type: ignore[arg-type]
    assert calls == [("press",)] and mini.button.word == "listening"
    key(mini, Qt.Key.Key_Space, down=False)  # type: ignore[arg-type]
    await until(lambda: calls == [("press",), ("release",)])
    calls.clear()
    QTest.mousePress(mini.button, Qt.MouseButton.LeftButton)
    assert calls == [("press",)]
    QTest.mouseRelease(mini.button, Qt.MouseButton.LeftButton)
    assert calls == [("press",), ("release",)]
    calls.clear()
    key(mini, Qt.Key.Key_Space, down=True)  # type: ignore[arg-type]
    window.come_forward()
    await until(lambda: calls == [("press",), ("release",)])  # it has lost the keyboard


async def test_escape_and_the_square_silence_what_is_spoken(window, factory, mini) -> None:
    calls = factory.session.calls
    assert not mini.silence.isVisible()
    press_key(mini, Qt.Key.Key_Escape)
    assert ("silence",) not in calls and mini.isVisible()
    say(window, *spoken(1, "What?", "This and that.")[:-1])
    assert mini.silence.isVisible()
    middle = mini.silence.icon().pixmap(16, 16).toImage().pixelColor(8, 8)
    assert middle.alpha() == 255, "it is filled, unlike a box to check"
    press_key(mini, Qt.Key.Key_Escape)
    QTest.mouseClick(mini.silence, Qt.MouseButton.LeftButton)
    assert calls.count(("silence",)) == 2


async def test_it_mutes_with_the_main_window(window: MainWindow, mini: MiniWindow) -> None:
    QTest.mouseClick(mini.mute, Qt.MouseButton.LeftButton)
    assert window.manager.wanted.muted and window.dock.mute.isChecked()
    say(window, e.MicrophoneMuted(1.0, True))
    assert mini.mute.confirmed and mini.button.word == "muted"
    QTest.keySequence(mini, QKeySequence("Ctrl+M"))
    assert not window.manager.wanted.muted and not mini.mute.isChecked()


async def test_it_names_the_model_in_its_colour_and_moves_its_ring() -> None:
    async with shown(FakeFactory(), Settings(provider="ollama")) as window:
        mini = await opened(window)
        pill = window.top_bar.pill
        assert mini.model.name == pill.text() and mini.model.colour() == pill.colour()
        dot = mini.model.grab().toImage().pixelColor(4, mini.model.height() // 2)
        assert dot == pill.colour()
        say(window, e.LevelMeasured(1.0, -6.0, -80.0, 3.0))
        assert mini.button.level > 0.5
        window.come_forward()
        mini.button.level = 0.0
        say(window, e.LevelMeasured(2.0, -6.0, -80.0, 3.0))
        assert mini.button.level == 0.0, "what is not seen costs nothing"


async def test_it_is_dragged_stays_on_the_screen_and_is_found_there_again(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    async with shown(FakeFactory(), Settings(path=path)) as window:
        mini = await opened(window)
        place = mini.pos()
        drag(mini, mini.words.geometry().center(), QPoint(-60, -40))
        assert mini.pos() == place + QPoint(-60, -40)
        kept = window.layout_store
        await until(lambda: kept.mini == (mini.x(), mini.y()))
        drag(mini, QPoint(180, 110), QPoint(5000, 5000))
        room = mini.screen().availableGeometry()
        assert mini.geometry().bottomRight() == room.bottomRight()
        mini.move(-90, -40)  # as a window manager may
        await until(lambda: kept.mini == (0, 0))
        mini.move(200, 100)
        await until(lambda: kept.mini == (200, 100))
    assert json.loads(path.with_name("window.json").read_text("utf-8"))["layout"]["mini"] == [200, 100]
    async with shown(FakeFactory(), Settings(path=path)) as window:
        assert (await opened(window)).pos() == QPoint(200, 100)


async def test_a_place_on_a_screen_that_is_gone_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    async with shown(FakeFactory(), Settings(path=path)) as window:
        window.layout_store.keep_mini((9000, -5000))
        mini = await opened(window)
        assert QGuiApplication.primaryScreen().availableGeometry().contains(mini.geometry())


async def test_a_message_is_typed_in_it_and_sent(window: MainWindow, mini: MiniWindow, factory: FakeFactory) -> None:
    await type_keys(mini, "What is it?")
    assert mini.field.text() == "What is it?", "the space is part of it"
    press_key(mini, Qt.Key.Key_Return)
    assert ("write", "What is it?") in factory.session.calls
    assert mini.field.text() == "" and mini.isVisible()
    press_key(mini, Qt.Key.Key_Space)
    await until(lambda: factory.session.calls[-2:] == [("press",), ("release",)])


async def test_the_draft_is_the_main_windows(window: MainWindow, factory: FakeFactory) -> None:
    draft = window.transcript.composer.field
    draft.setText("What is")
    mini = await opened(window)
    assert mini.field.text() == "What is"
    await type_keys(mini, " it?")
    window.come_forward()
    assert draft.text() == "What is it?"
    draft.setText("What was it?")
    await opened(window)
    assert mini.field.text() == "What was it?"
    press_key(mini, Qt.Key.Key_Return)
    assert factory.session.calls[-1] == ("write", "What was it?") and mini.isVisible()
    assert mini.field.text() == draft.text() == ""


async def test_the_model_is_changed_in_it(window: MainWindow, mini: MiniWindow, factory: FakeFactory) -> None:
    window.popover.favourites.show_backends([BackendChoice("openai", "gpt-4.1")])
    mini.model.click()
    menu = next(one for one in mini.findChildren(QMenu) if one.isVisible())
    assert [action.text() for action in menu.actions() if action.text()][-1] == "All models…"
    menu.actions()[0].trigger()
    menu.close()
    assert factory.session.calls == [("set_backend", BackendChoice("openai", "gpt-4.1"))]
    await until(lambda: mini.model.name == "gpt-4.1")
    say(window, *spoken(1, "Who?", "I."))
    window.transcript.composer.edit(window.model.turns[0])
    assert mini.field.text() == "Who?"
    mini.field.setText("Why?")
    QTest.keyClick(mini.field, Qt.Key.Key_Return)
    assert [call[0] for call in factory.session.calls[-2:]] == ["choose_branch", "write"], "it replaces the turn, too"
