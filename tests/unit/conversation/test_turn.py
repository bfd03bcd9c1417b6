"""The turn tracker: onset, evidence, endpointing, barge-in, backchannels, resumed turns, echoes, the talk button."""

from itertools import pairwise
from typing import Any

import pytest

from app.conversation import events as e
from app.conversation.turns.endpointing import PauseLengths
from app.conversation.turns.floor import FloorAfterGap, FloorCommand, GoOn, Hold, Interrupt, Silence, TakeFloor, Yield
from app.conversation.turns.tracker import TurnSettings, TurnTracker
from app.conversation.turns.voice import WINDOW_SECONDS, VoiceRun, VoiceSettings, VoiceWindow
from app.conversation.words import is_echo
from app.stt.text_endpointing import end_weights


class Talk:
    """Feeds a tracker frames of 80 ms made of windows of 32 ms."""

    def __init__(self, **options: Any) -> None:
        self.tracker = TurnTracker(end_weights(), **options)
        self.at = 0.0
        self.speaks = False
        self.thinks_along = True
        self.log: list[tuple[float, object]] = []
        self._windows = 0

    def run(self, seconds: float, probability: float, *, hum: bool = False, level: float | None = None) -> list[object]:
        out: list[object] = []
        for _ in range(round(seconds / 0.08)):
            self.at = round(self.at + 0.08, 6)
            windows = []
            while (self._windows + 1) * 0.032 <= self.at + 1e-9:
                self._windows += 1
                windows.append(VoiceWindow(round(self._windows * 0.032, 6), probability, hum, level))
            for fact in self.tracker.hear(
                self.at, windows, assistant_speaks=self.speaks, thinks_along=self.thinks_along
            ):
                self.log.append((self.at, fact))
                out.append(fact)
        return out

    def kinds(self, facts: list[object]) -> list[type]:
        return [type(fact) for fact in facts]


def _say(talk: Talk, words: str, seconds: float = 1.6, finished: float = 0.95) -> list[object]:
    facts = talk.run(seconds, 0.9)
    silence: list[object] = []
    for _ in range(40):
        new = talk.run(0.08, 0.02)
        silence += new
        for fact in new:
            if isinstance(fact, e.UserPaused):
                talk.tracker.hint_words(talk.tracker.turn, words, talk.at)
                talk.tracker.hint_finished(talk.tracker.turn, finished, fact.speech_end)
            if isinstance(fact, e.UserEnded):
                return facts + silence
    return facts + silence


def _wait_of(talk: Talk, finished: float) -> float:
    _say(talk, "David has three sisters", finished=finished)
    return next(f for _, f in talk.log if isinstance(f, e.UserEnded)).at - 1.6


def test_how_long_the_end_of_a_turn_is_waited_for() -> None:
    waits = [_wait_of(Talk(), finished) for finished in (0.99, 0.9, 0.7, 0.5, 0.3, 0.1, 0.01)]
    assert waits == sorted(waits) and waits[0] <= 0.33 and 0.9 <= waits[-1] <= 2.5
    assert all(after - before <= 0.6 for before, after in pairwise(waits)), waits
    waits = [end_weights().wait(step / 200) for step in range(1, 200)]
    assert waits == sorted(waits, reverse=True)
    steps = [before - after for before, after in pairwise(waits[10:])]
    assert max(steps) < 0.1
    for finished in (0.2, 0.5, 0.8):
        waits = [_wait_of(Talk(settings=TurnSettings(patience=patience)), finished) for patience in (-1.0, 0.0, 1.0)]
        assert waits == sorted(waits) and waits[2] - waits[0] >= 0.3, waits
    talk = Talk()
    talk.thinks_along = False
    assert _wait_of(talk, 0.99) <= 0.17


def test_a_user_who_continues_soon_continues_the_same_turn() -> None:
    talk = Talk()
    talk.run(1.6, 0.9)
    for fact in talk.run(0.24, 0.02):
        if isinstance(fact, e.UserPaused):
            talk.tracker.hint_words(1, "I have a cat.", talk.at)
            talk.tracker.hint_finished(1, 0.95, fact.speech_end)
    facts = talk.run(0.4, 0.9)
    assert not [f for _, f in talk.log if isinstance(f, e.UserEnded)] and not facts, "one turn, and nothing to yield"
    assert any(isinstance(f, e.UserEnded) for f in talk.run(2.0, 0.02))


