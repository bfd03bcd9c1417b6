"""Messages: levels, counting, reading time, order of importance, and removal once solved."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QAccessible, QEnterEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget

from app.gui.shell.message_bar import MOST, MessageBar
from app.gui.shell.message_row import MessageRow, Offer, breakable, reading_ms

TRY_AGAIN = Offer("Try again", lambda: None)
PATH = "/home/ann/.config/kame-desktop/a-folder-with-a-very-long-name-indeed/and_another_one/settings.json.broken" * 2


class Place(QWidget):
    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        self.above, self.bar, self.below = QPushButton("Above", self), MessageBar(self), QPushButton("Below", self)
        self.above.setAccessibleName("Above")
        self.below.setAccessibleName("Below")
        column.addWidget(self.above)
        column.addWidget(self.bar)
        column.addStretch(1)
        column.addWidget(self.below)
        self.resize(900, 600)


@pytest.fixture
def place(qtbot) -> Iterator[Place]:
    place = Place()
    qtbot.addWidget(place)
    place.show()
    place.activateWindow()
    qtbot.waitUntil(place.isActiveWindow)
    yield place


@pytest.fixture
def bar(place: Place) -> MessageBar:
    return place.bar


def point_at(row: MessageRow) -> None:
    middle = QPointF(row.rect().center())
    QApplication.sendEvent(row, QEnterEvent(middle, middle, middle))


def point_elsewhere(row: MessageRow) -> None:
    QApplication.sendEvent(row, QEvent(QEvent.Type.Leave))


def test_a_repeated_message_is_counted_and_not_shown_twice(bar: MessageBar) -> None:
    bar.say("Ollama did not answer. Start it.")
    (row,) = bar.rows
    assert not row.count.isVisible() and row.accessibleDescription() == "Error"
    bar.say("Ollama did not answer. Start it.")
    bar.say("Ollama did not answer. Start it.")
    assert bar.rows == [row] and row.count.isVisible() and row.count.text() == "(3×)"
    assert row.label.text() == row.accessibleName() == "Ollama did not answer. Start it."
    assert row.accessibleDescription() == "Error, 3 times"
    bar.say("Ollama did not answer. Start it.", topic="comparison")
    assert len(bar.rows) == 2, "that was the comparison model"


def test_a_notice_goes_when_it_may_have_been_read(bar: MessageBar, qtbot) -> None:
    assert reading_ms("Two words.") < reading_ms("A sentence of more words takes longer to read.") < 15_000
    assert reading_ms("") >= 4_000
    bar.reading_ms = lambda sentence: 30
    bar.say("The microphone is back.", level="notice")
    bar.say("The settings could not be saved.", level="warning")
    qtbot.waitUntil(lambda: bar.sentences() == ["The settings could not be saved."])
    assert not bar.rows[0].reading.isActive() and bar.isVisible()


def test_a_notice_stays_while_it_is_pointed_at_or_has_the_keyboard(bar: MessageBar, place: Place) -> None:
    place.above.setFocus()
    bar.say("The microphone is back.", level="notice")
    (row,) = bar.rows
    assert row.reading.isActive() and row.reading.interval() == reading_ms(row.sentence)
    point_at(row)
    assert not row.reading.isActive()
    row.close_button.setFocus()
    point_elsewhere(row)
    assert not row.reading.isActive(), "the keyboard is in it"
    place.above.setFocus()
    assert row.reading.isActive()
    point_at(row)
    bar.say("The microphone is back.", level="notice")
    assert not row.reading.isActive() and row.times == 2
    bar.say("The microphone is back.")  # and now it is one
    point_elsewhere(row)
    assert row.level == "error" and not row.reading.isActive()


def test_a_notice_waits_until_the_window_is_visible(bar: MessageBar, place: Place, qtbot) -> None:
    bar.reading_ms = lambda sentence: 20
    place.hide()
    bar.say("The microphone is back.", level="notice")
    (row,) = bar.rows
    with qtbot.waitSignals([row.reading.timeout] * 2):
        pass
    assert bar.rows == [row]
    place.show()
    qtbot.waitUntil(lambda: bar.rows == [])


def test_worse_messages_are_dropped_last(bar: MessageBar) -> None:
    bar.say("Error one.")
    bar.say("A notice.", level="notice")
    bar.say("A warning.", level="warning")
    bar.say("Error two.", TRY_AGAIN)
    assert bar.sentences() == ["Error one.", "A warning.", "Error two."]
    bar.say("Error three.")
    bar.say("Error four.")
    assert bar.sentences() == ["Error two.", "Error three.", "Error four."], "what can be tried again stays longest"
    bar.say("Another notice.", level="notice")
    assert len(bar.rows) == MOST and "Another notice." not in bar.sentences()


def test_solved_messages_go_and_the_rest_stays(bar: MessageBar) -> None:
    bar.say("The settings could not be saved.", topic="settings")
    bar.say("There is no key.", topic="backend")
    bar.say("Something else.")
    bar.clear_topic("backend", "cap")
    assert bar.sentences() == ["The settings could not be saved.", "Something else."]
    bar.say("The settings still can't be saved.", topic="settings")
    assert bar.sentences() == ["Something else.", "The settings still can't be saved."]
    bar.clear_topic("settings")
    assert bar.sentences() == ["Something else."]


def test_escape_closes_the_message_with_the_keyboard_and_gives_it_back(bar: MessageBar, place: Place) -> None:
    place.below.setFocus()
    assert not bar.take_focus()
    bar.say("First.")
    bar.say("Second.", TRY_AGAIN)
    assert place.below.hasFocus(), "a message does not take the keyboard"
    assert bar.take_focus() and bar.rows[1].offers[0].hasFocus()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert bar.sentences() == ["First."] and bar.rows[0].close_button.hasFocus()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert bar.sentences() == [] and place.below.hasFocus() and not bar.isVisible()
    bar.say("Third.")
    place.above.setFocus()
    QTest.mouseClick(bar.rows[0].close_button, Qt.MouseButton.LeftButton)
    assert bar.rows == [] and place.above.hasFocus()


def test_buttons_stand_below_a_sentence_that_has_too_little_room(bar: MessageBar, place: Place) -> None:
    offers = [Offer(text, lambda: None) for text in ("Try again", "Choose a model …", "Enter a key …", "Compare …")]
    bar.say("The server refuses the key. " * 3, *offers)
    bar.say("It refuses.", *offers)
    for wide, below in ((1400, False), (600, True), (1400, False)):
        place.resize(wide, 400)
        QApplication.processEvents()
        for row, moved in zip(bar.rows, (below, False), strict=True):
            assert (row.close_button.y() > row.label.geometry().bottom()) == moved
            assert row.close_button.geometry().right() > row.width() - 20
            assert not moved or row.label.width() > row.width() - 60


def test_a_path_is_copied_as_it_is(bar: MessageBar) -> None:
    bar.say(f"The damaged file is kept as {PATH}")
    label = bar.rows[0].label
    assert QLabel.text(label) == breakable(f"The damaged file is kept as {PATH}") != label.text()
    label.setSelection(len("The damaged file is kept as "), len(breakable(PATH)))
    label.setFocus()
    QTest.keySequence(label, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QApplication.clipboard().text() == PATH
    label.setSelection(0, 0)
    label.copy()
    assert QApplication.clipboard().text() == f"The damaged file is kept as {PATH}"
    assert breakable("short words stay, as/they/are") == "short words stay, as/they/are"


def test_each_message_is_announced_once_to_screen_readers(bar: MessageBar, monkeypatch: pytest.MonkeyPatch) -> None:
    announced: list[tuple[str, QAccessible.Event]] = []
    monkeypatch.setattr(
        QAccessible,
        "updateAccessibility",
        lambda event: announced.append((event.object().accessibleName(), event.type())),
    )
    bar.say("First.")
    bar.say("First.")
    bar.say("Second.", level="notice")
    alert = QAccessible.Event.Alert
    assert [one for one in announced if one[1] == alert] == [("First.", alert), ("Second.", alert)]
