"""The turn tracker's evidence: barge-in by speech only, and the assistant's own echo."""

from app.conversation import events as e
from app.conversation.turn import GoOn, Hold, Interrupt, TurnTracker
from app.conversation.voice import VoiceWindow
from app.conversation.words import is_echo
from app.stt.endpointing_weights import end_weights


def _hear(tracker: TurnTracker, sounds: list[tuple[float, float]], start: float = 10.0) -> list[object]:
    """Feeds windows of 32 ms, each with probability and level, in the frames that complete them."""
    facts: list[object] = []
    done = 0
    for frame in range(1, len(sounds) * 32 // 80 + 2):
        at = start + frame * 0.08
        windows = []
        while done < len(sounds) and (done + 1) * 0.032 <= frame * 0.08 + 1e-9:
            probability, level = sounds[done]
            done += 1
            windows.append(VoiceWindow(round(start + done * 0.032, 6), probability, level=level))
        facts += tracker.hear(round(at, 6), windows, assistant_speaks=True)
    return facts


def _holds(sounds: list[tuple[float, float]]) -> bool:
    return any(isinstance(fact, Hold) for fact in _hear(TurnTracker(end_weights()), sounds))


def test_a_word_holds_and_a_doubtful_sound_does_not() -> None:
    assert _holds([(0.2, -30), (0.8, -24), (0.85, -20), (0.85, -20)])
    assert not _holds([(0.55, -24)] * 12 + [(0.1, -60)] * 4)


def test_a_doubtful_sound_that_goes_on_is_speech_after_all() -> None:
    assert _holds([(0.55, -24)] * 30)


def test_the_voiced_end_of_a_cough_is_told_by_the_burst_before_it() -> None:
    voiced = [(0.82, -26), (0.82, -27), (0.79, -29)]
    rest = [(0.6, -60)] * 4 + [(0.05, -66)] * 4
    assert not _holds([(0.3, -20), (0.5, -22), *voiced, *rest])
    assert _holds([(0.3, -36), (0.5, -34), *voiced, *rest])  # the same behind a consonant


def test_the_detector_hanging_on_behind_a_sound_is_no_evidence() -> None:
    assert not _holds([(0.69, -25), (0.69, -26), *[(0.69, -55)] * 6])


def _own_words_come_back(heard: str, said_at: float = 9.9, seconds: float = 0.64) -> tuple[TurnTracker, list[object]]:
    tracker = TurnTracker(end_weights())
    for word in "The river runs through Paris and into the sea".split():
        tracker.said(word, said_at)
    facts = _hear(tracker, [(0.9, -24)] * round(seconds / 0.032))
    tracker.hint_words(1, heard, 11.0)
    facts += tracker.hear(round(10.0 + seconds + 0.24, 6), [], assistant_speaks=True)
    return tracker, facts


def test_its_own_words_are_an_echo_and_it_goes_on() -> None:
    tracker, facts = _own_words_come_back("runs through Paris")
    assert tracker.echoes == 1 and GoOn() in facts and Interrupt() not in facts
    assert any(isinstance(fact, e.UserBackchannel) for fact in facts) and not tracker.user_holds_floor


def test_who_repeats_a_word_or_answers_interrupts() -> None:
    for heard in ("Paris?", "Stop, Paris", "What about Rome?", "Paris and then where"):
        tracker, facts = _own_words_come_back(heard, seconds=0.48)
        facts += tracker.hear(10.96, [VoiceWindow(10.93, 0.02), VoiceWindow(10.96, 0.02)], assistant_speaks=True)
        assert Interrupt() in facts and tracker.echoes == 0, heard


def test_two_words_repeated_behind_the_assistant_are_the_users() -> None:
    tracker, _ = _own_words_come_back("through Paris", said_at=7.0)
    assert tracker.echoes == 0


def test_words_said_long_ago_are_forgotten() -> None:
    tracker, _ = _own_words_come_back("The river runs through Paris", said_at=2.0)
    assert tracker.echoes == 0


def test_an_echo_is_a_stretch_of_what_was_said_but_for_a_word() -> None:
    said = "The river runs through Paris and into the sea."
    assert is_echo("River runs through Paris", said) and is_echo("river run through Paris and", said)
    assert not is_echo("river through runs Paris", said) and not is_echo("runs into", said)
    assert not is_echo("Paris", said) and not is_echo("the river runs dry in summer", said)
    assert not is_echo("", said) and not is_echo("runs through", "")