def test_a_speaker_whose_pauses_are_long_is_given_more_time() -> None:
    slow, quick = PauseLengths(), PauseLengths()
    for _ in range(8):
        slow.add(1.1)
        quick.add(0.2)
    assert _wait_of(Talk(pauses=quick), 0.5) < _wait_of(Talk(), 0.5) < _wait_of(Talk(pauses=slow), 0.5)


def test_a_click_in_the_silence_does_not_cost_the_judgement() -> None:
    """One voiced window after the words is no speech, and the end is judged again."""
    for place in range(1, 9):
        talk = Talk()
        talk.run(1.6, 0.9)
        waiting: list[list[float]] = [[], []]  # a judgement takes two frames
        ended = None
        for frame in range(1, 30):
            talk.at = round(1.6 + 0.08 * frame, 6)
            for speech_end in waiting.pop(0):
                talk.tracker.hint_finished(1, 0.95, speech_end)
            windows = []
            while (talk._windows + 1) * 0.032 <= talk.at + 1e-9:
                talk._windows += 1
                heard = 0.7 if talk._windows == 50 + place else 0.02
                windows.append(VoiceWindow(round(talk._windows * 0.032, 6), heard))
            facts = talk.tracker.hear(talk.at, windows, assistant_speaks=False)
            waiting.append([f.speech_end for f in facts if isinstance(f, e.UserPaused)])
            ended = ended or next((f for f in facts if isinstance(f, e.UserEnded)), None)
        assert ended is not None and ended.reason == "words" and ended.at - (1.6 + 0.032 * place) <= 0.4, place


def _barge(talk: Talk) -> None:
    _say(talk, "What is superposition?")
    talk.speaks = True
    talk.run(3.2, 0.02)


def test_a_hum_that_will_not_end_is_no_mhm() -> None:
    talk = Talk()
    _barge(talk)
    assert any(isinstance(f, Hold) for f in talk.run(1.2, 0.9, hum=True))


def test_yes_that_begins_an_answer_is_part_of_it() -> None:
    for gap, kinds, turn in [(0.8, [e.UserResumed, Hold], 1), (2.4, [e.UserStarted, Hold], 2)]:
        talk = Talk()
        talk.speaks = True
        talk.run(0.4, 0.9)
        talk.tracker.hint_words(1, "Yes.", talk.at + 1)
        passed = talk.run(gap, 0.02)
        assert talk.kinds(passed)[-2:] == [e.UserBackchannel, GoOn]
        assert talk.kinds(talk.run(0.4, 0.9)) == kinds and talk.tracker.turn == turn


def test_a_cough_that_was_let_pass_begins_nothing() -> None:
    talk = Talk()
    talk.speaks = True
    talk.run(0.4, 0.9)
    talk.tracker.hint_words(1, "", talk.at + 1)
    talk.run(0.8, 0.02)
    assert talk.kinds(talk.run(0.4, 0.9)) == [e.UserStarted, Hold]


def test_a_short_stop_interrupts_by_its_words() -> None:
    talk = Talk()
    _barge(talk)
    talk.run(0.4, 0.9)
    talk.run(0.16, 0.02)
    talk.tracker.hint_words(2, "Stop!", talk.at)
    facts = talk.run(0.16, 0.02)
    assert Interrupt() in facts and GoOn() not in facts


def _laugh(talk: Talk, seconds: float, words: str = "") -> list[object]:
    """A voice in which each decode, every 0.24 s, finds these words."""
    out: list[object] = []
    for _ in range(round(seconds / 0.24)):
        out += talk.run(0.24, 0.9)
        talk.tracker.hint_words(talk.tracker.turn, words, talk.at)
    return out


