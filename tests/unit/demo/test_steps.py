"""The order of the demo's steps."""

from __future__ import annotations

from app.demo.steps import ASK_SECONDS, HOLD_SECONDS, IDLE_SECONDS, Steps


def asking(at: float = 100.0) -> Steps:
    """A demo with one question, which has been answered: the visitor may ask."""
    steps = Steps(1)
    steps.begin(at - 10)
    steps.play(at - 10, 5.0)
    steps.next(at)
    assert steps.step == "ask"
    return steps


def test_the_start_page_waits_for_ever() -> None:
    steps = Steps(3)
    assert not steps.tick(1e6) and steps.step == "start"


def test_from_the_first_question_to_the_figures_and_back() -> None:
    steps, seen = Steps(3), []
    steps.next(0.0)
    now = 0.0
    while steps.step != "start":
        if steps.step == "preparing":
            steps.play(now, 7.0)
        if not seen or seen[-1][1:] != (steps.step, steps.number):
            seen.append((now, steps.step, steps.number))
        now += 0.1
        steps.tick(now)
    assert [(step, number) for _, step, number in seen] == [
        ("question", 0),
        ("question", 1),
        ("question", 2),
        ("ask", 2),
        ("figures", 2),
    ]
    figures_at = seen[-1][0]
    assert 40 < figures_at < 50, "a booth's demo takes 45 seconds, if nobody asks"
    assert now - figures_at >= IDLE_SECONDS


def test_a_question_that_is_not_recorded_yet_is_waited_for() -> None:
    steps = Steps(2)
    steps.begin(0.0)
    assert not steps.tick(500.0) and steps.step == "preparing"
    steps.play(500.0, 4.0)
    assert not steps.tick(500.0 + 4.0) and steps.tick(500.1 + 4.0 + HOLD_SECONDS)
    assert (steps.step, steps.number) == ("preparing", 1)


def test_each_step_can_be_skipped() -> None:
    steps = Steps(2)
    seen = []
    for _ in range(7):
        seen.append((steps.step, steps.number))
        steps.next(1.0)
        if steps.step == "preparing" and len(seen) == 1:
            steps.play(1.0, 5.0)
    assert seen == [
        ("start", 0),
        ("question", 0),
        ("preparing", 1),
        ("ask", 1),
        ("figures", 1),
        ("preparing", 0),
        ("preparing", 1),
    ], "behind the figures it begins again"


def test_a_visitor_who_is_busy_is_not_hurried() -> None:
    steps = asking(100.0)
    steps.touch(100.0 + ASK_SECONDS - 1)
    assert not steps.tick(100.0 + ASK_SECONDS + 5) and steps.step == "ask"
    assert steps.tick(100.0 + 2 * ASK_SECONDS) and steps.step == "figures"


def test_the_figures_give_way_to_the_next_visitor_when_nobody_has_touched_anything() -> None:
    steps = asking(0.0)
    steps.next(10.0)
    steps.touch(30.0)
    assert not steps.tick(30.0 + IDLE_SECONDS - 1)
    assert steps.tick(30.0 + IDLE_SECONDS) and steps.step == "start"


def test_an_unattended_demo_asks_nobody_and_stays_at_its_figures() -> None:
    steps = Steps(1, visitors=False)
    steps.begin(0.0)
    steps.play(0.0, 5.0)
    assert steps.tick(7.0) and steps.step == "figures"
    assert not steps.tick(1e6)
