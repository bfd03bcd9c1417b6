"""Typing in place of talking: the line below the conversation, what was sent before, and asking something again."""

import asyncio

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolTip

from app.conversation import events as e
from app.gui.cards.card import LONGEST_BODY
from app.gui.window.main_window import MainWindow
from app.session.control import UserError
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory, FakeSession
from tests.gui.helpers import key, press, say, shown, spoken, transcript, typed, until, window_and_factory


def written(session: FakeSession) -> list[str]:
    return [call[1] for call in session.calls if call[0] == "write"]


def choose(menu: QMenu, words: str) -> None:
    action = next(action for action in menu.actions() if words in action.text().replace("&", ""))
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def offered(window: MainWindow, words: str) -> bool:
    menu = window.transcript.menu
    return next(action for action in menu.actions() if words in action.text().replace("&", "")).isEnabled()


def menu_at(window: MainWindow, card: int) -> QMenu:
    view = window.transcript.view
    viewport = view.viewport()
    place = next(box.center().toPoint() for number, box in view._in_view() if number == card)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, viewport.mapToGlobal(place))
    QApplication.sendEvent(viewport, event)
    menu = window.transcript.menu
    assert menu is not None and menu.isVisible()
    return menu


async def test_enter_and_the_button_send_what_was_typed(window: MainWindow, factory: FakeFactory) -> None:
    box = window.transcript.composer
    assert not box.button.isEnabled()
    typed(window, "  Where is Paris?  ")
    assert written(factory.session) == ["Where is Paris?"]
    assert box.field.text() == "" and not box.button.isEnabled()
    QTest.keyClicks(box.field, "   ")
    assert not box.button.isEnabled()
    QTest.keyClick(box.field, Qt.Key.Key_Return)
    assert written(factory.session) == ["Where is Paris?"], "nothing is no turn"
    box.field.clear()
    QTest.keyClicks(box.field, "And Rome?")
    QTest.mouseClick(box.button, Qt.MouseButton.LeftButton)
    assert written(factory.session) == ["Where is Paris?", "And Rome?"]


async def test_what_waits_is_given_back_when_nothing_will_send_it(gate, window, factory) -> None:
    factory.outcomes = [UserError("Ollama is not running. Start it.")]
    typed(window, "First.")
    typed(window, "Second.")
    window.devices.stop_button.click()
    field = window.transcript.composer.field
    assert field.text() == "First. Second." and "continues" in field.placeholderText()
    field.clear()
    typed(window, "Third.")  # which starts the conversation again
    assert field.text() == ""
    gate.set()
    await until(lambda: window.messages.rows)
    assert field.text() == "Third." and "Sent once" not in field.placeholderText()
    press(window.messages.rows[0], "Try again")
    await until(lambda: window.manager.session is not None)
    assert written(factory.session) == [], "it is the user's to send again, or not"


async def test_what_is_typed_while_it_loads_waits_and_is_sent_once(gate, window, factory) -> None:
    typed(window, "First.")
    typed(window, "Second.")
    assert "Sent once" in window.transcript.composer.field.placeholderText()
    gate.set()
    await until(lambda: window.manager.session is not None)
    assert written(factory.session) == ["First.", "Second."]
    assert window.transcript.composer.field.placeholderText() == "Type a message"
    window.devices.stop_button.click()
    typed(window, "Third.")
    window.manager.restart_wanted.emit()
    await until(lambda: len(factory.sessions) == 2)
    await until(lambda: window.manager.session is not None)
    assert (written(factory.sessions[0]), written(factory.session)) == (["First.", "Second."], ["Third."])


async def test_what_waits_is_not_sent_to_another_conversation() -> None:
    factory = FakeFactory(gate=asyncio.Event())
    async with shown(factory, history=FakeHistory(), running=False) as window:
        assert factory.gate is not None
        typed(window, "Only for this one.")
        window.commands["new"].trigger()
        assert window.transcript.composer.field.text() == "Only for this one.", "nothing is lost"
        factory.gate.set()
        await until(lambda: window.manager.session is not None)
        assert written(factory.session) == []


