"""The timeline with real widgets: what is painted and explained, and how it is moved by mouse and keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.conversation import events as e
from app.conversation.record.record import Record
from app.gui.inspector.activity import Activity
from app.gui.inspector.things import Fed, Partial, RequestBar, Thing
from app.gui.inspector.timeline import TimelineView
from app.gui.inspector.timeline_page import TimelinePage
from app.gui.inspector.view_range import USUAL_SECONDS
from app.research.window import ManualClock
from tests.gui.helpers import wheel
from tests.gui.pictures.timeline import GPT, QWEN, talk

SHIFT = Qt.KeyboardModifier.ShiftModifier


class Shown:
    """A shown page in which a session has just begun. Its timer ticks, but its clock stands still."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.activity, self.record = Activity(), Record()
        self.page = TimelinePage(self.activity, clock=self.clock)
        self.view: TimelineView = self.page.view
        self.page.resize(1200, 220)
        self.page.show()
        self.view.begin()

    def say(self, *events: e.Event) -> None:
        """Applies events, each on time, and paints."""
        for event in events:
            self.clock.now = max(self.clock.now, event.at)
            self.activity.apply(self.record.apply(event))
            self.view.edge.update(event.at)
        self.page.settle()
        self.clock.now += 0.02
        self.view.advance()
        self.view.repaint()

    def silence(self, seconds: float) -> None:
        """Lets time pass without anything but levels."""
        start = self.activity.now
        self.say(*(e.LevelMeasured(start + n * 0.08, -30, -30) for n in range(1, round(seconds / 0.08))))

    def spot(self, second: float, lane: str) -> QPoint:
        """Returns where a second is on the screen, in the middle of a lane."""
        x = self.view.gutter + second * self.view.scale - self.view.left
        return QPointF(x, self.view.look.lanes.strips[lane].middle).toPoint()

    def hover(self, second: float, lane: str) -> str:
        QTest.mouseMove(self.view, self.spot(second, lane))
        return self.view.readout

    def about(self, thing: Thing, share: float = 0.5) -> str:
        """Returns what is explained at this share of the width of a thing."""
        hit = next(hit for hit in self.view.hits if hit.thing is thing)
        x = hit.left + share * (hit.right - hit.left) + self.view.gutter - self.view.left
        return self.view.explain(QPointF(x, (hit.top + hit.bottom) / 2))

    def bar(self, revision: int) -> RequestBar:
        return next(bar for bar in self.activity.bars if bar.request.number == revision)

    def image(self) -> QImage:
        return self.view.grab().toImage()


@pytest.fixture
def empty(qtbot) -> Shown:
    shown = Shown()
    qtbot.addWidget(shown.page)
    return shown


@pytest.fixture
def full(empty: Shown) -> Shown:
    empty.say(*talk())
    return empty


def test_each_model_has_its_colour_and_a_swap_is_seen(full: Shown) -> None:
    view, image = full.view, full.image()
    before, after = (view.colours.backend(backend) for backend in (QWEN, GPT))
    strip = view.look.lanes.strips["backend"]

    def has(colour: QColor, earliest: float, latest: float) -> bool:
        left, right = full.spot(earliest, "backend").x(), full.spot(latest, "backend").x()
        return any(
            image.pixelColor(x, y).name() == colour.name()
            for x in range(left, right)
            for y in range(round(strip.top), round(strip.bottom))
        )

    assert before != after and has(after, 10.4, 12.9) and not has(after, 2.0, 9.4)
    assert not has(before, 4.9, 9.4), "what is replaced is faded"
    flag = full.spot(full.activity.swaps[0].start + 0.05, "you")
    assert image.pixelColor(flag.x(), flag.y() - 6).name() == after.name()


def test_hovering_explains_each_kind_of_thing(full: Shown) -> None:
    activity = full.activity
    assert full.hover(3.0, "you") == (
        "You spoke from 0:02.1 to 0:06.3: “What is the highest mountain in Europe, and how high is it?”"
    )
    assert full.about(full.bar(1)) == (
        "Thought 1, qwen2.5-0.5b (embedded): asked on 5 words at 0:03.4, first words after 530 ms, 6 words, "
        "replaced by 2 at 0:04.9"
    )
    assert full.hover(9.6, "oracle") == "0:09.6: gpt-4.1 (OpenAI) answers from here on"
    assert full.about(activity.fed[0]) == "0:05.0: 1 word of thought 2 reached the voice after 12 ms"
    late = next(trouble for trouble in activity.troubles if trouble.what == "late")
    assert full.about(late) == "0:15.0: a frame was late by 51 ms"
    answer = full.hover(17.0, "kame")
    assert answer.startswith("KAME spoke from 0:06.9 to 0:18.6: “The highest")
    assert answer.endswith("; corrected by 4 at 0:12.9; you interrupted it")
    partial, final = activity.partials[2], next(p for p in activity.partials if p.final)
    assert full.about(partial) == ("Transcript at 0:03.9: “What is the highest mountain in”; may still change: “you”")
    assert full.about(final).startswith("Final transcript at 0:06.6: “What is")
    assert full.hover(25.4, "you") == "You acknowledged at 0:25.3: “Mhm.”"
    assert full.hover(16.0, "you").startswith("0:16.0: you at −")
    assert full.hover(30.0, "you") == "", "nothing is known yet"
    assert full.hover(24.7, "trouble") == full.page.readout.text() == full.page.readout.toolTip() == full.view.toolTip()
    QApplication.sendEvent(full.view, QEvent(QEvent.Type.Leave))
    assert full.page.readout.text() == "" and full.page.legend.isVisible()


