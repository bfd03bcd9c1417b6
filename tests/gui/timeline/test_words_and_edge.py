"""Where words are placed under their sound, and how the live edge moves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from app.gui.timeline_data.live_clock import LAG_SECONDS, LiveEdge
from app.gui.timeline_data.spans import Word
from app.gui.timeline_drawing.style import MOST_WIDTHS, Letters
from app.gui.timeline_drawing.word_layout import LATEST_PX, MORE, flow
from app.research.window.window import ManualClock

# -- words in rows


def test_no_word_covers_another_and_none_is_far_from_its_sound() -> None:
    spoken = [Word(n * 0.2, "w" * (1 + n % 9)) for n in range(100)]
    for rows in (1, 2, 3):
        placed = flow(spoken, 40.0, lambda text: 7.0 * len(text), rows)
        for row in range(rows):
            line = [word for word in placed if word.row == row]
            assert all(a.x + 7 * len(a.text) <= b.x for a, b in pairwise(line))
        shown = [word for word in placed if word.text != MORE]
        assert len(shown) > 10 * rows
        positions = {}
        for word in spoken:
            positions.setdefault(word.text, []).append(word.at * 40)
        assert all(any(0 <= word.x - x <= LATEST_PX for x in positions[word.text]) for word in shown)
    assert len(flow(spoken, 400.0, lambda text: 7.0 * len(text), 1)) == 100


def test_the_widths_of_a_long_talk_s_numbers_are_not_all_kept(qapp: QApplication) -> None:
    letters = Letters(QFont(), False)
    for number in range(5_000):
        assert letters.width(str(number)) == letters.metrics.horizontalAdvance(str(number))
    assert len(letters._widths) <= MOST_WIDTHS


def test_a_word_never_moves_for_what_follows_it() -> None:
    spoken = [Word(n * 0.3, "word" * (1 + n % 3)) for n in range(30)]
    whole = flow(spoken, 40.0, lambda text: 6.0 * len(text), 2)
    for count in range(1, 30):
        part = flow(spoken[:count], 40.0, lambda text: 6.0 * len(text), 2)
        assert part == whole[: len(part)]


def test_words_end_where_the_next_turn_begins() -> None:
    placed = flow([Word(0, "one"), Word(0.5, "two"), Word(1.0, "three")], 40.0, lambda text: 6.0 * len(text), 1, 60.0)
    assert [word.text for word in placed] == ["one", "two", MORE]


# -- the live edge


def test_the_edge_moves_evenly_between_late_batches_and_never_back() -> None:
    clock = ManualClock()
    edge = LiveEdge(clock)
    seen, at, told = [], 0.0, 0
    while at < 20.0:
        at += 1 / 60
        clock.now = 1000.0 + at
        # A frame each 80 ms, told up to 33 ms later; nothing at all from second 8 to 9, and then all of it.
        while (told + 1) * 0.08 + (told * 7 % 33) / 1000 <= at and not 8 < at < 9:
            told += 1
            edge.update(told * 0.08)
        seen.append(edge.move())
    steps = np.diff(seen)
    assert np.all(steps >= 0)
    settled = np.array(seen[120:])
    lag = (np.arange(121, 121 + len(settled))) / 60 - settled
    assert lag.max() <= 0.15 and lag.min() >= LAG_SECONDS - 0.01
    assert steps[120:].max() < 2.0 / 60 and steps[120:].min() > 0.5 / 60


def test_the_edge_waits_for_a_session_that_falls_behind_and_jumps_after_one_far_ahead() -> None:
    clock = ManualClock()
    edge = LiveEdge(clock)
    seen = []
    for tick in range(1800):
        clock.now = tick / 60
        late = 0.6 if tick > 300 else 0.0  # the microphone was away for so long, and goes on where it was
        if tick % 5 == 0:
            edge.update(tick / 60 - late)
        seen.append(edge.move())
    assert np.all(np.diff(seen) >= 0)
    assert seen[-1] == pytest.approx(1799 / 60 - 0.6 - LAG_SECONDS, abs=0.06)
    edge.update(clock.now + 60)
    assert edge.move() == pytest.approx(clock.now + 60 - LAG_SECONDS, abs=0.01)


def test_before_the_first_frame_time_stands_still() -> None:
    clock = ManualClock()
    edge = LiveEdge(clock)
    edge.update(0.0)
    clock.now = 5.0
    assert edge.move() == 0.0
