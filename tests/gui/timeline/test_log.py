"""What a session says, as it lies on the timeline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation import events as e
from app.conversation.frame import end_of_frame
from app.gui.timeline.find import step
from app.gui.timeline_data.levels import LONGEST_BRIDGE
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Word
from app.gui.timeline_data.track import Track
from app.gui.timeline_data.turns import LONGEST_PARTIAL
from tests.gui.pictures.timeline import GPT, QWEN, long_talk, talk


def log(*events: e.Event, kept: float = 1800.0) -> TimelineLog:
    made = TimelineLog(kept)
    for event in events:
        made.apply(event)
    return made


def asked(revision: int, at: float = 1.0, backend: tuple[str, str] = QWEN, **more: object) -> e.OracleRequested:
    return e.OracleRequested(at, revision, 1, *backend, "what is the", False, **more)


def words(things: list[Word]) -> list[tuple[float, str, bool]]:
    return [(pytest.approx(word.at), word.text, word.settled) for word in things]


# -- the user


def test_a_turn_with_its_pauses() -> None:
    made = log(e.UserStarted(1, 1), e.UserPaused(2, 1, 1.8), e.UserPaused(2.1, 1, 1.8), e.UserResumed(3, 1))
    turn = made.turns.last
    assert (turn.start, turn.end, turn.pauses) == (1, None, [(1.8, 3)])
    made.apply(e.UserEnded(5, 1, 4.7, "words"))
    assert (turn.end, turn.speech_end, turn.reason) == (5, 4.7, "words")
    made.apply(e.UserResumed(5.5, 1))
    assert (turn.end, turn.speech_end) == (None, None)
    assert made.turns.between(100, 101) == [turn]


def test_words_stay_where_they_were_first_heard() -> None:
    made = log(e.UserStarted(1, 1), e.TranscriptPartial(2.1, 1, "What", "is", 2.0))
    turn = made.turns.last
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
    turn = log(e.UserBackchannel(4, 3, "Mhm.")).turns.last
    assert (turn.backchannel, turn.text, turn.start, turn.end) == (True, "Mhm.", 4, 4)


def test_a_transcript_without_a_start_has_a_turn_all_the_same() -> None:
    turn = log(e.TranscriptFinal(4, 3, "Hello.", 3.5)).turns.last
    assert (turn.text, turn.end) == ("Hello.", 4)


def test_long_partials_keep_their_end() -> None:
    made = log(e.UserStarted(1, 1), e.TranscriptPartial(2, 1, "so " * 400 + "end", "", 2.0))
    assert made.partials.last.stable.endswith("end") and len(made.partials.last.stable) == LONGEST_PARTIAL + 1


# -- the back-ends


def test_a_revision_from_request_to_end() -> None:
    made = log(
        asked(1),
        e.OracleDelta(1.3, 1, "Mont Blanc"),
        e.OracleDelta(1.4, 1, "is high"),
        e.OracleFed(1.5, 1, 2, 30.0),
        e.OraclePromoted(1.6, 1),
        e.OracleFed(1.7, 1, 2, 35.0),
        e.OracleEnded(1.6, 1, "complete", 4),
    )
    request = made.requests.last
    revision = request.revision
    assert (request.start, request.first, request.end, revision.end_reason) == (1, 1.3, 1.6, "complete")
    assert (revision.asked_words, revision.words, revision.final, request.past) == (3, 4, True, False)
    assert request.fed_until == 1.7
    assert [(fed.words, fed.waited_ms, fed.backend) for fed in made.fed] == [(2, 30.0, QWEN), (2, 35.0, QWEN)]


def test_superseded_given_up_failed() -> None:
    made = log(
        asked(1),
        asked(2, 2),
        e.OracleSuperseded(2.5, 1, 2),
        asked(3, 3),
        e.OracleEnded(3, 2, "superseded", 0),
        e.OracleEnded(4, 3, "failed", 0),
    )
    one, two, three = made.requests
    assert (one.past, one.revision.by, one.revision.superseded_at) == (True, 2, 2.5)
    assert (two.past, two.revision.by, two.end) == (True, 0, 3)
    assert (three.past, three.revision.end_reason) == (False, "failed")


def test_each_has_a_row_to_itself_while_it_runs_and_they_descend_like_stairs() -> None:
    made = log(*(asked(n, n) for n in range(1, 4)), e.OracleEnded(3.5, 2, "complete", 1), asked(4, 4))
    assert [request.slots[3] for request in made.requests] == [0, 1, 2, 1]
    assert [request.slots[2] for request in made.requests][:2] == [0, 1]
    assert made.requests.at(1).next_start[3] == 4
    assert all(request.slots[1] == 0 for request in made.requests)


def test_the_secondary_has_rows_of_its_own_and_a_new_model_is_named() -> None:
    made = log(asked(1), asked(2, 1.1, GPT, secondary=True), asked(3, 2), asked(4, 3, GPT))
    assert [(r.secondary, r.named) for r in made.requests] == [
        (False, True),
        (True, True),
        (False, False),
        (False, True),
    ]
    assert made.has_secondary and made.backends == [QWEN, GPT]
    assert made.requests.at(1).slots[3] == 0


def test_a_revision_that_is_handed_over_goes_on_in_the_drivers_lane() -> None:
    made = log(
        asked(1),
        asked(2, 1, GPT, secondary=True),
        e.OracleDelta(2, 2, "Its own"),
        e.OracleHandedOver(3, 2),
        e.OracleSuperseded(3, 1, 2),
        e.OracleFed(3.1, 2, 2, 9.0),
        e.OracleEnded(4, 2, "complete", 2),
    )
    driver, secondary, rest = made.requests
    assert (secondary.secondary, secondary.start, secondary.first, secondary.end) == (True, 1, 2, 3)
    assert (rest.secondary, rest.start, rest.first, rest.end, rest.fed_until) == (False, 3, 3, 4, 3.1)
    assert driver.past and not secondary.past and not rest.past
    assert made.request(2) is rest and rest.named


def test_what_was_complete_when_it_was_handed_over_is_a_moment_in_the_drivers_lane() -> None:
    made = log(
        asked(1, 1, GPT, secondary=True),
        e.OracleDelta(2, 1, "Its own"),
        e.OracleEnded(2.5, 1, "complete", 2),
        e.OracleHandedOver(3, 1),
    )
    secondary, rest = made.requests
    assert (secondary.end, rest.start, rest.first, rest.end) == (2.5, 3, 3, 3)


def test_a_routed_turn_knows_its_kind() -> None:
    routed = e.BackendRouted(1, 1, "stem", 0.9, *GPT, "why")
    assert log(routed, asked(1, 1, GPT)).requests.last.revision.kind == "stem"
    assert log(routed, e.BackendChanged(1, *QWEN), asked(1, 1)).requests.last.revision.kind == ""


def test_tokens_are_counted_by_frame() -> None:
    made = log(asked(1), e.OracleTaken(2, 1, 1, 5), e.OracleTaken(2.08, 1, 3, 3), e.OracleTaken(2.16, 2, 1, 0))
    assert [(t.tokens, t.taken, t.waiting) for t in made.taken] == [(1, 1, 5), (2, 3, 3), (1, 1, 0)]


def test_swaps() -> None:
    made = log(
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
    made = log(
        e.AssistantStarted(1, 1, 2),
        e.AssistantSaid(2, 1, "well then", 2),
        e.AssistantSaid(2.5, 1, ", yes", 2, True),
        e.AssistantCorrected(3, 1, 4, "continued"),
        e.AssistantHeld(4, 1),
        e.AssistantResumed(4.5, 1),
        e.AssistantHeld(5, 1),
        e.AssistantEnded(6, 1, True),
    )
    answer = made.answers.last
    assert words(answer.words) == [(1.0, "well", True), (1.5, "then,", True), (2.0, "yes", True)]
    assert (answer.start, answer.end, answer.interrupted) == (1, 6, True)
    assert (answer.corrections, answer.holds) == ([(3, 4, "continued")], [(4, 4.5), (5, 6)])


def test_a_new_answer_ends_the_one_before_it_and_late_words_belong_to_their_own() -> None:
    made = log(
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
    made = log(
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
    made = TimelineLog()
    for frame in range(12 * 1500):
        at = end_of_frame(frame)
        made.apply(e.LevelMeasured(at, -50, -50, 20.0 + at * 0.1 + (200.0 if frame == 17_000 else 0.0)))
    assert [trouble.start for trouble in made.troubles] == [end_of_frame(17_000)]
    assert made.troubles.last.amount == pytest.approx(140.0, abs=2)


def test_the_end_of_a_talk_ends_all_that_lasts() -> None:
    made = log(e.UserStarted(1, 1), asked(1, 2), e.AssistantStarted(3, 1, 1), e.LevelMeasured(4, -20, -20))
    made.end()
    assert [made.turns.last.end, made.requests.last.end, made.answers.last.end] == [4, 4, 4]
    assert made.requests.last.revision.end_reason == "stopped"
    made.begin()
    assert (made.now, len(made.turns), made.levels.newest, made.backends) == (0, 0, -1, [])


# -- sound


def test_levels_and_their_gaps() -> None:
    made = TimelineLog()
    gap, long_gap = 4, LONGEST_BRIDGE + 3
    frames = [0, 1, 1 + gap, 1 + gap + long_gap]
    for frame, level in zip(frames, (-60.0, -30.0, 0.0, -30.0), strict=True):
        made.apply(e.LevelMeasured(end_of_frame(frame), level, -60))
    times, shares = made.levels.between(0, 2)
    assert times[:2].tolist() == pytest.approx([0.04, 0.12])
    user = shares[0].tolist()
    assert user[: 2 + gap] == pytest.approx([0.0, 0.5, 0.625, 0.75, 0.875, 1.0])
    assert all(level != level for level in user[2 + gap : -1]) and user[-1] == 0.5
    assert made.levels.at(0.1) == (-30, -60) and made.levels.at(0.2) is None and made.levels.at(99) is None
    # A window that begins within the gap bridges it in the same way.
    assert made.levels.between(0.25, 0.3)[1][0].tolist() == pytest.approx([0.75])


def test_the_ring_forgets_the_oldest_and_frames_out_of_order_are_no_trouble() -> None:
    made = TimelineLog(kept_seconds=8.0)
    for frame in range(250):
        made.apply(e.LevelMeasured(end_of_frame(frame), -frame / 5, -60))
    made.apply(e.LevelMeasured(end_of_frame(3), -1, -1))
    assert made.levels.oldest == 150
    times, shares = made.levels.between(0, 100)
    assert (len(times), times[0]) == (100, pytest.approx(150.5 * 0.08))
    assert shares[0, 0] == pytest.approx(0.5) and np.all(np.diff(shares[0]) < 0)


def test_a_gap_does_not_show_the_sound_of_half_an_hour_ago() -> None:
    made = TimelineLog(kept_seconds=8.0)
    for frame in [*range(100), 120]:
        made.apply(e.LevelMeasured(end_of_frame(frame), -20, -20))
    seen = [made.levels.at(end_of_frame(frame)) for frame in (98, 104, 118, 119)]
    assert seen == [(-20, -20), None, None, (-20, -20)]


def test_memory_stays_bounded_over_an_hour() -> None:
    made = TimelineLog()
    sizes = []
    for event in long_talk(60):
        made.apply(event)
        if isinstance(event, e.FramesDropped):
            by_number = [len(made._user._turn_of), len(made._backend._request_of)]
            sizes.append([len(track) for track in made.tracks] + by_number)
    assert len(sizes) > 120
    halfway = np.max(sizes[:66], axis=0)
    assert np.all(np.max(sizes[66:], axis=0) <= halfway + 64 * 3)
    assert made.oldest == pytest.approx(1800, abs=1)
    assert all(track.at(0).start > 1700 for track in made.tracks if len(track) > 100)


# -- windows


class Thing:
    def __init__(self, start: float, end: float | None) -> None:
        self.start, self.end = start, end


moments = st.integers(0, 60).map(float)
things = st.lists(st.tuples(moments, st.one_of(st.none(), moments)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(things, st.lists(st.tuples(st.integers(0, 39), moments), max_size=12), moments, moments)
def test_a_window_holds_what_looking_at_everything_would_find(made, closed, one, other) -> None:
    track: Track[Thing] = Track()
    for start, length in made:
        track.add(Thing(start, None if length is None else start + length))
    for place, end in closed:
        thing = track.at(place)
        if thing is not None:
            thing.end = max(thing.start, end)
            track.changed(thing)
    earliest, latest = sorted((one, other))
    expected = [t for t in track if t.start <= latest and (t.end is None or t.end >= earliest)]
    assert track.between(earliest, latest) == expected
    starts = [t.start for t in track]
    assert starts == sorted(starts)
    assert track.after(one) is next((t for t in track if t.start > one), None)
    assert track.before(one) is next((t for t in reversed(list(track)) if t.start < one), None)


def test_what_is_old_is_dropped_in_one_go() -> None:
    track: Track[Thing] = Track()
    for start in range(200):
        track.add(Thing(start, start + 1))
    assert track.drop_before(30) == [] and len(track) == 200
    assert len(track.drop_before(150)) == 149 and track.at(0).start == 149
    assert [t.start for t in track.between(160, 161)] == [159, 160, 161]


def test_it_says_from_where_on_it_has_changed() -> None:
    made = log(*talk())
    assert made.take_changed() == 0.0
    assert made.take_changed() is None
    made.apply(e.LevelMeasured(28.08, -20, -20))
    assert made.take_changed() == pytest.approx(28.0)
    made.apply(e.OracleSuperseded(28.08, 7, 8))
    assert made.take_changed() == made.request(7).start


def test_walking_meets_everything_once_in_order() -> None:
    made = log(*talk())
    everything = [thing for track in made.tracks for thing in track]
    walked, thing = [], step(made, None, True, True)
    while thing is not None:
        walked.append(thing)
        thing = step(made, thing, False, True)
    while (thing := step(made, walked[0], True, True)) is not None:
        walked.insert(0, thing)
    assert sorted(map(id, walked)) == sorted(map(id, everything))
    assert [thing.start for thing in walked] == sorted((thing.start for thing in everything), reverse=True)
