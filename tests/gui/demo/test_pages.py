"""The demo's pages: stopwatches, thoughts and figures."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget

from app.demo.base import SIDES, DemoFigure, DemoResult
from app.demo.record import LEAD_SECONDS, Pair, Recorder, Replay
from app.gui.demo.figures_page import draw
from app.gui.demo.fitted_text import side_ink
from app.gui.demo.screen import DemoScreen
from app.gui.demo.stage_page import ModelsRow
from app.gui.design.motion import reduce_motion
from tests.gui.helpers import heard, until
from tests.support.demo_talk import DEAR, FIRST, QUESTIONS, SECOND, ScriptedDemoService

OWN = DemoFigure("What do pandas eat when all of the bamboo on their mountain is gone?", 1.4, 0.35, own=True)
GIVEN = (DemoFigure("Who said that?", 1.0, 0.5), DemoFigure("Why is it so?", 1.2, 0.2))
RESULT = DemoResult((*GIVEN, OWN), True, "First")
END = LEAD_SECONDS + QUESTIONS[1].seconds
"""When the question is over in the replay."""


@pytest.fixture
def parent(qtbot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def screen(parent, qtbot) -> DemoScreen:
    made = DemoScreen(parent)
    made.appear(full=False)
    return made


@pytest.fixture
def still() -> None:
    reduce_motion(True)


async def recorded(**more) -> Pair:
    return await Recorder(ScriptedDemoService(**more), FIRST.choice, "cascade").pair(QUESTIONS[1], began=5.0)


def show(screen: DemoScreen, replay: Replay, now: float) -> None:
    """Shows the replay at this time, as the demo does."""
    replay.advance(now)
    for side in SIDES:
        screen.stage.sides[side].show_state(replay.states[side], replay.session_time(side))


def pixels(widget: QWidget, colour: QColor) -> int:
    image = widget.grab().toImage()
    return sum(
        image.pixelColor(x, y).rgb() == colour.rgb()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    )


async def test_each_stopwatch_stops_when_its_side_is_heard_and_in_its_colour(screen, still) -> None:
    replay = Replay(await recorded())
    screen.show_page(screen.stage)
    cascade, tandem = screen.stage.sides["cascade"], screen.stage.sides["tandem"]
    show(screen, replay, END - 0.4)
    assert (cascade.stopwatch.text, tandem.stopwatch.text) == ("0.00", "0.00")
    assert cascade.lights.lit == (True, False, False), "it waits for the question's end"
    assert tandem.lights.lit == (True, True, False), "it thinks already"
    show(screen, replay, END + 0.2)
    assert (cascade.stopwatch.text, tandem.stopwatch.text) == ("0.20", "0.20") and not tandem.stopwatch.stopped
    show(screen, replay, END + 0.5)
    assert (cascade.stopwatch.text, tandem.stopwatch.text) == ("0.50", "0.24")
    assert tandem.stopwatch.stopped and not cascade.stopwatch.stopped
    assert pixels(tandem.stopwatch, side_ink("tandem")) > 200 and not pixels(cascade.stopwatch, side_ink("cascade"))
    assert cascade.lights.lit == (False, True, False) and tandem.lights.lit[2]
    show(screen, replay, END + 2.0)
    assert (cascade.stopwatch.text, tandem.stopwatch.text) == ("0.96", "0.24") and cascade.stopwatch.stopped
    assert pixels(cascade.stopwatch, side_ink("cascade")) > 200
    assert cascade.stopwatch.accessibleDescription() == "0.96 seconds"
    first, last = cascade.waveform.silence
    assert last - first == pytest.approx(0.96), "the silence is marked"
    screen.stage.clear()
    assert cascade.stopwatch.text == "0.00" and not cascade.stopwatch.stopped and cascade.thoughts.newest is None


async def test_the_tandems_thoughts_are_rewritten_before_the_cascade_has_any(screen) -> None:
    replay = Replay(await recorded())
    screen.show_page(screen.stage)
    cascade, tandem = (screen.stage.sides[side].thoughts for side in SIDES)
    show(screen, replay, LEAD_SECONDS + 1.0)
    assert tandem.newest.text == "It was a" and not tandem.older
    show(screen, replay, LEAD_SECONDS + 1.8)
    assert tandem.newest.text == "It is so" and [one.text for one in tandem.older] == ["It was a"]
    assert cascade.newest is None
    assert tandem._fade.value < 1 and tandem._leaving.text == "It was a", "one fades into the other"
    await until(lambda: tandem._fade.value == 1)
    show(screen, replay, END + 1.8)
    assert tandem.newest.text == cascade.newest.text == "It is so because it was made so"
    assert [one.text for one in tandem.older] == ["It was a", "It is so"] and not cascade.older
    assert 0 < tandem.newest.said < 8


def test_the_start_page_starts_by_click_and_keys_once_there_is_somebody_to_answer(screen, qtbot) -> None:
    wanted = heard(screen.next_wanted)
    page = screen.start_page
    page.show_status("Looking for models …", ready=False)
    qtbot.mouseClick(page, Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    qtbot.mouseClick(page.start, Qt.MouseButton.LeftButton)
    assert not wanted and not page.start.isEnabled()
    page.show_status("", ready=True)
    qtbot.mouseClick(page, Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    qtbot.mouseClick(page.start, Qt.MouseButton.LeftButton)
    qtbot.keyClick(screen, Qt.Key.Key_Return)
    assert len(wanted) == 3 and page.start.hasFocus()


def test_full_screen_or_a_window(screen, qtbot) -> None:
    assert not screen.isFullScreen()
    qtbot.keyClick(screen, Qt.Key.Key_F11)
    assert screen.isFullScreen() and screen.size() == screen.screen().size()
    qtbot.mouseClick(screen.start_page.window_button, Qt.MouseButton.LeftButton)
    assert not screen.isFullScreen()
    with qtbot.waitSignal(screen.leave_wanted):
        qtbot.keyClick(screen, Qt.Key.Key_Escape)
    with qtbot.waitSignal(screen.leave_wanted):
        qtbot.mouseClick(screen.start_page.leave, Qt.MouseButton.LeftButton)


def test_digits_and_the_talk_button_count_only_when_a_visitor_may_ask(screen, qtbot) -> None:
    places, held = heard(screen.model_wanted), []
    screen.push.pressed.connect(lambda: held.append(True))
    screen.push.released.connect(lambda: held.append(False))
    screen.show_page(screen.stage)
    qtbot.keyClick(screen, Qt.Key.Key_2)
    assert not places and not screen.stage.talk.isVisible()
    screen.show_page(screen.stage, asking=True)
    screen.stage.show_asking((FIRST, SECOND, DEAR), 0)
    screen.stage.show_ready()
    qtbot.keyClick(screen, Qt.Key.Key_2)
    qtbot.mouseClick(screen.stage.models, Qt.MouseButton.LeftButton, pos=_middle(screen.stage.models, 2))
    assert places == [1, 2]
    qtbot.mousePress(screen.stage.talk, Qt.MouseButton.LeftButton)
    assert held == [True]
    qtbot.mouseRelease(screen.stage.talk, Qt.MouseButton.LeftButton)
    assert held == [True, False]
    qtbot.mousePress(screen.stage.talk, Qt.MouseButton.LeftButton)
    screen.show_page(screen.figures)
    assert held == [True, False] * 2, "the page is gone, and the button with it"


def _middle(models: ModelsRow, place: int) -> QPoint:
    return models._cell(place).center().toPoint()


def test_the_picture_is_saved_where_the_visitor_chooses(screen, qtbot, tmp_path) -> None:
    screen.show_result(RESULT)
    qtbot.keyClick(screen, Qt.Key.Key_S)
    screen.dialog.selectFile(str(tmp_path / "here.png"))
    screen.dialog.accept()
    image = QImage(str(tmp_path / "here.png"))
    assert image.width() > 2000 and screen.dialog is None and not screen.figures.trouble.isVisible()
    for side in SIDES:
        found = sum(
            image.pixelColor(x, y).rgb() == side_ink(side).rgb()
            for x in range(0, image.width(), 8)
            for y in range(0, image.height(), 8)
        )
        assert found > 200, f"the {side}'s digits and bars"
    assert not screen.save(tmp_path / "nowhere" / "x.png")
    assert "could not be saved" in screen.figures.trouble.text and screen.figures.trouble.isVisible()
    qtbot.mouseClick(screen.figures.save_button, Qt.MouseButton.LeftButton)
    screen.dialog.reject()


def test_the_picture_is_drawn_without_a_window(tmp_path: Path) -> None:
    draw(RESULT, tmp_path / "demo.png")
    assert QImage(str(tmp_path / "demo.png")).height() > 1000
