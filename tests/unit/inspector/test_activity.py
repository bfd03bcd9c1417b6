"""What the timeline and the table of requests know of a session, folded from its events."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation import events as e
from app.conversation.frame import end_of_frame
from app.gui.inspector.activity import LONGEST_PARTIAL, MOST_REQUESTS, Activity
from app.gui.inspector.things import Answer, Fed, Swap, Word, between, by_start
from tests.gui.pictures.timeline import GPT, QWEN, long_talk, talk


def fold(*events: e.Event, kept: float = 1800.0) -> Activity:
    made = Activity(kept)
    for event in events:
        made.apply(event)
    return made


def asked(revision: int, at: float = 1.0, backend: tuple[str, str] = QWEN, **more: object) -> e.OracleRequested:
    return e.OracleRequested(at, revision, 1, *backend, "what is the", False, **more)


def words(things: list[Word]) -> list[tuple[float, str, bool]]:
    return [(pytest.approx(word.at), word.text, word.settled) for word in things]


# -- the user


def test_a_turn_with_its_pauses() -> None:
    made = fold(e.UserStarted(1, 1), e.UserPaused(2, 1, 1.8), e.UserPaused(2.1, 1, 1.8), e.UserResumed(3, 1))
    turn = made.turns[-1]
    assert (turn.start, turn.end, turn.gaps) == (1, None, [(1.8, 3)])
    made.apply(e.UserEnded(5, 1, 4.7, "words"))
    assert (turn.end, turn.speech_end, turn.reason) == (5, 4.7, "words")
    made.apply(e.UserResumed(5.5, 1))
    assert (turn.end, turn.speech_end) == (None, None)
    assert between(made.turns, 100, 101) == [turn]


def test_words_stay_where_they_were_first_heard() -> None:
    made = fold(e.UserStarted(1, 1), e.TranscriptPartial(2.1, 1, "What", "is", 2.0))
    turn = made.turns[-1]
    assert words(turn.words) == [(1.0, "What", True), (1.5, "is", False)]
    made.apply(e.TranscriptPartial(3.1, 1, "What is", "the height", 3.0))
    assert words(turn.words) == [(1.0, "What", True), (1.5, "is", True), (2.0, "the", False), (2.5, "height", False)]
    made.apply(e.TranscriptFinal(3.5, 1, "What is the hide?", 3.2))
    assert [word.at for word in turn.words] == [1.0, 1.5, 2.0, 2.5]
    assert turn.text == "What is the hide?" and all(word.settled for word in turn.words)
    assert [(p.stable, p.unstable, p.final) for p in made.partials] == [
        ("What", "is", False),
        ("What is", "the height", False),
        ("What is the hide?", "", True),
    ]


def test_a_backchannel_needs_no_turn_before_it() -> None:
    turn = fold(e.UserBackchannel(4, 3, "Mhm.")).turns[-1]
    assert (turn.backchannel, turn.text, turn.start, turn.end) == (True, "Mhm.", 4, 4)


def test_a_transcript_without_a_start_has_a_turn_all_the_same() -> None:
    turn = fold(e.TranscriptFinal(4, 3, "Hello.", 3.5)).turns[-1]
    assert (turn.text, turn.end) == ("Hello.", 4)


def test_long_partials_keep_their_end() -> None:
    made = fold(e.UserStarted(1, 1), e.TranscriptPartial(2, 1, "so " * 400 + "end", "", 2.0))
    assert made.partials[-1].stable.endswith("end") and len(made.partials[-1].stable) == LONGEST_PARTIAL + 1


# -- the back-ends


def test_a_revision_from_request_to_end() -> None:
    made = fold(
        asked(1),
        e.OracleDelta(1.3, 1, "Mont Blanc"),
        e.OracleDelta(1.4, 1, "is high"),
        e.OracleFed(1.5, 1, 2, 30.0),
        e.OraclePromoted(1.6, 1),
        e.OracleFed(1.7, 1, 2, 35.0),
        e.OracleEnded(1.6, 1, "complete", 4),
    )
    request = made.bars[-1]
    revision = request.request
    assert (request.start, request.first, request.end, revision.end_reason) == (1, 1.3, 1.6, "complete")
    assert (revision.asked_words, revision.words, revision.final, request.past) == (3, 4, True, False)
    assert request.fed_until == 1.7
    assert [(fed.words, fed.waited_ms, fed.backend) for fed in made.fed] == [(2, 30.0, QWEN), (2, 35.0, QWEN)]


def test_superseded_given_up_failed() -> None:
    made = fold(
        asked(1),
        asked(2, 2),
        e.OracleSuperseded(2.5, 1, 2),
        asked(3, 3),
        e.OracleEnded(3, 2, "superseded", 0),
        e.OracleEnded(4, 3, "failed", 0),
    )
    one, two, three = made.bars
    assert (one.past, one.request.by, one.request.superseded_at) == (True, 2, 2.5)
    assert (two.past, two.request.by, two.end) == (True, 0, 3)
    assert (three.past, three.request.end_reason) == (False, "failed")


def test_each_has_a_row_to_itself_while_it_runs_and_they_descend_like_stairs() -> None:
    made = fold(*(asked(n, n) for n in range(1, 4)), e.OracleEnded(3.5, 2, "complete", 1), asked(4, 4))
    assert [bar.rows[3] for bar in made.bars] == [0, 1, 2, 1]
    assert [bar.rows[2] for bar in made.bars][:2] == [0, 1]
    assert all(bar.rows[1] == 0 for bar in made.bars)


def test_the_secondary_has_rows_of_its_own_and_a_new_model_is_named() -> None:
    made = fold(asked(1), asked(2, 1.1, GPT, secondary=True), asked(3, 2), asked(4, 3, GPT))
    assert [(r.secondary, r.named) for r in made.bars] == [(False, True), (True, True), (False, False), (False, True)]
    assert made.has_secondary and made.backends == [QWEN, GPT]
    assert made.bars[1].rows[3] == 0


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


def test_what_was_complete_when_it_was_handed_over_is_a_moment_in_the_drivers_lane() -> None:
    made = fold(
        asked(1, 1, GPT, secondary=True),
        e.OracleDelta(2, 1, "Its own"),
        e.OracleEnded(2.5, 1, "complete", 2),
        e.OracleHandedOver(3, 1),
    )
    secondary, rest = made.bars
    assert (secondary.end, rest.start, rest.first, rest.end) == (2.5, 3, 3, 3)


def test_a_routed_turn_knows_its_kind() -> None:
    routed = e.BackendRouted(1, 1, "stem", 0.9, *GPT, "why")
    assert fold(routed, asked(1, 1, GPT)).bars[-1].request.kind == "stem"
    assert fold(routed, e.BackendChanged(1, *QWEN), asked(1, 1)).bars[-1].request.kind == ""


def test_tokens_are_counted_by_frame() -> None:
    made = fold(asked(1), e.OracleTaken(2, 1, 1, 5), e.OracleTaken(2.08, 1, 3, 3), e.OracleTaken(2.16, 2, 1, 0))
    assert [(t.tokens, t.taken, t.waiting) for t in made.taken] == [(1, 1, 5), (2, 3, 3), (1, 1, 0)]


def test_swaps() -> None:
    made = fold(
        e.SessionStarted(0, "kame", "w", *QWEN, "thinking"),
        e.BackendChanged(3, *GPT, "fallback"),
        e.FrontEndChanged(4, "cascade"),
    )
    assert [(s.start, s.what, s.name, s.backend) for s in made.swaps] == [
        (3, "fallback", "gpt-4.1", GPT),
        (4, "frontend", "cascade", None),
    ]


# -- the assistant


def test_an_answer_word_by_word() -> None:
    made = fold(
        e.AssistantStarted(1, 1, 2),
        e.AssistantSaid(2, 1, "well then", 2),
        e.AssistantSaid(2.5, 1, ", yes", 2, True),
        e.AssistantCorrected(3, 1, 4, "continued"),
        e.AssistantHeld(4, 1),
        e.AssistantResumed(4.5, 1),
        e.AssistantHeld(5, 1),
        e.AssistantEnded(6, 1, True),
    )
    answer = made.answers[-1]
    assert words(answer.words) == [(1.0, "well", True), (1.5, "then,", True), (2.0, "yes", True)]
    assert (answer.start, answer.end, answer.interrupted) == (1, 6, True)
    assert (answer.corrections, answer.gaps) == ([(3, 4, "continued")], [(4, 4.5), (5, 6)])


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


# -- trouble


def test_trouble() -> None:
    made = fold(
        e.FramesDropped(1, 6),
        e.Underrun(2, 1),
        e.RecognitionSkipped(3, 4),
        e.Failure(4, "backend", "No model."),
        e.LevelMeasured(4.08, -20, -20, 80.0),
        e.LevelMeasured(4.16, -20, -20, 103.0),
    )
    assert [(t.what, t.amount, t.sentence) for t in made.troubles] == [
        ("dropped", 6, ""),
        ("underrun", 1, ""),
        ("skipped", 4, ""),
        ("failure", 0, "No model."),
        ("late", 23.0, ""),
    ]


def test_a_sound_card_that_runs_slow_makes_no_frame_late() -> None:
    made = Activity()
    for frame in range(12 * 1500):
        at = end_of_frame(frame)
        made.apply(e.LevelMeasured(at, -50, -50, 20.0 + at * 0.1 + (200.0 if frame == 17_000 else 0.0)))
    assert [trouble.start for trouble in made.troubles] == [end_of_frame(17_000)]
    assert made.troubles[-1].amount == pytest.approx(140.0, abs=2)


def test_the_end_of_a_talk_ends_all_that_lasts() -> None:
    made = fold(e.UserStarted(1, 1), asked(1, 2), e.AssistantStarted(3, 1, 1), e.LevelMeasured(4, -20, -20))
    made.end()
    assert [made.turns[-1].end, made.bars[-1].end, made.answers[-1].end] == [4, 4, 4]
    assert made.bars[-1].request.end_reason == "stopped"
    made.begin()
    assert (made.now, made.turns, len(made.levels.between(0, 9)[0]), made.backends) == (0, [], 0, [])


# -- sound


def test_levels_and_their_gaps() -> None:
    made = Activity()
    for frame, level in ((0, -60.0), (1, -30.0), (5, 0.0)):
        made.apply(e.LevelMeasured(end_of_frame(frame), level, -50))
    times, levels = made.levels.between(0, 2)
    assert times.tolist() == pytest.approx([0.04, 0.12, 0.44])
    assert levels.tolist() == [[-60, -30, 0], [-50, -50, -50]]
    assert made.levels.between(0.1, 0.1)[1].tolist() == [[-30], [-50]]
    assert len(made.levels.between(0.2, 0.3)[0]) == len(made.levels.between(99, 99)[0]) == 0


def test_the_oldest_levels_are_forgotten_and_frames_out_of_order_do_no_harm() -> None:
    made = Activity(kept_seconds=8.0)
    for frame in range(250):
        made.apply(e.LevelMeasured(end_of_frame(frame), -frame / 5, -60))
    made.apply(e.LevelMeasured(end_of_frame(3), -1, -1))
    times, levels = made.levels.between(0, 100)
    assert (len(times), times[0]) == (100, pytest.approx(150.5 * 0.08))
    assert levels[0, 0] == pytest.approx(-30.0) and np.all(np.diff(levels[0]) < 0)


def test_a_gap_does_not_show_the_sound_of_half_an_hour_ago() -> None:
    made = Activity(kept_seconds=8.0)
    for frame in [*range(100), 120]:
        made.apply(e.LevelMeasured(end_of_frame(frame), -20, -20))
    known = [
        len(made.levels.between(at, at)[0]) for at in (end_of_frame(frame) - 0.04 for frame in (99, 105, 119, 120))
    ]
    assert known == [1, 0, 0, 1]


@pytest.mark.slow
def test_memory_stays_bounded_over_an_hour() -> None:
    made = Activity()
    sizes = []
    for event in long_talk(60):
        made.apply(event)
        if isinstance(event, e.FramesDropped):
            sizes.append([len(things) for things in (*made._large, *made._small, made.requests, made.backends)])
    assert len(sizes) > 120
    halfway = np.max(sizes[:66], axis=0)
    assert np.all(np.max(sizes[66:], axis=0) <= halfway + 64)
    assert made.oldest == pytest.approx(1800, abs=1)
    assert all(things[0].start > 1700 for things in made._large + made._small if len(things) > 100)


# -- the requests of a conversation


def test_only_the_newest_requests_are_kept_and_what_is_open_ends_with_its_session() -> None:
    made = fold(*(asked(number, number) for number in range(1, MOST_REQUESTS + 4)))
    assert len(made.requests) == MOST_REQUESTS and made.requests[0].number == 4
    made.begin(first=False)
    assert {request.status for request in made.requests} == {"stopped"} and made.bars == []
    made.apply(e.OracleDelta(1.0, 5, "Late."))
    assert all(not request.text for request in made.requests), "it belongs to a session that is over"
    made.apply(asked(1))
    assert made.requests[-1].place == MOST_REQUESTS + 4, "each session counts from 1"
    made.begin()
    assert made.requests == []


def test_a_past_session_adds_its_requests_alone() -> None:
    made = fold(asked(1))
    made.add_past([asked(1, 3.0), e.AssistantSaid(4.0, 1, "Yes.", 1), asked(2, 5.0)])
    assert [(request.requested_at, request.spoken, request.status) for request in made.requests] == [
        (1.0, False, "stopped"),
        (3.0, True, "stopped"),
        (5.0, False, "stopped"),
    ]
    assert (made.now, made.bars, made.answers) == (0, [], [])


# -- what is in view, and what comes next

moments = st.integers(0, 60).map(float)
lengths = st.one_of(st.none(), moments)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(moments, lengths), max_size=40), moments, moments)
def test_a_window_holds_what_looking_at_everything_would_find(made, one, other) -> None:
    earliest, latest = sorted((one, other))
    answers = sorted((Answer(1, at, None if long is None else at + long) for at, long in made), key=by_start)
    swaps = sorted((Swap(at, "chosen", "m") for at, _ in made), key=by_start)
    for things in (answers, swaps):
        expected = [t for t in things if t.start <= latest and (t.end is None or t.end >= earliest)]
        assert between(things, earliest, latest) == expected


def test_stepping_meets_everything_once_in_order() -> None:
    made = fold(*talk())
    everything = [thing for things in made._large + made._small for thing in things]
    walked, thing = [], made.step(None, forward=True, small=True)
    while thing is not None:
        walked.append(thing)
        thing = made.step(thing, forward=False, small=True)
    while (thing := made.step(walked[0], forward=True, small=True)) is not None:
        walked.insert(0, thing)
    assert sorted(map(id, walked)) == sorted(map(id, everything))
    assert [thing.start for thing in walked] == sorted((thing.start for thing in everything), reverse=True)
    large = made.step(made.fed[0], forward=True, small=False)
    assert not isinstance(large, Fed) and large.start >= made.fed[0].start
    assert Activity().step(None, forward=True, small=True) is None