def test_a_long_voice_without_words_holds_the_assistant_once_and_lets_it_continue() -> None:
    talk = Talk()
    _barge(talk)
    facts = _laugh(talk, 4.8) + talk.run(1.6, 0.02)
    assert [type(f) for f in facts if isinstance(f, Hold | GoOn | Interrupt | TakeFloor)] == [Hold, GoOn]
    held, went_on = (next(at for at, f in talk.log if isinstance(f, kind)) for kind in (Hold, GoOn))
    assert went_on - held <= 1.2
    assert isinstance(facts[-1], e.UserBackchannel) and not talk.tracker.user_holds_floor


def test_after_a_laugh_words_or_the_button_interrupt_and_one_pass_with_words_does_not() -> None:
    talk = Talk()
    _barge(talk)
    assert GoOn() in _laugh(talk, 2.4)
    facts = _laugh(talk, 0.96, "No, wait.")
    assert Interrupt() in facts and talk.tracker.user_holds_floor
    assert [f.turn for f in talk.run(2.0, 0.02) if isinstance(f, TakeFloor)] == [2]
    talk = Talk()
    _barge(talk)
    assert GoOn() in _laugh(talk, 2.4)
    facts = _laugh(talk, 0.24, "I can't.") + _laugh(talk, 1.2) + talk.run(1.6, 0.02)
    assert Interrupt() not in facts and not talk.tracker.user_holds_floor
    talk = Talk()
    _barge(talk)
    assert GoOn() in _laugh(talk, 2.4)
    talk.tracker.press()
    assert Interrupt() in talk.run(0.08, 0.02)
    talk.tracker.release()
    assert [f.turn for f in talk.run(0.08, 0.02) if isinstance(f, TakeFloor)] == [2]


def test_a_far_voice_begins_no_turn_until_the_user_was_silent_for_long() -> None:
    talk = Talk()
    talk.run(1.6, 0.9, level=-20)
    talk.tracker.hint_words(1, "What is superposition?", talk.at)
    assert [f.turn for f in talk.run(1.6, 0.02) if isinstance(f, TakeFloor)] == [1]
    talk.run(1.6, 0.02)
    assert talk.run(1.6, 0.9, level=-50) == [], "somebody else"
    assert any(isinstance(f, e.UserStarted) for f in talk.run(0.8, 0.9, level=-40)), "a whisper, perhaps"
    talk.tracker.end_input(talk.at)
    talk.run(120.0, 0.02)
    assert any(isinstance(f, e.UserStarted) for f in talk.run(1.6, 0.9, level=-50)), "the user may have moved away"


def _first_turn(talk: Talk) -> None:
    """The user's first turn at -20 dBFS, after which their level is known; the assistant answers."""
    talk.run(1.6, 0.9, level=-20)
    talk.tracker.hint_words(1, "What is superposition?", talk.at)
    assert [f.turn for f in talk.run(1.6, 0.02) if isinstance(f, TakeFloor)] == [1]


@pytest.mark.parametrize(("level", "continues"), [(-38, True), (-20, False)])
def test_a_softer_speaker_may_continue_and_somebody_softer_than_they_may_not(level: float, continues: bool) -> None:
    """A voice that continues a turn is compared with that turn, and any other one with the user's last turns."""
    talk = Talk()
    for number, loud in enumerate((-20, -20, -20, level), 1):
        assert any(isinstance(f, e.UserStarted) for f in talk.run(1.6, 0.9, level=loud))
        talk.tracker.hint_words(number, "There is a company in Cambridge.", talk.at)
        end = talk.tracker._last_voice
        talk.run(0.08, 0.02)
        talk.tracker.hint_finished(number, 0.999, end)
        assert [f.turn for f in talk.run(0.8, 0.02) if isinstance(f, TakeFloor)] == [number]
        if number < 4:
            talk.run(4.0, 0.02)
    assert talk.tracker.user_level(talk.at) == pytest.approx(level, abs=0.5)
    facts = talk.run(0.4, 0.9, level=-38)
    assert (e.UserResumed in {type(f) for f in facts}) is continues


