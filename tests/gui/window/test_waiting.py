"""A back-end that says nothing yet: the oracle tells who is waited for, and how long already."""

from __future__ import annotations

import pytest

from app.conversation import events as e
from app.gui.window.main_window import MainWindow
from tests.gui.helpers import oracle, say

CLAUDE, GPT = ("Anthropic", "claude"), ("OpenAI", "gpt")


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self, window: MainWindow, at: float) -> None:
        self._window = window
        self.now = 1000.0 + at  # the session began at 1000
        window.oracle.time.clock = lambda: self.now

    def pass_by(self, seconds: float) -> None:
        """Time passes; the window's timer goes off at its end if it runs."""
        self.now += seconds
        timer = self._window.oracle.wait_timer
        assert timer.interval() == 1000
        if timer.isActive():
            timer.timeout.emit()


def asked(revision: int, at: float, backend: tuple[str, str] = CLAUDE, secondary: bool = False) -> e.OracleRequested:
    return e.OracleRequested(at, revision, 1, *backend, "how far is", False, secondary)


def bodies(window: MainWindow) -> list[str]:
    return [text.split("\n")[1] for text in oracle(window)]


async def test_who_is_waited_for_and_how_long_is_told_on_both_sides(window: MainWindow) -> None:
    clock, timer = Clock(window, 1.0), window.oracle.wait_timer
    say(window, asked(1, 1.0), asked(2, 1.0, GPT, True))
    assert bodies(window) == ["…", "…"] and timer.isActive(), "nobody needs to hear of less than a second"
    clock.pass_by(1.0)
    assert bodies(window) == ["Waiting for gpt … 1 s", "Waiting for claude … 1 s"]
    clock.pass_by(1.0)
    say(window, e.OracleDelta(3.0, 1, "It is"))
    assert bodies(window) == ["Waiting for gpt … 2 s", "It is"] and timer.isActive()
    clock.pass_by(18.0)
    assert bodies(window)[0] == "Waiting for gpt … 20 s"
    say(window, e.OracleDelta(21.0, 2, "Far."))
    assert bodies(window) == ["Far.", "It is"] and not timer.isActive()


async def test_a_pause_of_the_session_is_not_waited_for(window: MainWindow) -> None:
    clock = Clock(window, 1.0)
    say(window, e.UserStarted(1.0, 1))
    clock.pass_by(60.0)  # the microphone was unplugged, and the session's time stood still
    say(window, e.UserStarted(1.08, 1), asked(1, 1.08))
    clock.pass_by(2.0)
    assert bodies(window) == ["Waiting for claude … 2 s"]


@pytest.mark.parametrize("reason", ["failed", "superseded", "stopped", "complete"])
async def test_an_end_without_a_word_ends_the_waiting(reason: e.EndReason, window: MainWindow) -> None:
    clock = Clock(window, 1.0)
    say(window, asked(1, 1.0))
    clock.pass_by(3.0)
    assert bodies(window) == ["Waiting for claude … 3 s"]
    say(window, e.OracleEnded(4.0, 1, reason, 0))
    assert bodies(window) == ["(no words)"] and not window.oracle.wait_timer.isActive()


async def test_the_end_of_the_talk_ends_it_and_the_next_talk_counts_anew(window: MainWindow) -> None:
    clock = Clock(window, 50.0)
    say(window, asked(1, 50.0))
    clock.pass_by(3.0)
    window.model.ended.emit(window.model.record.end())
    assert bodies(window) == ["(no words)"] and not window.oracle.wait_timer.isActive()
    window.model.begin(first=False)
    say(window, asked(1, 2.0))
    clock.pass_by(1.0)
    assert bodies(window)[0] == "Waiting for claude … 1 s"


async def test_a_session_whose_sound_begins_late_makes_no_wait_longer(window: MainWindow) -> None:
    clock = Clock(window, 0.0)
    say(window, e.ConversationConfigured(0.0, "openai", "gpt", "", "", None, "medium", ()))
    clock.pass_by(3.0)  # the microphone gives its first frame now
    say(window, e.UserStarted(0.08, 1), asked(1, 0.08))
    clock.pass_by(1.0)
    assert bodies(window) == ["Waiting for claude … 1 s"]


async def test_nothing_moves_where_nobody_looks(window: MainWindow) -> None:
    clock, timer = Clock(window, 1.0), window.oracle.wait_timer
    assert not timer.isActive()
    say(window, asked(1, 1.0))
    window.oracle.hide()
    assert not timer.isActive()
    clock.pass_by(4.0)
    assert bodies(window) == ["…"]
    window.oracle.show()
    assert bodies(window) == ["Waiting for claude … 4 s"] and timer.isActive()
    window.close()
    assert not timer.isActive()


async def test_while_a_tool_is_at_work_it_is_the_tool_that_is_waited_for(window: MainWindow) -> None:
    clock, timer = Clock(window, 1.0), window.oracle.wait_timer
    say(window, asked(1, 1.0))
    clock.pass_by(2.0)
    say(window, e.ToolCalled(3.0, 1, "clock", "{}"))
    assert bodies(window) == ["clock …\u2028…"] and not timer.isActive()
    clock.pass_by(4.0)
    say(window, e.ToolReturned(7.0, 1, "clock", True, "noon", 4.0))
    assert bodies(window) == ["clock → noon (4.0 s)\u2028…"]
    clock.pass_by(2.0)
    assert bodies(window) == ["clock → noon (4.0 s)\u2028Waiting for claude … 2 s"]
