"""The demo's window: stopwatches, thoughts, figures, buttons and keys."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QPushButton, QWidget

from app.demo.base import SIDES, DemoFigure, DemoResult
from app.demo.record import LEAD_SECONDS, Replay
from app.gui.demo.painting import side_ink
from app.gui.demo.screen import DemoScreen
from app.gui.design.motion import reduce_motion
from tests.gui.helpers import heard
from tests.support.demo_talk import QUESTIONS, ScriptedDemoService

OWN = DemoFigure("What do pandas eat when all of the bamboo on their mountain is gone?", 1.45, 0.35, own=True)
GIVEN = (DemoFigure("Who said that?", 1.0, 0.5), DemoFigure("Why is it so?", 1.2, 0.2))
END = LEAD_SECONDS + QUESTIONS[1].seconds
"""When the question is over in the replay."""


@pytest.fixture
def screen(qtbot) -> Iterator[DemoScreen]:
    reduce_motion(True)
    parent = QWidget()
    qtbot.addWidget(parent)
    made = DemoScreen(parent)
    made.appear(full=False)
    made.show_step("watch")
    yield made
    del parent


async def recorded() -> Replay:
    service = ScriptedDemoService()
    await service.ship()
    return Replay(service.shipped[1])


def show(screen: DemoScreen, replay: Replay, now: float) -> None:
    """Shows the replay at this time, as the demo does."""
    replay.advance(now)
    for side in SIDES:
        screen.sides[side].show_state(replay.states[side], replay.session_time(side))


def pixels(widget: QWidget, colour: QColor) -> int:
    image = widget.grab().toImage()
    return sum(
        image.pixelColor(x, y).rgb() == colour.rgb()
        for x in range(0, image.width(), 3)
        for y in range(0, image.height(), 3)
    )


async def test_each_stopwatch_stops_when_its_side_is_heard_and_in_its_colour(screen) -> None:
    replay = await recorded()
    cascade, tandem = screen.sides["cascade"], screen.sides["tandem"]
    show(screen, replay, END - 0.4)
    assert (cascade.clock, tandem.clock) == ("0.00", "0.00")
    assert cascade.lit == (True, False, False), "it waits for the question's end"
    assert tandem.lit == (True, True, False), "it thinks already"
    show(screen, replay, END + 0.2)
    assert (cascade.clock, tandem.clock) == ("0.20", "0.20") and not tandem.stopped
    before = pixels(tandem, side_ink("tandem"))
    show(screen, replay, END + 0.5)
    assert (cascade.clock, tandem.clock) == ("0.50", "0.24") and tandem.stopped and not cascade.stopped
    assert pixels(tandem, side_ink("tandem")) > before + 200
    assert cascade.lit == (False, True, False) and tandem.lit[2]
    show(screen, replay, END + 2.0)
    assert (cascade.clock, tandem.clock) == ("0.96", "0.24") and cascade.stopped
    assert cascade.accessibleDescription() == "0.96 seconds"
    screen.show_texts("", "", "", "")
    assert cascade.clock == "0.00" and not cascade.stopped and not cascade.state.revisions


async def test_the_tandems_thoughts_are_rewritten_before_the_cascade_has_any(screen) -> None:
    replay = await recorded()
    cascade, tandem = (screen.sides[side] for side in SIDES)
    show(screen, replay, LEAD_SECONDS + 1.0)
    assert [one.text for one in tandem.state.revisions] == ["It was a"]
    show(screen, replay, LEAD_SECONDS + 1.8)
    assert [one.text for one in tandem.state.revisions] == ["It was a", "It is so"] and not cascade.state.revisions
    show(screen, replay, END + 1.8)
    assert tandem.state.revisions[-1].text == cascade.state.revisions[-1].text == "It is so because it was made so"
    assert 0 < tandem.state.revisions[-1].heard < len("It is so because it was made so")


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ((2.4, 0.32), "Tandem: 2.1 s sooner"),
        ((2.4, 0.0), "Tandem: answered before the question ended"),
        ((0.5, 0.34), "Both answered about as soon"),
        ((1.0, 2.2), "Cascade: 1.2 s sooner"),
        ((None, 0.3), ""),
    ],
)
def test_the_headline_says_what_one_hears(screen, times, words: str) -> None:
    assert screen.verdict(*times) == words


def test_full_screen_or_a_window_and_the_way_out(screen, qtbot) -> None:
    assert not screen.isFullScreen()
    qtbot.keyClick(screen, Qt.Key.Key_F11)
    assert screen.isFullScreen() and screen.size() == screen.screen().size()
    qtbot.mouseClick(screen.window_button, Qt.MouseButton.LeftButton)
    assert not screen.isFullScreen()
    left = heard(screen.leave_wanted)
    qtbot.keyClick(screen, Qt.Key.Key_Escape)
    qtbot.mouseClick(screen.leave, Qt.MouseButton.LeftButton)
    assert len(left) == 2


@pytest.mark.parametrize("step", ["start", "watch", "ask", "figures"])
def test_space_only_talks_on_every_page(step: str, screen, qtbot) -> None:
    held, clicked = [], []
    screen.push.pressed.connect(lambda: held.append(True))
    screen.push.released.connect(lambda: held.append(False))
    for button in screen.findChildren(QPushButton):
        button.clicked.connect(lambda *_: clicked.append(step))
        qtbot.mouseClick(button, Qt.MouseButton.MiddleButton)
    screen.show_step(step)
    screen.allow_talking(step == "ask")
    wanted = heard(screen.next_wanted), heard(screen.leave_wanted)
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Tab):
        qtbot.keyClick(screen, key)
        qtbot.keyPress(screen.focusWidget() or screen, Qt.Key.Key_Space)
        assert held[-1:] == ([True] if step == "ask" else [])
        screen.push.let_go("space")
    assert not clicked and wanted == ([], []) and screen.dialog is None


def test_the_talk_button_counts_only_when_a_visitor_may_ask(screen, qtbot) -> None:
    places, held = heard(screen.model_wanted), []
    screen.push.pressed.connect(lambda: held.append(True))
    screen.push.released.connect(lambda: held.append(False))
    assert not screen.talk.isVisible()
    screen.show_step("ask")
    screen.allow_talking(True)
    qtbot.keyClick(screen, Qt.Key.Key_2)
    assert places == [1]
    qtbot.mousePress(screen.talk, Qt.MouseButton.LeftButton)
    qtbot.mouseRelease(screen.talk, Qt.MouseButton.LeftButton)
    assert held == [True, False]
    qtbot.mousePress(screen.talk, Qt.MouseButton.LeftButton)
    screen.show_step("figures")
    assert held == [True, False] * 2, "the step is over, and so is the question"


def test_the_figures_and_their_picture(screen, qtbot, tmp_path) -> None:
    screen.show_step("figures")
    screen.show_result(DemoResult((*GIVEN, OWN), "First"), "Recorded")
    assert screen.question.text == "Tandem: 1.1 s sooner"
    assert [screen.sides[side].clock for side in SIDES] == ["1.45", "0.35"], "only the visitor's own count"
    assert screen.sides["tandem"].rows[0] == "0.50  Who said that?"
    qtbot.keyClick(screen, Qt.Key.Key_S)
    screen.dialog.selectFile(str(tmp_path / "here.png"))
    screen.dialog.accept()
    image = QImage(str(tmp_path / "here.png"))
    assert image.width() == screen.width() and image.height() < screen.height() and screen.dialog is None
    screen.save(tmp_path / "nowhere" / "x.png")
    assert "could not be saved" in screen.headline.text
    screen.show_result(DemoResult(), "")
    assert "No question" in screen.question.text and screen.sides["tandem"].clock == "0.00"