def test_a_long_turn_gets_half_a_second_for_its_next_sentence() -> None:
    ends = []
    for seconds, patience in ((2.4, 0.0), (6.4, 0.0), (6.4, -1.0)):
        talk = Talk()
        talk.tracker.patience = patience
        talk.run(seconds, 0.9)
        talk.run(0.08, 0.02)
        talk.tracker.hint_finished(1, 0.999, seconds)
        begin = talk.at
        while not any(isinstance(f, TakeFloor) for f in talk.run(0.08, 0.02)):
            assert talk.at < begin + 2.0
        ends.append(round(talk.at - seconds, 2))
    short, long, impatient = ends
    assert 0.5 <= long <= 0.58 and short < 0.5 and impatient < 0.5


def test_a_softer_voice_neither_resumes_a_turn_nor_holds_the_assistant_and_the_user_does() -> None:
    for level, resumes in ((-35, False), (-28, True)):
        talk = Talk(settings=TurnSettings(reopen_seconds=4.0))
        _first_turn(talk)
        talk.speaks = True
        facts = talk.run(0.8, 0.9, level=level)
        assert any(isinstance(f, Yield) for f in facts) is resumes and bool(facts) is resumes
    for level, holds in ((-35, False), (-28, True)):
        talk = Talk()
        _first_turn(talk)
        talk.run(1.6, 0.02)
        talk.speaks = True
        facts = talk.run(0.8, 0.9, level=level)
        assert any(isinstance(f, Hold) for f in facts) is holds


def test_a_softer_voice_over_the_assistant_is_no_turn_when_that_falls_silent() -> None:
    talk = Talk()
    _first_turn(talk)
    talk.run(1.6, 0.02)
    talk.speaks = True
    assert talk.run(0.8, 0.9, level=-35) == []
    talk.speaks = False
    assert talk.run(0.8, 0.02) + talk.run(1.6, 0.9, level=-35) == [], "it goes on"
    assert any(isinstance(f, e.UserStarted) for f in talk.run(0.8, 0.9, level=-24)), "the user"
    talk.run(2.4, 0.02)
    talk.run(2.4, 0.02)
    assert any(isinstance(f, e.UserStarted) for f in talk.run(0.8, 0.9, level=-35)), "a whisper in the silence"


def test_the_button_opens_and_closes_whatever_the_sound() -> None:
    talk = Talk(duplex=False)
    assert talk.run(1.0, 0.9) == []  # nobody pressed
    talk.tracker.press()
    assert talk.kinds(talk.run(0.16, 0.9)) == [Interrupt, e.UserStarted]
    assert talk.run(3.0, 0.02) == []  # a pause is no end while the button is down
    talk.tracker.release()
    facts = talk.run(0.16, 0.02)
    assert [f.reason for f in facts if isinstance(f, e.UserEnded)] == ["button"]
    assert [(f.turn, f.explicit) for f in facts if isinstance(f, TakeFloor)] == [(1, True)]
    # What is said right after is a turn of its own, not the same one gone on.
    talk.tracker.press()
    assert [f.turn for f in talk.run(0.16, 0.9) if isinstance(f, e.UserStarted)] == [2]


def test_a_tap_within_one_frame_is_no_turn() -> None:
    talk = Talk(duplex=False)
    talk.tracker.press()
    talk.tracker.release()
    assert talk.kinds(talk.run(0.08, 0.02)) == [Interrupt, Interrupt, e.TalkTapped, Silence]
    talk.tracker.press()
    pressed_at = round(talk.at + 0.08, 6)
    [told] = [f for f in talk.run(0.4, 0.02) if isinstance(f, e.UserStarted)]
    assert told == e.UserStarted(pressed_at, 1), "held for longer, it opens a turn from the press on"


def test_what_is_typed_or_ends_during_a_tap_follows_no_empty_turn() -> None:
    talk = Talk(duplex=False)
    talk.tracker.press()
    talk.run(0.08, 0.02)
    assert talk.tracker.type(talk.at, 2) == [Interrupt(), TakeFloor(2, explicit=True)]
    talk.tracker.release()
    assert talk.run(0.08, 0.02) == []
    talk.tracker.press()
    talk.run(0.08, 0.02)
    assert talk.tracker.end_input(talk.at) == [] and not talk.tracker.user_holds_floor


