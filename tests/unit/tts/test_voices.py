"""Which voice is chosen, the sentences when there is none, and Piper's real voice at another rate and volume."""

from __future__ import annotations

import numpy as np
import pytest

from app.models.catalogue import catalogue
from app.platform.installation import resource
from app.research.benches.recordings import loudness
from app.tts.base import VoiceError
from app.tts.voices import SAMPLES, all_voices, choose_voice, make_voice, other_voice


def _choose(key: str, language: str, *here: str) -> str:
    return choose_voice(key, language, here.__contains__).key


def test_the_best_voice_of_the_language_that_is_here() -> None:
    assert _choose("", "en", "kokoro", "piper-joe") == "piper-joe"
    assert _choose("", "auto", "kokoro") == "kokoro/af_heart"
    assert _choose("", "de", "piper-joe", "pico") == "pico/de-DE"
    assert _choose("", "de", "pico", "piper-thorsten") == "piper-thorsten"
    assert _choose("kokoro", "es", "kokoro") == "kokoro/ef_dora"
    assert _choose("kokoro/bf_emma", "en", "kokoro") == _choose("kokoro/bf_emma", "auto", "kokoro") == "kokoro/bf_emma"


def test_another_voice_of_the_same_language() -> None:
    joe = choose_voice("piper-joe", "en", ["piper-joe"].__contains__)
    assert other_voice(joe, ["piper-joe"].__contains__) is None
    other = other_voice(joe, ["piper-joe", "kokoro", "piper-thorsten"].__contains__)
    assert other is not None and other.key == "kokoro/af_heart"
    heart = choose_voice("kokoro/af_heart", "en", ["kokoro"].__contains__)
    assert (other_voice(heart, ["kokoro"].__contains__) or heart).key == "kokoro/af_bella"


@pytest.mark.parametrize(
    ("key", "language", "here", "sentence"),
    [
        ("piper-alba", "en", ["piper-joe"], "models get piper-alba. Or choose Joe"),
        ("kokoro/ef_dora", "es", [], "models get kokoro.$"),
        ("", "de", ["piper-joe"], "models get piper-thorsten or models get pico"),
        ("", "ja", ["piper-joe"], "no voice for the language “ja”"),
        ("piper-joe", "de", ["piper-joe"], "doesn't speak the conversation's language .* pico/de-DE"),
        ("kokoro/nobody", "en", ["kokoro"], "no voice called .* kokoro/af_heart"),
    ],
)
def test_no_such_voice_is_a_sentence(key: str, language: str, here: list[str], sentence: str) -> None:
    with pytest.raises(VoiceError, match=sentence):
        choose_voice(key, language, here.__contains__)


def test_every_voice_of_the_table_has_what_it_needs() -> None:
    keys = [voice.key for voice in all_voices()]
    assert len(keys) == len(set(keys)) and {voice.language for voice in all_voices()} <= set(SAMPLES)
    for model in catalogue().values():
        if model.voices:
            assert sorted({voice.language for voice in model.voices}) == sorted(model.languages)
    for voice in catalogue()["kokoro"].voices:
        style = np.fromfile(resource("voices", f"{voice.name}.f16"), "<f2")
        assert style.size == 510 * 256 and np.isfinite(style).all()


def test_rate_and_volume_of_the_real_voice() -> None:
    text = "The boat comes back at noon, and leaves again at four."
    with make_voice() as voice:
        plain = voice.synthesize(text).result(60)
        voice.rate, voice.volume = 1.6, 0.5
        quick = voice.synthesize(text).result(60)
    assert 1.4 < len(plain.samples) / len(quick.samples) < 1.8
    assert abs(loudness(plain.samples, 24_000) - loudness(quick.samples, 24_000) - 6) < 3
    # Each word ends where the sound does: silence follows the comma, and no word is longer than a second.
    for clip in (plain, quick):
        noon = clip.words[5]
        assert noon.text == "noon,"
        behind = clip.samples[noon.end : noon.end + 1200]
        assert np.abs(behind).max() < 0.2 * np.abs(clip.samples).max()
        assert max(word.end - word.start for word in clip.words) < 24_000