async def test_nothing_typed_reaches_a_session_that_is_being_replaced() -> None:
    async with window_and_factory(history=FakeHistory()) as (window, factory):
        first = factory.session
        window.commands["new"].trigger()
        typed(window, "For the new one.")
        assert written(first) == []
        await until(lambda: len(factory.sessions) == 2)
        await until(lambda: window.manager.session is not None)
        assert (written(first), written(factory.session)) == ([], ["For the new one."])


async def test_arrows_recall_what_was_sent_and_keep_what_is_being_typed(window, factory) -> None:
    field = window.transcript.composer.field
    for text in ("one", "two", "two", "three"):
        typed(window, text)
    QTest.keyClicks(field, "half")
    seen = []
    for code in [Qt.Key.Key_Up] * 4 + [Qt.Key.Key_Down] * 4:
        QTest.keyClick(field, code)
        seen.append(field.text())
    assert seen == ["three", "two", "one", "one", "two", "three", "half", "half"]
    QTest.keyClick(field, Qt.Key.Key_Up)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert written(factory.session) == ["one", "two", "two", "three", "three"]


async def test_after_a_text_was_sent_the_held_space_bar_talks(window: MainWindow, factory: FakeFactory) -> None:
    typed(window, "First.")
    key(window, Qt.Key.Key_Space, down=True)
    for _ in range(5):
        key(window, Qt.Key.Key_Space, down=True, repeat=True)
    assert factory.session.calls.count(("press",)) == 1 and window.transcript.composer.field.text() == ""


async def test_the_field_grows_with_its_lines_and_escape_keeps_it(window: MainWindow, factory: FakeFactory) -> None:
    field = window.transcript.composer.field
    field.setFocus()
    low = field.height()
    QTest.keyClicks(field, "One")
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(field, "Two")
    await until(lambda: field.height() > low)
    assert written(factory.session) == []
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.hasFocus() and field.text() == "One\nTwo"
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert written(factory.session) == ["One\nTwo"]
    await until(lambda: field.height() == low)
    for _ in range(20):
        QTest.keyClicks(field, "line")
        QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    await until(lambda: field.height() > low)
    assert field.height() < 10 * low


async def test_a_typed_turn_says_so(window: MainWindow) -> None:
    say(
        window,
        e.UserStarted(1, 1),
        e.TranscriptFinal(1, 1, "Where is Paris?", 1),
        e.UserEnded(1, 1, 1, "typed"),
        *spoken(2, "And Rome?", at=5),
    )
    assert transcript(window) == ["You   typed\nWhere is Paris?", "You\nAnd Rome?"]


async def test_a_turn_is_asked_again_by_the_mouse(window: MainWindow, factory: FakeFactory) -> None:
    say(window, *spoken(1, "What is the time?", "Noon."))
    window.transcript.composer.field.setText("half typed")
    choose(menu_at(window, 0), "Ask this again")
    assert written(factory.session) == ["What is the time?"]
    assert window.transcript.composer.field.text() == "half typed"
    say(window, *spoken(2, "What is the time?", "Noon.", at=20.0))
    choose(menu_at(window, 1), "Ask this again")  # from its answer
    assert written(factory.session) == ["What is the time?"] * 2


async def test_what_can_be_done_with_the_last_answer_is_below_it(window: MainWindow, factory: FakeFactory) -> None:
    actions, view, composer = window.transcript.actions_, window.transcript.view, window.transcript.composer
    say(window, *spoken(1, "What is the time?", "Noon."))
    await until(actions.isVisible)
    box = view.box_of(1)
    assert box.bottom() < actions.y() + 1 and actions.geometry().bottom() <= view.viewport().height()
    press(actions, "Copy")
    assert QApplication.clipboard().text() == "Noon."
    press(actions, "Ask again")
    assert written(factory.session) == ["What is the time?"] and not actions.isVisible()
    say(window, *spoken(2, "What is the time?", "Noon.", at=20.0))
    press(actions, "Edit and ask")
    assert composer.field.text() == "What is the time?" and composer.field.hasFocus()
    say(window, e.UserStarted(40, 3), e.TranscriptPartial(40.5, 3, "And", "", 40))
    assert not actions.isVisible(), "the user is speaking"
    say(window, *spoken(3, "And now?", "One.", at=41.0))
    await until(actions.isVisible)
    assert actions.turn is not None and actions.turn.text == "One."


