"""The demo's pages: stopwatches, thoughts, figures, and that nothing is cut."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.demo.base import SIDES, DemoFigure, DemoResult
from app.demo.record import LEAD_SECONDS, Pair, Recorder, Replay
from app.demo.side import Thought
from app.gui.demo.figures_page import draw
from app.gui.demo.fitted_text import FittedText, font_px, side_ink
from app.gui.demo.screen import DemoScreen
from app.gui.demo.side_view import ThoughtsView
from app.gui.demo.stage_page import ModelsRow, Verdict
from app.gui.demo.start_page import LOOP
from app.gui.design.motion import reduce_motion
from app.gui.design.theme import apply_theme, tokens
from tests.gui.helpers import heard, until
from tests.support.demo_talk import DEAR, FIRST, QUESTIONS, SECOND, ScriptedDemoService, Voice

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
    """Without motion."""
    reduce_motion(True)


async def recorded(**more) -> Pair:
    return await Recorder(ScriptedDemoService(**more), FIRST.choice, "cascade").pair(QUESTIONS[1], began=5.0)


def show(screen: DemoScreen, replay: Replay, now: float) -> None:
    """Shows the replay at this time, as the demo does."""
    replay.advance(now)
    for side in SIDES:
        screen.stage.sides[side].show_state(replay.states[side], replay.session_time(side))


def pixels(widget: QWidget, colour: QColor) -> int:
    """How many pixels of a widget have this colour."""
    image = widget.grab().toImage()
    return sum(
        image.pixelColor(x, y).rgb() == colour.rgb()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    )


# -- both sides


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


async def test_the_waveform_shows_question_and_answer(screen, still) -> None:
    replay = Replay(await recorded())
    screen.show_page(screen.stage)
    show(screen, replay, END + 1.5)
    wave = screen.stage.sides["tandem"].waveform
    left = wave.grab(QRect(0, 0, round(wave._x(replay.states["tandem"].end)) - 4, wave.height())).toImage()
    colours = {left.pixelColor(x, y).name() for x in range(left.width()) for y in range(left.height())}
    assert tokens().dim in colours and side_ink("tandem").name() not in colours, "the question is nobody's"
    assert pixels(wave, side_ink("tandem")) > 50, "the answer is the side's"


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


def test_without_motion_a_thought_is_there_at_once(parent, still) -> None:
    view = ThoughtsView("tandem", parent)
    view.show_thoughts([Thought(1, "Old")])
    view.show_thoughts([Thought(1, "Old", gone=True), Thought(2, "New")])
    assert view._fade.value == 1 and view.newest.text == "New"


def test_what_has_been_said_is_in_the_sides_colour_and_what_was_replaced_is_struck(parent, still) -> None:
    view = ThoughtsView("tandem", parent)
    view.resize(500, 200)
    words = "One two three four five six"
    view.show_thoughts([Thought(1, words)])
    assert not pixels(view, side_ink("tandem")) and pixels(view, QColor(tokens().dim))
    view.show_thoughts([Thought(1, words, said=3)])
    half = pixels(view, side_ink("tandem"))
    view.show_thoughts([Thought(1, words, said=6)])
    assert 0 < half < pixels(view, side_ink("tandem"))
    view.show_thoughts([], "It is on fire.")
    assert pixels(view, QColor(tokens().bad)) and view.accessibleDescription() == "It is on fire."


async def test_a_side_that_fails_says_why(screen, still) -> None:
    replay = Replay(await recorded(tandem=Voice(fails="It is on fire.")))
    screen.show_page(screen.stage)
    show(screen, replay, END + 2.0)
    tandem = screen.stage.sides["tandem"]
    assert tandem.thoughts.trouble == "It is on fire." and not tandem.stopwatch.stopped


def test_who_was_first_is_said_in_few_words() -> None:
    words = Verdict().words
    assert words(1.0, 0.25) == "Tandem: 4.0 times as fast" and words(0.25, 1.0) == "Cascade: 4.0 times as fast"
    assert words(1.0, 0.8) == "Tandem: 0.20 s sooner" and words(0.8, 0.0) == "Tandem: 0.80 s sooner"
    assert words(0.5, 0.52) == "Both were equally fast" and words(None, 0.5) == ""


# -- the start page


async def test_the_start_page_moves_through_title_and_words(screen, monkeypatch) -> None:
    page = screen.start_page
    page._beat.setInterval(10)
    seen = set()
    await until(lambda: seen.add((page.lights["cascade"].lit, page.lights["tandem"].lit)) or len(seen) == 7)
    assert all(not (any(one) and any(other)) for one, other in seen), "one word at a time"
    assert (((False,) * 3), (True, True, False)) in seen, "the tandem thinks while it listens"
    screen.show_page(screen.figures)
    assert not page._beat.isActive(), "out of sight it rests"


def test_without_motion_the_start_page_stands_still(parent, still) -> None:
    screen = DemoScreen(parent)
    screen.appear(full=False)
    assert not screen.start_page._beat.isActive() and LOOP[screen.start_page.step] is None
    screen.close()


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


# -- the screen


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


def test_every_control_has_a_name(screen) -> None:
    screen.show_result(RESULT)
    for page in (screen.start_page, screen.stage, screen.figures):
        screen.show_page(page)
        for widget in screen.findChildren(QWidget):
            if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isEnabled():
                assert widget.accessibleName() or getattr(widget, "text", str)(), type(widget).__name__


# -- figures


def test_the_figures_show_the_medians_of_the_visitors_own(screen) -> None:
    body = screen.figures.body
    screen.show_result(DemoResult(GIVEN, True, "First"))
    assert (body.medians["cascade"].text, body.medians["tandem"].text) == ("1.10", "0.35")
    assert body.title.text == "Tandem: 3.1 times as fast"
    assert body.caption.text == "Median of 2 questions, from its end until the answer was heard"
    screen.show_result(RESULT)
    assert (body.medians["cascade"].text, body.medians["tandem"].text) == ("1.40", "0.35")
    assert body.caption.text.startswith("Your question,") and body.rows.figures[-1] is OWN
    assert pixels(body.medians["tandem"], side_ink("tandem")) > 100
    screen.show_result(DemoResult((DemoFigure("Who?", None, 0.2),)))
    assert body.title.text == "No figures" and "No question was answered by both" in body.caption.text
    assert "no answer, 0.20 s" in body.rows.accessibleDescription()


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


# -- nothing is cut


def cut(screen: DemoScreen) -> list[str]:
    """What of the page that is shown has not the room that it needs, or lies over something else."""
    found, whole = [], screen.rect()
    page = screen.pages.currentWidget()
    parts = [w for w in page.findChildren(QWidget) if w.isVisible()]
    for widget in parts:
        place = QRect(widget.mapTo(screen, QPoint(0, 0)), widget.size())
        if not whole.contains(place):
            found.append(f"{type(widget).__name__} is not whole: {place}")
        if isinstance(widget, QPushButton) and (
            widget.width() < widget.sizeHint().width() or widget.height() < widget.minimumSizeHint().height()
        ):
            found.append(f"“{widget.text()}” is cut")
        if isinstance(widget, FittedText) and widget.text:
            metrics = QFontMetricsF(font_px(widget.font(), widget.px, widget._weight))
            needed = metrics.boundingRect(QRectF(0, 0, widget.width(), 1e5), Qt.TextFlag.TextWordWrap, widget.text)
            if needed.height() > widget.height() + 1 or needed.width() > widget.width() + 1:
                found.append(f"“{widget.text}” is cut: {needed.size()} in {widget.size()} at {widget.px:.1f}")
    for place, one in enumerate(parts):
        for other in parts[place + 1 :]:
            if one.parentWidget() is other.parentWidget() and one.geometry().intersects(other.geometry()):
                found.append(f"{type(one).__name__} lies over {type(other).__name__}")
    return found


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
@pytest.mark.parametrize(
    ("size", "percent"), [((900, 600), 100), ((900, 600), 200), ((1366, 768), 150), ((1920, 1080), 100)]
)
async def test_nothing_is_cut_on_any_screen(qapp: QApplication, parent, still, theme, size, percent) -> None:
    apply_theme(qapp, theme, percent)
    screen = DemoScreen(parent)
    screen.resize(*size)
    screen.show()
    replay = Replay(await recorded())
    screen.start_page.show_status("Getting ready: both are being asked, one after the other. 1 of 3", ready=True)
    await _whole(screen, screen.start_page)
    screen.stage.show_model("Qwen 2.5 Coder 0.5B")
    screen.stage.show_question(
        "Who was imprisoned on Robben Island and became president of South Africa?", 1, 3, "Recorded at 14:32. " * 8
    )
    show(screen, replay, END + 1.8)
    screen.stage.show_verdict(1.0, 0.2)
    await _whole(screen, screen.stage)
    screen.stage.show_asking((FIRST, SECOND, DEAR) * 3, 1)
    screen.stage.show_ready()
    await _whole(screen, screen.stage)
    screen.figures.show_result(DemoResult((*GIVEN, OWN) * 2, True, "Qwen 2.5 Coder 0.5B"))
    screen.figures.show_trouble("The picture could not be saved: there is no room left on the device. " * 2)
    await _whole(screen, screen.figures)
    screen.close()


async def _whole(screen: DemoScreen, page: QWidget) -> None:
    screen.show_page(page)
    await asyncio.sleep(0)
    size = screen.size()
    with suppress(AssertionError):
        await until(lambda: not cut(screen), 1.0)
    assert not (left := cut(screen)), left
    assert screen.size() == size, "it is no larger than the screen"
