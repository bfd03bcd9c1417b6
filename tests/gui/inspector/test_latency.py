"""The latency page and the status line's response time: events in, what is shown out, by mouse and by keyboard."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QAction, QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.conversation import events as e
from app.gui.design.look import Look
from app.gui.inspector.latency import LatencyView
from app.gui.inspector.pane import InspectorPane
from app.gui.shell.status_line import StatusLine
from app.gui.state.session_model import SessionModel
from tests.gui.helpers import feed
from tests.unit.conversation.test_latency import AFTER, GPT, THINKING, asked, turn_of


class Place:
    def __init__(self) -> None:
        self.window = QWidget()
        self.window.resize(1180, 60)
        self.model = SessionModel(self.window)
        self.status = StatusLine(self.model, QWidget(self.window), QAction(self.window), self.window)
        QVBoxLayout(self.window).addWidget(self.status)
        self.room = InspectorPane(self.model, self.window)
        self.room.attach(QAction(self.window), self.status)
        self.window.show()
        self.begin()

    def begin(self) -> None:
        self.model.set_phase("running")
        self.model.begin(first=True)

    def say(self, *events: e.Event) -> None:
        feed(self.model, *events)

    def opened(self) -> LatencyView:
        """The view, shown, with all that has happened so far."""
        view = self.room.latency
        if view is None:
            view = self.room.latency = LatencyView(self.model, self.status.usage_summary, self.window)
            view.setWindowFlag(Qt.WindowType.Window)
            view.resize(620, 660)
        view.show()
        view.activateWindow()
        view.take_focus()
        return view

    def turns(self, count: int, first: int = 1) -> None:
        """So many usual answers, of 0.76 s each."""
        for number in range(first, first + count):
            self.say(*turn_of(number, number * 10.0))


@pytest.fixture
def place() -> Iterator[Place]:
    place = Place()
    yield place
    place.window.close()
    place.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def cells(panel: LatencyView) -> list[list[str]]:
    table = panel.table
    titles = [table.horizontalHeaderItem(column).text() for column in range(5)]
    return [titles, *([table.item(line, column).text() for column in range(5)] for line in range(table.rowCount()))]


def colour_at(widget: QWidget, x: float, y: float) -> QColor:
    return widget.grab().toImage().pixelColor(round(x), round(y))


def test_the_line_tells_the_last_answer_and_the_distribution_once_there_is_one(place: Place) -> None:
    response = place.status.response
    assert response.text() == "No answer yet"
    place.say(*turn_of(1, 10.0))
    assert response.text() == "First word after 0.8 s"
    place.say(*turn_of(2, 20.0, backend=0.5))
    assert response.text() == "First word after 1.0 s"
    place.say(*turn_of(3, 30.0, backend=0.4))
    assert response.text() == "First word after 0.9 s"
    assert response.accessibleName() == "First word after 0.9 s · median 0.86 s · 95 % 0.95 s"
    assert "latency in the inspector" in response.accessibleDescription()
    place.say(e.UserStarted(38, 4), e.AssistantStarted(39.9, 4, 0), e.UserEnded(40.2, 4, 40.0, "words"))
    assert response.text() == "First word 0.1 s before you ended"
    place.begin()
    assert response.text() == "No answer yet"


def test_the_time_that_a_failed_model_cost_is_shown(place: Place) -> None:
    place.say(
        e.UserEnded(10.2, 1, 10.0, "words"),
        asked(10.3, 1, 1, True, ("a", "dead")),
        e.OracleEnded(15.3, 1, "failed", 0),
        e.BackendChanged(15.3, *GPT, "fallback"),
        asked(15.3, 2, 1, True, GPT),
        e.OracleDelta(15.6, 2, "Because."),
        e.OracleFed(15.6, 2, 1, 0.0),
        e.AssistantStarted(15.7, 1, 2),
    )
    assert place.status.response.text() == "First word after 5.7 s (5.1 s for a model that failed)"
    assert place.opened().why.text() == "Another model failed, which took 5.10 s. Then gpt-4.1 was asked instead."
    place.turns(1, first=2)
    assert place.status.response.text() == "First word after 0.8 s"


def test_before_the_first_answer_it_says_so(place: Place) -> None:
    panel = place.opened()
    assert panel.empty.isVisible() and panel.empty.text().startswith("No answer yet. Say something,")
    assert not any(w.isVisible() for w in (panel.head, panel.bar, panel.why, panel.table, panel.strip))
    assert panel.gauges["Cost"].text() == ""
    assert panel.as_text().splitlines()[:3] == ["Latency of this conversation", "", panel.empty.text()]


def test_every_stage_of_the_last_answer_beside_the_talks_distribution(place: Place) -> None:
    place.turns(4)
    place.say(*turn_of(5, 50.0, noticing=0.25, backend=1.9))
    panel = place.opened()
    assert not panel.empty.isVisible()
    assert panel.head.text() == "The last answer · gpt-4.1 (OpenAI)"
    assert panel.sentence.text() == "You heard it 2.41 s after your last sound."
    assert panel.why.text() == "gpt-4.1 took 1.90 s to its first words (usually 0.30 s)."
    assert cells(panel) == [
        ["Stage", "Last", "Median", "95 %", "Slowest"],
        ["Detecting the end of your turn", "0.25 s", "0.20 s", "0.24 s", "0.25 s"],
        ["Transcribing what you said", "0.35 s", "0.30 s", "0.34 s", "0.35 s"],
        ["The model's first words", "1.90 s", "0.30 s", "1.58 s", "1.90 s"],
        ["The voice's first sound", "0.16 s", "0.16 s", "0.16 s", "0.16 s"],
        ["Total wait", "2.41 s", "0.76 s", "2.08 s", "2.41 s"],
    ]
    assert panel.bar.accessibleDescription() == "end of turn 0.25 s, transcript 0.10 s, model 1.90 s, voice 0.16 s"
    times = [(answer.turn, round(answer.response, 2)) for answer in panel.strip.answers]
    assert times == [(1, 0.76), (2, 0.76), (3, 0.76), (4, 0.76), (5, 2.41)] and panel.strip.slow == 1.0
    assert panel.strip.accessibleDescription() == "5 of 5: 2.41 s, slow"


def test_an_answer_that_was_thought_of_before_or_began_before_the_end(place: Place) -> None:
    place.say(
        THINKING,
        asked(8.0, 1, 1, False),
        e.OracleDelta(8.4, 1, "Yes."),
        e.OracleFed(8.48, 1, 1, 80.0),
        e.UserEnded(10.1, 1, 10.0, "words"),
        e.AssistantStarted(10.2, 1, 1),
    )
    panel = place.opened()
    assert panel.sentence.text() == (
        "You heard it 0.20 s after your last sound. The model answered while you were speaking, so it added no delay."
    )
    assert panel.why.text().startswith("It was not slow. The longest part was “")
    place.say(e.AssistantStarted(19.9, 2, 0), e.UserEnded(20.2, 2, 20.0, "words"))
    panel.refresh()
    assert panel.head.text() == "The last answer"
    assert panel.sentence.text() == "It started 0.10 s before you finished."
    assert panel.why.text() == "It was not slow: there was nothing to wait for."
    assert cells(panel)[5][1] == "\u22120.10 s"
    panel.grab()  # and nothing of nothing can be painted
    place.say(e.UserEnded(30.0, 3, 30.0, "typed"), e.AssistantStarted(30.4, 3, 0))
    panel.refresh()
    assert panel.sentence.text() == "You heard it 0.40 s after sending."


def test_it_follows_the_talk_a_few_times_a_second(place: Place, qtbot) -> None:
    place.turns(1)
    panel = place.opened()
    assert cells(panel)[5][1] == "0.76 s"
    for number in range(2, 8):
        place.say(*turn_of(number, number * 10.0, backend=0.1 * number))
    assert cells(panel)[5][1] == "0.76 s"  # not for every batch
    qtbot.waitUntil(lambda: cells(panel)[5][1] == "1.16 s", timeout=3000)


def test_a_new_talk_begins_with_nothing(place: Place) -> None:
    place.turns(3)
    panel = place.opened()
    panel.pick(1)
    place.say(asked(50.0, 9, 5, True))
    panel.refresh()
    assert panel.gauges["Cost"].text().startswith("4 requests")
    place.begin()
    panel.refresh()
    assert panel.empty.isVisible() and not panel.table.isVisible()
    assert panel.gauges["Cost"].text() == ""
    place.turns(2)
    panel.refresh()
    assert panel.head.text().startswith("The last answer") and panel.strip.turn == 2


def test_an_earlier_answer_is_picked_by_mouse_and_by_keyboard(place: Place) -> None:
    place.turns(3)
    place.say(*turn_of(4, 40.0, voice=1.5), *turn_of(5, 50.0), *turn_of(6, 60.0))
    panel, strip = place.opened(), place.opened().strip
    at = strip.bar_rect(3).center()
    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(round(at.x()), round(at.y())))
    assert panel.head.text() == "The answer to turn 4 · gpt-4.1 (OpenAI)"
    assert panel.why.text() == (
        "The voice took 1.50 s from the model's first words to its first sound (usually 0.16 s)."
    )
    assert cells(panel)[0][1] == "This one" and cells(panel)[4][1] == "1.50 s"
    assert colour_at(strip, at.x(), strip.height() - 16) == Look.of(strip.palette()).warn
    place.say(*turn_of(7, 70.0))
    panel.refresh()
    assert panel.head.text().startswith("The answer to turn 4")
    panel.activateWindow()
    strip.setFocus()
    for code, turn in (
        (Qt.Key.Key_Left, 3),
        (Qt.Key.Key_Home, 1),
        (Qt.Key.Key_Left, 1),
        (Qt.Key.Key_Right, 2),
        (Qt.Key.Key_End, 7),
    ):
        QTest.keyClick(strip, code)
        assert strip.turn == turn
    assert panel.head.text().startswith("The last answer")
    place.say(*turn_of(8, 80.0))
    panel.refresh()
    assert strip.turn == 8  # the newest is followed
    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(round(strip.width() / 2), 10))
    assert strip.turn == 8  # there is no bar


def test_memory_steps_and_cost_are_told(place: Place) -> None:
    panel, gauges = place.opened(), place.opened().gauges
    assert not panel.memory.isVisible()
    place.say(
        AFTER,
        e.ContextMeasured(1.0, 1125, 3000),
        *(e.LevelMeasured(n * 0.08, -20, -20, 3.0 if n % 100 else 30.0) for n in range(1, 301)),
        e.LevelMeasured(30, -20, -20, 120.0),
        e.FramesDropped(30.0, 5),
        e.Underrun(31.0, 1),
        asked(32.0, 1, 1, True),
        asked(33.0, 2, 1, True),
        e.OracleEnded(33.0, 1, "superseded", 2),
        e.OracleCounted(34.0, 2, *GPT, 12000, 345, 0, True, 0.042, 300.0, 9.0, 400.0),
    )
    place.opened()
    assert panel.memory.isVisible() and (panel.memory.value(), panel.memory.maximum()) == (1125, 3000)
    assert gauges["Memory"].text() == "The voice's model remembers 1:30 of 4:00 minutes."
    assert (panel.frames.value(), panel.frames.maximum(), panel.frames.text()) == (30, 80, "30 of 80 ms")
    assert gauges["Frames"].text() == ("Median 3.0 ms, 99 % within 30.0 ms. Late: 1, dropped: 5, gaps in the sound: 1.")
    assert gauges["Cost"].text() == "2 requests, 1 cut short · 12.3k tokens · $0.042"
    place.say(e.OracleCounted(35.0, 2, "Embedded", "small", 100, 3, 0, True, None, 300.0, 9.0, 400.0))
    place.opened()
    assert gauges["Cost"].text().endswith("12.4k tokens · $0.042 · more of unknown price")


def test_it_is_copied_as_text(place: Place) -> None:
    place.turns(4)
    place.say(*turn_of(5, 50.0, backend=1.9), e.ContextMeasured(1.0, 1125, 3000))
    panel = place.opened()
    panel.activateWindow()
    panel.copy_button.setFocus()
    QTest.keyClick(panel.copy_button, Qt.Key.Key_Space)
    assert panel.copy_button.text() == "Copied"
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Latency of this conversation\n\nThe last answer · gpt-4.1 (OpenAI): You heard it 2.36 s")
    assert f"\n{panel.why.text()}\n\n" + "\n".join(map("\t".join, cells(panel))) in copied
    assert copied.splitlines()[-3] == "Memory: The voice's model remembers 1:30 of 4:00 minutes."
