"""What makes a run of voice an interruption: probability, periodicity, level and hum of its windows."""

from app.conversation.voice import WINDOW_SECONDS, VoiceRun, VoiceSettings, VoiceWindow


def _windows_until(*sounds: tuple[float, float, float | None], hum: bool = False) -> int | None:
    """The number of windows (probability, level in dBFS, voicing) until they interrupt; None if they don't."""
    run = VoiceRun()
    for number, (probability, level, voicing) in enumerate(sounds, 1):
        run.hear(VoiceWindow(number * WINDOW_SECONDS, probability, hum, level, voicing))
        if run.interrupts:
            return number
    return None


def test_two_sure_periodic_windows_interrupt_and_one_does_not() -> None:
    assert _windows_until((0.05, -40, 0.4), (0.75, -22, 0.95), (0.8, -20, 0.95)) == 3
    assert _windows_until((0.95, -20, 0.95), (0.1, -50, 0.3)) is None


def test_what_is_not_periodic_is_no_evidence_however_sure_the_detector() -> None:
    assert _windows_until(*[(0.9, -22, 0.45)] * 12) is None
    assert _windows_until((0.9, -26, 0.45), (0.9, -24, 0.55), (0.9, -20, 0.9)) == 3  # a consonant, and its vowel


def test_a_vowel_that_is_not_yet_believed_is_no_burst() -> None:
    sure = [(0.75, -22, 0.95)] * 3
    assert _windows_until((0.3, -18, 0.9), (0.4, -19, 0.9), *sure) == 4
    assert _windows_until((0.3, -18, 0.4), (0.4, -19, 0.4), *sure) is None


def test_behind_a_burst_much_evidence_is_speech_after_all() -> None:
    begins = [(0.3, -18, 0.4)]
    assert _windows_until(*begins, *[(0.95, -20, 0.95)] * 4) == 4
    # A burst that is softer than what follows is a consonant; one that lies half a second back was another sound.
    assert _windows_until((0.3, -28, 0.4), *[(0.75, -20, 0.95)] * 3) == 3
    assert _windows_until(*begins, *[(0.1, -60, 0.2)] * 15, *[(0.75, -20, 0.95)] * 3) == 18


def test_a_hum_interrupts_behind_its_time_only_and_a_word_as_soon_as_the_mouth_opens() -> None:
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


def test_a_turn_begins_with_what_is_surely_speech_or_goes_on() -> None:
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