def test_the_end_of_the_input_closes_an_open_turn() -> None:
    talk = Talk()
    talk.run(1.0, 0.9)
    facts = talk.tracker.end_input(talk.at)
    assert [f.reason for f in facts if isinstance(f, e.UserEnded)] == ["input_end"]
    assert talk.tracker.end_input(talk.at) == []


def test_the_floor_is_given_only_once_the_user_was_heard_after_lost_audio() -> None:
    given, lost, heard = TakeFloor(1, 2.0), (0.08, True), (0.08, False)

    def passed(*steps: tuple[tuple[float, bool], list[FloorCommand]]) -> list[list[FloorCommand]]:
        after = FloorAfterGap()
        return [after.pass_on(inputs, seconds, lost=is_lost) for (seconds, is_lost), inputs in steps]

    assert passed((heard, [given])) == [[given]]
    waits = [[], [], [], [], [given], []]
    assert passed((lost, [given]), *[(heard, [])] * 5) == waits
    assert passed((lost, []), (heard, [given]), *[(heard, [])] * 4) == [[], *waits[:3], [given], []]
    assert passed((lost, [given]), (heard, []), (lost, []), *[(heard, [])] * 3) == [*[[]] * 5, [given]], "not longer"
    for other in (Yield(1), Interrupt(), Silence(1)):
        assert passed((lost, [given]), (heard, [other]), *[(heard, [])] * 4) == [[], [other], [], [], [], []]
    told = TakeFloor(2, 2.0, explicit=True)
    assert passed((lost, [given]), (heard, [told]), *[(heard, [])] * 4) == [[], [told], [], [], [], []]


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


def test_which_sounds_hold_the_assistant() -> None:
    assert _holds([(0.2, -30), (0.8, -24), (0.85, -20), (0.85, -20)])
    assert not _holds([(0.55, -24)] * 12 + [(0.1, -60)] * 4)
    assert _holds([(0.55, -24)] * 30)
    voiced = [(0.82, -26), (0.82, -27), (0.79, -29)]
    rest = [(0.6, -60)] * 4 + [(0.05, -66)] * 4
    assert not _holds([(0.3, -20), (0.5, -22), *voiced, *rest])
    assert _holds([(0.3, -36), (0.5, -34), *voiced, *rest])  # the same behind a consonant
    assert not _holds([(0.69, -25), (0.69, -26), *[(0.69, -55)] * 6])


def _own_words_come_back(heard: str, said_at: float = 9.9, seconds: float = 0.64) -> tuple[TurnTracker, list[object]]:
    tracker = TurnTracker(end_weights())
    for word in "The river runs through Paris and into the sea".split():
        tracker.own_words.add(word, said_at)
    facts = _hear(tracker, [(0.9, -24)] * round(seconds / 0.032))
    tracker.hint_words(1, heard, 11.0)
    facts += tracker.hear(round(10.0 + seconds + 0.24, 6), [], assistant_speaks=True)
    return tracker, facts


def test_its_own_words_are_an_echo_unless_few_or_long_ago() -> None:
    tracker, facts = _own_words_come_back("runs through Paris")
    assert GoOn() in facts and Interrupt() not in facts
    assert any(isinstance(fact, e.UserBackchannel) for fact in facts) and not tracker.user_holds_floor
    _, facts = _own_words_come_back("through Paris", said_at=7.0)
    assert GoOn() not in facts
    _, facts = _own_words_come_back("The river runs through Paris", said_at=2.0)
    assert GoOn() not in facts


def test_who_repeats_a_word_or_answers_interrupts() -> None:
    for heard in ("Paris?", "Stop, Paris", "What about Rome?", "Paris and then where"):
        tracker, facts = _own_words_come_back(heard, seconds=0.48)
        facts += tracker.hear(10.96, [VoiceWindow(10.93, 0.02), VoiceWindow(10.96, 0.02)], assistant_speaks=True)
        assert Interrupt() in facts and GoOn() not in facts, heard


