"""Finding words in the conversation: by keyboard, while the session goes on, and in a long one."""

import asyncio
import time

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.cards.find_bar import FindBar
from app.gui.window.main_window import MainWindow
from tests.gui.helpers import say, spoken, until


def marked(window: MainWindow) -> list[str]:
    return [mark.cursor.selectedText() for mark in window.transcript.view.extraSelections()]


def current(window: MainWindow) -> str:
    """The paragraph of the place that is marked most."""
    marks = window.transcript.view.extraSelections()
    strongest = window.transcript.find_bar._current
    first = max(0, min(strongest - 250, len(window.transcript.find_bar._places) - 500))
    return marks[strongest - first].cursor.block().text()


async def looked_for(window: MainWindow, words: str) -> FindBar:
    await until(window.isActiveWindow)
    QTest.keySequence(window, QKeySequence(QKeySequence.StandardKey.Find))
    bar = window.transcript.find_bar
    assert bar.isVisible() and bar.field.hasFocus()
    bar.field.clear()
    QTest.keyClicks(bar.field, words)
    await until(lambda: not bar._later.isActive())
    return bar


async def test_words_are_found_counted_and_gone_through(window: MainWindow) -> None:
    say(window, *spoken(1, "Is a mountain high?", "The Mountain is high. A mountain range is long."))
    bar = await looked_for(window, "mountain")
    assert marked(window) == ["mountain", "Mountain", "mountain"], "whatever the case"
    assert bar.count.text() == "3 of 3", "the newest first"
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.count.text() == "1 of 3", "round and round"
    QTest.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count.text() == "3 of 3"
    QTest.mouseClick(bar.previous_button, Qt.MouseButton.LeftButton)
    assert bar.count.text() == "2 of 3"
    QTest.mouseClick(bar.next_button, Qt.MouseButton.LeftButton)
    assert bar.count.text() == "3 of 3"
    bar.field.clear()
    QTest.keyClicks(bar.field, "valley")
    await until(lambda: bar.count.text() == "not found")
    assert marked(window) == [] and not bar.next_button.isEnabled()
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert not bar.isVisible() and window.transcript.view.hasFocus() and window.isVisible()


async def test_escape_clears_the_marks_and_the_bar_comes_back_with_what_is_selected(window: MainWindow) -> None:
    say(window, *spoken(1, "Red or blue?", "Blue, and red once more."))
    bar = await looked_for(window, "red")
    assert len(marked(window)) == 2
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert marked(window) == []
    view = window.transcript.view
    cursor = view.document().find("Blue")
    view.setTextCursor(cursor)
    QTest.keySequence(window, QKeySequence(QKeySequence.StandardKey.Find))
    assert bar.field.text().lower() == "blue" and bar.field.selectedText() == bar.field.text()
    await until(lambda: len(marked(window)) == 2)


async def test_marks_move_and_grow_while_the_talk_goes_on(window: MainWindow) -> None:
    say(window, *spoken(1, "The sun and the sun?", "The sun."), e.UserStarted(10, 2))
    bar = await looked_for(window, "sun")
    bar.step(-1)
    assert bar.count.text() == "2 of 3"
    was = current(window)
    assert was == "The sun and the sun?"
    # Faster than the bar's patience, and one turn that belongs above all others.
    say(window, e.UserStarted(0.1, 0), e.TranscriptFinal(0.2, 0, "A sun before", 0.2))
    begun = time.monotonic()
    step = 0
    while time.monotonic() - begun < 1.5 and bar.count.text() != "4 of 5":
        step += 1
        say(window, e.TranscriptPartial(10 + step, 2, "Another sun", "and" + " on" * step, 10.0))
        await asyncio.sleep(0.02)
    assert bar.count.text() in ("2 of 5", "3 of 5"), "counted while words come without a pause"
    assert current(window) == was and marked(window) == ["sun"] * 5
    say(window, e.TranscriptFinal(30, 2, "Nothing any more.", 30))
    await until(lambda: marked(window) == ["sun"] * 4)
    assert current(window) == was


async def test_another_conversation_is_not_marked_with_the_last_search(window: MainWindow) -> None:
    say(window, *spoken(1, "One fish?"))
    bar = await looked_for(window, "fish")
    window.model.clear()
    assert not bar.isVisible() and marked(window) == []