async def test_a_turn_is_asked_again_by_the_menu_key(window: MainWindow, factory: FakeFactory) -> None:
    for turn in range(1, 60):
        say(window, *spoken(turn, f"Question {turn}?", f"Answer {turn}.", at=turn * 10.0))
    say(window, *spoken(60, "The last one?", at=700.0))
    view = window.transcript.view
    view.setFocus()
    view.verticalScrollBar().setValue(0)
    # As Qt sends it for the Menu key: to the widget with the keyboard, at its text cursor.
    place = view.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
    place = place if isinstance(place, QPoint) else place.toPoint()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, view.mapToGlobal(place))
    QApplication.sendEvent(view, event)
    menu = window.transcript.menu
    assert (
        menu is not None
        and menu.isVisible()
        and view.rect().adjusted(-1, -1, 1, 1).contains(view.mapFromGlobal(menu.pos()))
    ), "where the user looks"
    assert offered(window, "Ask this again")
    QTest.keyClick(menu, Qt.Key.Key_A)
    assert written(factory.session) == ["The last one?"]


async def test_of_an_endless_text_the_beginning_is_pasted_and_the_rest_told(window: MainWindow) -> None:
    field = window.transcript.composer.field
    field.setText("Explain: ")
    QApplication.clipboard().setText("a" * 900_000)
    field.paste()
    assert field.text() == "Explain: " + "a" * (LONGEST_BODY - 9)
    assert "letters were pasted" in QToolTip.text()
    field.selectAll()
    QApplication.clipboard().setText("Hello.")
    field.paste()
    assert field.text() == "Hello."


async def test_a_question_is_seen_wherever_the_user_was_reading(window: MainWindow, factory: FakeFactory) -> None:
    for turn in range(1, 30):
        say(window, *spoken(turn, f"Question {turn}?", f"Answer {turn}.", at=turn * 10.0))
    view, newest = window.transcript.view, window.transcript.newest
    assert view.at_newest() and not newest.isVisible()
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert not view.at_newest() and newest.isVisible()
    say(window, *spoken(29, "", at=300.0))
    assert not view.at_newest(), "nothing was said"
    say(window, *spoken(30, "And now?", at=310.0))
    assert view.at_newest()
    QTest.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    say(window, *spoken(30, "And now?", "Now.", at=310.0)[3:])
    assert not view.at_newest(), "an answer doesn't take the user away from what they read"
    QTest.mouseClick(newest, Qt.MouseButton.LeftButton)
    assert view.at_newest() and not newest.isVisible()
    QTest.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert view.at_newest(), "the buttons below the answer need not be in view"


async def test_another_size_or_theme_keeps_the_place(window: MainWindow) -> None:
    for turn in range(1, 30):
        say(window, *spoken(turn, f"Question {turn}?", f"Answer {turn}.", at=turn * 10.0))
    view, bar = window.transcript.view, window.transcript.view.verticalScrollBar()
    looks = ("font_scale", 125), ("theme", "dark"), ("font_scale", 100), ("theme", "light")
    for setting, value in looks:
        window.keep.change(setting, value)
        QApplication.processEvents()
        assert view.at_newest()
    bar.setValue(bar.maximum() // 2)
    for setting, value in looks:
        place, box = next(view._in_view())
        window.keep.change(setting, value)
        QApplication.processEvents()
        again = next(view._in_view())
        assert again[0] == place and abs(again[1].top() - box.top()) < 3 and not view.at_newest()