def test_an_echo_is_a_stretch_of_what_was_said_but_for_a_word() -> None:
    said = "The river runs through Paris and into the sea."
    assert is_echo("River runs through Paris", said) and is_echo("river run through Paris and", said)
    assert not is_echo("river through runs Paris", said) and not is_echo("runs into", said)
    assert not is_echo("Paris", said) and not is_echo("the river runs dry in summer", said)
    assert not is_echo("", said) and not is_echo("runs through", "")


def _windows_until(*sounds: tuple[float, float, float | None], hum: bool = False) -> int | None:
    """The number of windows (probability, level in dBFS, voicing) until they interrupt; None if they don't."""
    run = VoiceRun()
    for number, (probability, level, voicing) in enumerate(sounds, 1):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, probability, hum, level, voicing))
        if run.interrupts:
            return number
    return None


def test_what_is_evidence_enough_to_interrupt() -> None:
    assert _windows_until((0.05, -40, 0.4), (0.75, -22, 0.95), (0.8, -20, 0.95)) == 3
    assert _windows_until((0.95, -20, 0.95), (0.1, -50, 0.3)) is None
    assert _windows_until(*[(0.9, -22, 0.45)] * 12) is None
    assert _windows_until((0.9, -26, 0.45), (0.9, -24, 0.55), (0.9, -20, 0.9)) == 3  # a consonant, and its vowel
    sure = [(0.75, -22, 0.95)] * 3
    assert _windows_until((0.3, -18, 0.9), (0.4, -19, 0.9), *sure) == 4
    assert _windows_until((0.3, -18, 0.4), (0.4, -19, 0.4), *sure) is None
    begins = [(0.3, -18, 0.4)]
    assert _windows_until(*begins, *[(0.95, -20, 0.95)] * 4) == 4
    # A burst that is softer than what follows is a consonant; one that lies half a second back was another sound.
    assert _windows_until((0.3, -28, 0.4), *[(0.75, -20, 0.95)] * 3) == 3
    assert _windows_until(*begins, *[(0.1, -60, 0.2)] * 15, *[(0.75, -20, 0.95)] * 3) == 18


def test_a_hum_interrupts_after_its_time_only_and_a_word_as_soon_as_the_mouth_opens() -> None:
    enough = round(VoiceSettings().hum_seconds / WINDOW_SECONDS)
    assert _windows_until(*[(0.95, -24, 1.0)] * 30, hum=True) == enough
    run = VoiceRun()
    took = 0
    for hum in (True, True, True, False, False):
        took += 1
        run.hear(VoiceWindow(took * WINDOW_SECONDS, 0.95, hum, -24, 1.0))
        if run.interrupts:
            break
    assert took == 4


def test_what_is_settled_or_was_not_measured() -> None:
    assert _windows_until((0.8, -22, None), (0.8, -22, None)) == 2
    run = VoiceRun()
    for number in (1, 2):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, 0.9))
    assert run.interrupts
    run = VoiceRun()
    for number in range(1, 5):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, 0.9, False, -22, 0.95))
    assert run.interrupts
    run.begin()
    assert not run.interrupts and run.seconds == 0


def test_two_loud_windows_do_not_bring_a_far_voice_near() -> None:
    run = VoiceRun()
    run.own_level = -20.0
    for number, level in enumerate((-34, -28, -35, -28, -34), 1):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, 0.9, False, level, 0.95))
        assert run.begins or number < 2
    assert not run.interrupts and not run.resumes
    run.hear(VoiceWindow(6 * WINDOW_SECONDS, 0.9, False, -28, 0.95))
    assert run.interrupts and run.resumes


def test_a_turn_begins_with_what_is_surely_speech_or_continues() -> None:
    run = VoiceRun()
    begins = []
    for number in range(1, 12):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, 0.9, False, -24, 0.4))
        begins.append(run.begins)
    assert begins.index(True) + 1 == round(VoiceSettings().unsure_seconds / WINDOW_SECONDS)
    run.hear(VoiceWindow(0.4, 0.05, False, -60, 0.2))
    assert not run.begins
    run.hear(VoiceWindow(0.432, 0.9, False, -24, 0.9))
    assert not run.begins  # one window is none
    run.hear(VoiceWindow(0.464, 0.9, False, -24, 0.9))
    assert run.begins
