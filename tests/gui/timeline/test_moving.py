"""How the timeline moves: it follows the conversation, and is paused, dragged, zoomed and walked through."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.conversation import events as e
from app.gui.timeline.view import TimelineView
from app.gui.timeline.view_range import AHEAD_SHARE, USUAL_SECONDS
from app.gui.timeline_data.live_clock import LAG_SECONDS
from tests.gui.timeline.helpers import Shown, hover, lane, say, spot

# -- following


def test_it_moves_on_with_its_clock_between_events(full: Shown) -> None:
    _, view, clock = full
    rights = []
    for _ in range(30):
        clock.now += 1 / 60
        view.advance()
        rights.append(view.range.right)
    steps = [b - a for a, b in pairwise(rights)]
    assert all(0.5 / 60 < step < 1.5 / 60 for step in steps)
    assert view.range.right - view.range.seconds * AHEAD_SHARE == pytest.approx(clock.now - LAG_SECONDS, abs=0.05)


def test_its_timer_runs_only_while_there_is_something_to_follow_in_view(empty: Shown, qtbot) -> None:
    pane, view, _ = empty
    assert view.timer.isActive() and view.timer.interval() <= 20
    view.pause()
    assert not view.timer.isActive()
    view.follow()
    assert view.timer.isActive()
    pane.hide()
    assert not view.timer.isActive()
    pane.show()
    assert view.timer.isActive()
    pane.reduced_motion = True
    assert not view.timer.isActive()
    pane.reduced_motion = False
    pane.end()
    assert not view.timer.isActive()
    pane.begin()
    assert view.timer.isActive()


def test_the_timer_paints_by_itself(full: Shown, qtbot) -> None:
    _, view, clock = full
    count, right = view.painted, view.range.right
    clock.now += 0.5
    qtbot.waitUntil(lambda: view.painted >= count + 3 and view.range.right > right)


def test_reduced_motion_moves_with_the_events_alone(full: Shown, qtbot) -> None:
    pane, view, clock = full
    pane.reduced_motion = True
    right = view.range.right
    clock.now += 0.4
    qtbot.wait(50)
    assert view.range.right == right
    pane.apply(e.LevelMeasured(clock.now, -30, -30))
    pane.settle()
    assert view.range.right == pytest.approx(right + 0.4, abs=0.15)


def test_pause_holds_still_and_follow_catches_up(full: Shown) -> None:
    pane, view, _ = full
    QTest.mouseClick(pane.follow_button, Qt.MouseButton.LeftButton)
    assert (pane.follow_button.text(), pane.follow_button.accessibleName()) == (
        "Follow",
        "Follow the conversation again",
    )
    right = view.range.right
    say(full, *(e.LevelMeasured(28 + n * 0.08, -30, -30) for n in range(60)))
    assert view.range.right == right and not view.range.following
    QTest.mouseClick(pane.follow_button, Qt.MouseButton.LeftButton)
    assert view.range.right - right == pytest.approx(4.8, abs=0.3)
    assert (view.range.following, pane.follow_button.text()) == (True, "Pause")


def test_dragging_scrolls_back_and_pauses(full: Shown) -> None:
    pane, view, _ = full
    say(full, *(e.LevelMeasured(28 + n * 0.08, -30, -30) for n in range(400)))
    right, y = view.range.right, lane(view, "oracle")
    start = spot(view, 40.0, y)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    for across in (60, 120, 180):
        QTest.mouseMove(view, start + QPoint(across, 0))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start + QPoint(180, 0))
    assert not view.range.following and pane.follow_button.text() == "Follow"
    assert right - view.range.right == pytest.approx(180 / view.frame.scale, rel=0.2)
    assert view.range.seconds == pytest.approx(USUAL_SECONDS)


def test_dragging_with_the_right_button_zooms_about_its_place(full: Shown) -> None:
    _, view, _ = full
    view.pause()
    start = spot(view, 20.0, lane(view, "oracle"))
    QTest.mousePress(view, Qt.MouseButton.RightButton, pos=start)
    move = QPointF(start + QPoint(30, 0))
    keys = Qt.KeyboardModifier.NoModifier
    event = QMouseEvent(QEvent.Type.MouseMove, move, move, Qt.MouseButton.NoButton, Qt.MouseButton.RightButton, keys)
    QApplication.sendEvent(view, event)
    QTest.mouseRelease(view, Qt.MouseButton.RightButton, pos=move.toPoint())
    assert view.range.seconds == pytest.approx(USUAL_SECONDS / 1.02**30)
    assert spot(view, 20.0, 0).x() == pytest.approx(start.x(), abs=1)


def wheel(view: TimelineView, notches: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    place = QPointF(view.rect().center())
    event = QWheelEvent(
        place,
        view.mapToGlobal(place),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)


def test_the_wheel_scrolls_and_comes_back_to_the_present(full: Shown) -> None:
    _, view, _ = full
    say(full, *(e.LevelMeasured(28 + n * 0.08, -30, -30) for n in range(400)))
    right = view.range.right
    wheel(view, 2)
    assert not view.range.following and right - view.range.right == pytest.approx(0.2 * view.range.seconds)
    wheel(view, -1)
    assert not view.range.following
    wheel(view, -2)
    assert view.range.following and view.range.right == pytest.approx(right, abs=0.1)


def test_the_wheel_with_ctrl_zooms(full: Shown) -> None:
    _, view, _ = full
    wheel(view, 3, Qt.KeyboardModifier.ControlModifier)
    assert view.range.following and view.range.seconds == pytest.approx(USUAL_SECONDS / 1.2**3)
    assert view.range.right == pytest.approx(view.edge.at + view.range.seconds * AHEAD_SHARE)
    view.pause()
    x = view.rect().center().x() - view.box.left()
    second = (view.frame.left + x) / view.frame.scale
    wheel(view, 3, Qt.KeyboardModifier.ControlModifier)
    assert (view.frame.left + x) / view.frame.scale == pytest.approx(second, abs=0.05)


def test_buttons_zoom_and_go_back_to_thirty_seconds(full: Shown) -> None:
    pane, view, _ = full
    QTest.mouseClick(pane.in_button, Qt.MouseButton.LeftButton)
    assert view.range.seconds == pytest.approx(20)
    for _ in range(12):
        QTest.mouseClick(pane.out_button, Qt.MouseButton.LeftButton)
    assert view.range.seconds == 600
    view.repaint()  # words give way to the rest
    view.pause()
    QTest.mouseClick(pane.last_button, Qt.MouseButton.LeftButton)
    assert view.range.following and view.range.seconds == USUAL_SECONDS


def test_a_new_talk_is_empty_and_followed(full: Shown) -> None:
    pane, view, clock = full
    view.pause()
    pane.end()
    old = view.grab().toImage()
    pane.begin()
    assert view.range.following and view.edge.at == 0 and len(pane.log.requests) == 0
    assert view.grab().toImage() != old
    clock.now += 100
    say((pane, view, clock), e.UserStarted(0.0, 1), e.LevelMeasured(0.08, -20, -20))
    assert view.range.right == pytest.approx(view.range.seconds * AHEAD_SHARE, abs=0.1)


def test_a_talk_that_is_over_stays_and_can_be_looked_through(full: Shown) -> None:
    pane, view, clock = full
    pane.end()
    right = view.range.right
    clock.now += 10
    pane.settle()
    assert view.range.right == right
    assert hover(view, 11.5, lane(view, "kame")).startswith("KAME said from 0:06.9")
    wheel(view, 1)
    assert not view.range.following


# -- the keyboard


def press(view: TimelineView, key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(view, key, keys)


def test_left_and_right_walk_through_what_happened(full: Shown) -> None:
    pane, view, _ = full
    view.setFocus()
    told = []
    for _ in range(6):
        press(view, Qt.Key.Key_Left)
        told.append(view.readout)
    assert [line.split(":")[0].split(",")[0] for line in told[:1]] == ["You"]
    assert "Mhm." in told[0] and "dropped" in told[1] and "late" in told[2]
    assert view.accessibleDescription() == told[-1]
    press(view, Qt.Key.Key_Right)
    assert view.readout == told[-2]
    press(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert view.cursor_thing in list(pane.log.partials) and view.readout.startswith("Settled at")
    press(view, Qt.Key.Key_Escape)
    assert (view.cursor_thing, view.readout) == (None, "")


def test_the_cursor_brings_into_view_what_it_picks(full: Shown) -> None:
    _, view, _ = full
    say(full, *(e.LevelMeasured(28 + n * 0.08, -30, -30) for n in range(800)))
    assert view.range.following
    press(view, Qt.Key.Key_Left)
    left = view.range.right - view.range.seconds * (1 + AHEAD_SHARE)
    assert not view.range.following and left < view.cursor_thing.start < view.range.right


def test_keys_pause_zoom_and_jump(full: Shown) -> None:
    _, view, _ = full
    say(full, *(e.LevelMeasured(28 + n * 0.08, -30, -30) for n in range(800)))
    press(view, Qt.Key.Key_P)
    assert not view.range.following
    press(view, Qt.Key.Key_P)
    assert view.range.following
    press(view, Qt.Key.Key_Plus)
    assert view.range.seconds == pytest.approx(20)
    press(view, Qt.Key.Key_Minus)
    assert view.range.seconds == pytest.approx(30)
    press(view, Qt.Key.Key_Home)
    assert not view.range.following and view.range.right == pytest.approx(30)
    press(view, Qt.Key.Key_PageDown)
    assert view.range.right == pytest.approx(57)
    press(view, Qt.Key.Key_PageUp)
    assert view.range.right == pytest.approx(30)
    press(view, Qt.Key.Key_End)
    assert view.range.following and view.range.right == pytest.approx(view.range.live_right)


def test_the_talk_buttons_key_is_left_to_the_window(full: Shown) -> None:
    _, view, _ = full
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        event = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
        event.accept()
        view.event(event)
        assert not event.isAccepted()


def test_every_control_is_named_and_reached_with_tab(full: Shown) -> None:
    pane, view, _ = full
    pane.activateWindow()
    buttons = pane.findChildren(QPushButton)
    assert len(buttons) == 5 and all(button.accessibleName() for button in buttons)
    assert len({button.accessibleName() for button in buttons}) == 5
    buttons[0].setFocus()
    seen = []
    for _ in range(8):
        seen.append(QApplication.focusWidget())
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert set(buttons) | {view} <= set(seen)
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface.text(QAccessible.Text.Name) == "Timeline"
    press(view, Qt.Key.Key_Left)
    assert interface.text(QAccessible.Text.Description) == view.readout != ""


def test_focus_is_seen(full: Shown) -> None:
    pane, view, _ = full
    view.pause()
    pane.activateWindow()
    pane.follow_button.setFocus()
    without = view.grab().toImage()
    view.setFocus()
    assert view.grab().toImage() != without