def test_reduced_motion_moves_with_the_events_alone(full: Shown, qtbot) -> None:
    full.view.reduced_motion = True
    full.view.settle()
    right = full.view.range.right
    full.clock.now += 0.4
    qtbot.wait(50)
    assert full.view.range.right == right
    full.activity.apply(full.record.apply(e.LevelMeasured(full.clock.now, -30, -30)))
    full.page.settle()
    assert full.view.range.right == pytest.approx(right + 0.4, abs=0.15)


def test_the_buttons_pause_follow_and_zoom(full: Shown) -> None:
    page, view = full.page, full.view
    page.follow_button.click()
    assert (page.follow_button.text(), page.follow_button.accessibleName()) == (
        "Follow",
        "Follow the conversation again (P)",
    )
    right = view.range.right
    full.silence(4.8)
    assert view.range.right == right and not view.range.following
    page.follow_button.click()
    assert view.range.right - right == pytest.approx(4.8, abs=0.3)
    assert (view.range.following, page.follow_button.text()) == (True, "Pause")
    page.in_button.click()
    assert view.range.seconds == pytest.approx(20)
    for _ in range(12):
        page.out_button.click()
    assert view.range.seconds == 600
    full.image()  # words give way to the rest
    view.pause()
    page.last_button.click()
    assert view.range.following and view.range.seconds == USUAL_SECONDS


def test_dragging_scrolls_back_and_pauses(full: Shown) -> None:
    full.silence(32)
    view, right, start = full.view, full.view.range.right, full.spot(40.0, "oracle")
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    for across in (60, 120, 180):
        QTest.mouseMove(view, start + QPoint(across, 0))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start + QPoint(180, 0))
    assert not view.range.following and full.page.follow_button.text() == "Follow"
    assert right - view.range.right == pytest.approx(180 / view.scale, rel=0.1)
    assert view.range.seconds == pytest.approx(USUAL_SECONDS)


def test_the_wheel_scrolls_and_with_ctrl_zooms_about_the_mouse(full: Shown) -> None:
    full.silence(32)
    view, right = full.view, full.view.range.right
    wheel(view, 2)
    assert not view.range.following and right - view.range.right == pytest.approx(0.2 * view.range.seconds)
    x = view.rect().center().x() - view.gutter
    second = (view.left + x) / view.scale
    wheel(view, 3, Qt.KeyboardModifier.ControlModifier)
    assert view.range.seconds == pytest.approx(USUAL_SECONDS / 1.2**3)
    assert (view.left + x) / view.scale == pytest.approx(second, abs=0.05)


def test_a_new_session_is_empty_and_followed_and_an_old_one_stays(full: Shown) -> None:
    view, right = full.view, full.view.range.right
    full.activity.end()
    view.end()
    full.clock.now += 10
    full.page.settle()
    assert view.range.right == right and full.hover(11.5, "kame").startswith("KAME spoke from 0:06.9")
    view.pause()
    old = full.image()
    full.activity.begin()
    full.view.begin()
    assert view.range.following and full.view.edge.at == 0 and view.readout == "" and full.image() != old


def test_left_and_right_step_through_what_happened(full: Shown) -> None:
    view = full.view
    view.setFocus()
    seen = []
    for _ in range(6):
        QTest.keyClick(view, Qt.Key.Key_Left)
        seen.append(view.readout)
    assert "Mhm." in seen[0] and "dropped" in seen[1] and "late" in seen[2]
    assert QAccessible.queryAccessibleInterface(view).text(QAccessible.Text.Name) == "Timeline"
    assert QAccessible.queryAccessibleInterface(view).text(QAccessible.Text.Description) == seen[-1]
    plain = full.image()
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.readout == seen[-2] and full.image() != plain, "the cursor is seen"
    QTest.keyClick(view, Qt.Key.Key_Left, SHIFT)
    assert isinstance(view.cursor_thing, Partial | Fed)
    full.silence(60)
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert not view.range.following and view.range.left < view.cursor_thing.start < view.range.right
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert (view.cursor_thing, view.readout) == (None, "")


def test_keys_pause_zoom_and_jump(full: Shown) -> None:
    full.silence(64)
    view, keys = full.view, Qt.Key
    for key, following, seconds, right in (
        (keys.Key_P, False, 30, None),
        (keys.Key_P, True, 30, None),
        (keys.Key_Plus, True, 20, None),
        (keys.Key_Minus, True, 30, None),
        (keys.Key_Home, False, 30, 30),
        (keys.Key_PageDown, False, 30, 57),
        (keys.Key_PageUp, False, 30, 30),
        (keys.Key_End, True, 30, None),
    ):
        QTest.keyClick(view, key)
        assert (view.range.following, view.range.seconds) == (following, pytest.approx(seconds)), key
        assert view.range.right == pytest.approx(view.range.live_right if following else right or view.range.right)


def test_it_is_saved_as_a_readable_image(full: Shown, tmp_path, qtbot) -> None:
    page, view = full.page, full.view
    page.export_button.click()
    (dialog,) = page.findChildren(QFileDialog)
    assert dialog.isVisible()
    dialog.setDirectory(str(tmp_path))
    dialog.selectFile(str(tmp_path / "mine.png"))
    dialog.accept()
    image = QImage(str(tmp_path / "mine.png"))
    assert (image.width(), image.height()) == (2 * view.width(), 2 * view.height())
    seen = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)}
    assert {view.colours.user.name(), view.colours.assistant.name(), view.colours.backend(GPT).name()} <= seen
    with qtbot.waitSignal(page.failed) as failed:
        page.save(tmp_path / "missing" / "mine.png")
    assert failed.args[0].startswith("The image could not be saved (")
