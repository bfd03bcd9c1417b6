"""What the timeline and the table of requests know of a session, folded from its events."""

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.frame import end_of_frame
from app.conversation.record.record import Record
from app.gui.inspector.activity import Activity
from app.gui.inspector.things import Word
from tests.gui.pictures.timeline import GPT, QWEN, long_talk


class Folded(Activity):
    """The timeline's items of a session, by its events."""

    def __init__(self, kept_seconds: float = 1800.0) -> None:
        self.record = Record()
        super().__init__(kept_seconds)

    def hear(self, *events: e.Event) -> None:
        for event in events:
            self.apply(self.record.apply(event))


def fold(*events: e.Event, kept: float = 1800.0) -> Folded:
    made = Folded(kept)
    made.hear(*events)
    return made


def asked(revision: int, at: float = 1.0, backend: tuple[str, str] = QWEN, **more: object) -> e.OracleRequested:
    return e.OracleRequested(at, revision, 1, *backend, "what is the", False, **more)


def words(things: list[Word]) -> list[tuple[float, str, bool]]:
    return [(pytest.approx(word.at), word.text, word.settled) for word in things]


def test_words_stay_where_they_were_first_heard() -> None:
    made = fold(e.UserStarted(1, 1), e.TranscriptPartial(2.1, 1, "What", "is", 2.0))
    turn = made.turns[-1]
    assert words(turn.words) == [(1.0, "What", True), (1.5, "is", False)]
    made.hear(e.TranscriptPartial(3.1, 1, "What is", "the height", 3.0))
    assert words(turn.words) == [(1.0, "What", True), (1.5, "is", True), (2.0, "the", False), (2.5, "height", False)]
    made.hear(e.TranscriptFinal(3.5, 1, "What is the hide?", 3.2))
    assert [word.at for word in turn.words] == [1.0, 1.5, 2.0, 2.5]
    assert turn.text == "What is the hide?" and all(word.settled for word in turn.words)
    assert [(p.stable, p.unstable, p.final) for p in made.partials] == [
        ("What", "is", False),
        ("What is", "the height", False),
        ("What is the hide?", "", True),
    ]


def test_a_revision_that_is_handed_over_goes_on_in_the_drivers_lane() -> None:
    made = fold(
        asked(1),
        asked(2, 1, GPT, secondary=True),
        e.OracleDelta(2, 2, "Its own"),
        e.OracleHandedOver(3, 2),
        e.OracleSuperseded(3, 1, 2),
        e.OracleFed(3.1, 2, 2, 9.0),
        e.OracleEnded(4, 2, "complete", 2),
    )
    driver, secondary, rest = made.bars
    assert (secondary.secondary, secondary.start, secondary.first, secondary.end) == (True, 1, 2, 3)
    assert (rest.secondary, rest.start, rest.first, rest.end, rest.fed_until) == (False, 3, 3, 4, 3.1)
    assert driver.past and not secondary.past and not rest.past
    assert rest.named and rest.request is secondary.request


def test_a_new_answer_ends_the_one_before_it_and_late_words_belong_to_their_own() -> None:
    made = fold(
        e.AssistantStarted(1, 1, 1),
        e.AssistantEnded(2, 1, False),
        e.AssistantSaid(2.1, 1, "late", 1),
        e.AssistantSaid(3, 2, "unannounced", 2),
        e.AssistantStarted(4, 3, 3),
        e.AssistantEnded(5, 9, False),
    )
    assert [(a.turn, a.start, a.end, a.text) for a in made.answers] == [
        (1, 1, 2, "late"),
        (2, 3, 4, "unannounced"),
        (3, 4, None, ""),
    ]


def test_a_sound_card_that_runs_slow_makes_no_frame_late() -> None:
    made = Folded()
    for frame in range(12 * 1500):
        at = end_of_frame(frame)
        made.hear(e.LevelMeasured(at, -50, -50, 20.0 + at * 0.1 + (200.0 if frame == 17_000 else 0.0)))
    assert [trouble.start for trouble in made.troubles] == [end_of_frame(17_000)]
    assert made.troubles[-1].amount == pytest.approx(140.0, abs=2)


def test_the_end_of_a_talk_ends_all_that_lasts() -> None:
    made = fold(e.UserStarted(1, 1), asked(1, 2), e.AssistantStarted(3, 1, 1), e.LevelMeasured(4, -20, -20))
    made.end()
    assert [made.turns[-1].end, made.bars[-1].end, made.answers[-1].end] == [4, 4, 4]
    made.begin()
    assert (made.now, made.turns, len(made.levels.between(0, 9)[0]), made.backends) == (0, [], 0, [])


@pytest.mark.slow
def test_memory_stays_bounded_over_an_hour() -> None:
    made = Folded()
    sizes = []
    for event in long_talk(60):
        made.hear(event)
        if isinstance(event, e.FramesDropped):
            sizes.append([len(things) for things in (*made._large, *made._small, made.backends)])
    assert len(sizes) > 120
    halfway = np.max(sizes[:66], axis=0)
    assert np.all(np.max(sizes[66:], axis=0) <= halfway + 64)
    assert made.oldest == pytest.approx(1800, abs=1)
    assert all(things[0].start > 1700 for things in made._large + made._small if len(things) > 100)
