"""Words end where their phonemes do; where those are not known, at the pauses that their marks make."""

from __future__ import annotations

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.tts.base import amplified, make_clip
from app.tts.word_times import word_ends

ALONE = {"from": "fɹˈʌm", "the": "ðə", "1984": "nˈaɪntiːn ˈeɪɾi fˈɔːɹ", "town,": "tˈaʊn", "—": ""}


def _ends(words: str, phonemes: str) -> list[int]:
    """The number of the phoneme that each word ends with, counted from one."""
    return word_ends(words.split(), list(phonemes), range(1, len(phonemes) + 1), lambda word: ALONE[word])


def test_words_end_with_their_phonemes_and_not_with_the_pause_behind_them() -> None:
    assert _ends("the town, the town,", "ðə tˈaʊn, ðə tˈaʊn.") == [2, 8, 12, 18]


def test_words_that_are_spoken_as_one_and_numbers_spoken_as_several() -> None:
    assert _ends("from the town,", "fɹʌmðə tˈaʊn,") == [4, 6, 12]
    year = "nˈaɪntiːn ˈeɪɾi fˈɔːɹ"
    assert _ends("the 1984 town,", f"ðə {year} tˈaʊn.") == [2, 3 + len(year), 9 + len(year)]
    assert _ends("the — town,", "ðə, tˈaʊn.") == [2, 2, 9]


def _tone(seconds: float) -> np.ndarray:
    t = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (0.3 * np.cos(2 * np.pi * 220 * t)).astype(np.float32)


def _silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)


def test_known_ends_follow_the_cut_of_the_silence_before() -> None:
    clip = make_clip(np.concatenate([_silence(0.5), _tone(1.0), _silence(0.5)]), "one two", [24_000, 40_000])
    lead = 240
    assert [word.end for word in clip.words] == [24_000 - 12_000 + lead, 24_000 + lead]
    assert [word.start for word in clip.words] == [0, 24_000 - 12_000 + lead]


def test_a_comma_lies_at_the_pause_where_ends_are_not_known() -> None:
    clip = make_clip(np.concatenate([_tone(1.2), _silence(0.3), _tone(0.4)]), "Yes, and then")
    yes, and_, then = clip.words
    assert abs(yes.end - 1.2 * SAMPLE_RATE) < 480
    assert 1.5 * SAMPLE_RATE < and_.end < then.end == round(1.9 * SAMPLE_RATE)


def test_loud_is_limited_and_quiet_is_exact() -> None:
    tone = _tone(0.1)
    assert np.allclose(amplified(tone, -6.0206), tone / 2, atol=1e-6)
    loud = amplified(tone, 20.0, 2.0)
    assert 0.95 < np.abs(loud).max() <= 1.0 and np.array_equal(np.sign(loud), np.sign(tone))
    assert not amplified(tone, 0.0, 0.0).any()
