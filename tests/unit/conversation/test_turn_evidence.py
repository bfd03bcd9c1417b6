"""The turn tracker's evidence: what makes a run of voice an interruption, and the assistant's own echo."""

from app.conversation import events as e
from app.conversation.turns.floor import GoOn, Hold, Interrupt
from app.conversation.turns.tracker import TurnTracker
from app.conversation.turns.voice import WINDOW_SECONDS, VoiceRun, VoiceSettings, VoiceWindow
from app.conversation.words import is_echo
from app.stt.text_endpointing import end_weights


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


def test_what_was_not_measured_is_neither_noise_nor_silence() -> None:
    assert _windows_until((0.8, -22, None), (0.8, -22, None)) == 2
    run = VoiceRun()
    for number in (1, 2):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, 0.9))
    assert run.interrupts


def test_two_loud_windows_do_not_bring_a_far_voice_near() -> None:
    run = VoiceRun()
    run.own_level = -20.0
    for number, level in enumerate((-34, -28, -35, -28, -34), 1):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, 0.9, False, level, 0.95))
        assert run.begins or number < 2
    assert not run.interrupts and not run.resumes
    run.hear(VoiceWindow(6 * WINDOW_SECONDS, 0.9, False, -28, 0.95))
    assert run.interrupts and run.resumes


def test_what_is_settled_counts_no_more() -> None:
    run = VoiceRun()
    for number in range(1, 5):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, 0.9, False, -22, 0.95))
    assert run.interrupts
    run.begin()
    assert not run.interrupts and run.seconds == 0


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
