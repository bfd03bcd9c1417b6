"""Voices: which is chosen, the sentences when there is none, the times of their words, and numerals."""

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.conversation.frame import SAMPLE_RATE
from app.models.catalogue import catalogue
from app.models.locations import default_model
from app.platform.children import python_module_command, quiet_child
from app.platform.installation import resource
from app.research.benches.recordings import loudness
from app.tts.base import ClipBuilder, VoiceError, amplified, make_clip
from app.tts.kokoro_worker import FRAME, MOST_TOKENS, TOKENS, as_symbols, make_speak, pieces
from app.tts.numerals import respelled
from app.tts.voices import SAMPLES, all_voices, choose_voice, make_voice, other_voice, other_voices
from app.tts.word_times import word_ends
from tests.support.tables import cases


def _choose(key: str, language: str, *here: str) -> str:
    return choose_voice(key, language, here.__contains__).key


def test_the_best_voice_of_the_language_that_is_here_and_another_one() -> None:
    assert _choose("", "en", "kokoro", "piper-joe") == "piper-joe"
    assert _choose("", "auto", "kokoro") == "kokoro/af_heart"
    assert _choose("", "de", "piper-joe", "pico") == "pico/de-DE"
    assert _choose("", "de", "pico", "piper-thorsten") == "piper-thorsten"
    assert _choose("kokoro", "es", "kokoro") == "kokoro/ef_dora"
    assert _choose("kokoro/bf_emma", "en", "kokoro") == _choose("kokoro/bf_emma", "auto", "kokoro") == "kokoro/bf_emma"
    joe = choose_voice("piper-joe", "en", ["piper-joe"].__contains__)
    assert other_voice(joe, ["piper-joe"].__contains__) is None
    other = other_voice(joe, ["piper-joe", "kokoro", "piper-thorsten"].__contains__)
    assert other is not None and other.key == "kokoro/af_heart"
    heart = choose_voice("kokoro/af_heart", "en", ["kokoro"].__contains__)
    assert (other_voice(heart, ["kokoro"].__contains__) or heart).key == "kokoro/af_bella"


def test_a_voice_that_fails_is_replaced_by_one_of_the_same_language_if_possible() -> None:
    def others(key: str, language: str, *installed: str) -> list[str]:
        return [one.key for one in other_voices(choose_voice(key, language, lambda _: True), installed.__contains__)]

    here = ("piper-joe", "kokoro", "piper-thorsten")
    assert others("piper-joe", "en", *here) == ["kokoro/af_heart", "piper-thorsten"]
    assert others("kokoro/af_heart", "en", *here) == ["piper-joe", "kokoro/af_bella", "piper-thorsten"]
    assert others("piper-thorsten", "de", *here) == ["piper-joe", "kokoro/af_heart"]
    assert others("piper-joe", "en", "piper-joe") == []


@cases(
    "key, language, here, sentence",
    ("piper-alba", "en", ["piper-joe"], "models get piper-alba. Or choose Joe"),
    ("kokoro/ef_dora", "es", [], "models get kokoro.$"),
    ("", "de", ["piper-joe"], "models get piper-thorsten or models get pico"),
    ("", "ja", ["piper-joe"], "no voice for the language “ja”"),
    ("piper-joe", "de", ["piper-joe"], "doesn't speak the conversation's language .* pico/de-DE"),
    ("kokoro/nobody", "en", ["kokoro"], "no voice called .* kokoro/af_heart"),
)
def test_no_such_voice_is_a_sentence(key: str, language: str, here: list[str], sentence: str) -> None:
    with pytest.raises(VoiceError, match=sentence):
        choose_voice(key, language, here.__contains__)


def test_voices_of_the_table_are_whole_and_loud_ones_are_limited() -> None:
    keys = [voice.key for voice in all_voices()]
    assert len(keys) == len(set(keys)) and {voice.language for voice in all_voices()} <= set(SAMPLES)
    for model in catalogue().values():
        if model.voices:
            assert sorted({voice.language for voice in model.voices}) == sorted(model.languages)
    for voice in catalogue()["kokoro"].voices:
        style = np.fromfile(resource("voices", f"{voice.name}.f16"), "<f2")
        assert style.size == 510 * 256 and np.isfinite(style).all()
    tone = _tone(0.1)
    assert np.allclose(amplified(tone, -6.0206), tone / 2, atol=1e-6)
    loud = amplified(tone, 20.0, 2.0)
    assert 0.95 < np.abs(loud).max() <= 1.0 and np.array_equal(np.sign(loud), np.sign(tone))
    assert not amplified(tone, 0.0, 0.0).any()


@pytest.mark.slow
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


ALONE = {"from": "fɹˈʌm", "the": "ðə", "1984": "nˈaɪntiːn ˈeɪɾi fˈɔːɹ", "town,": "tˈaʊn", "—": ""}


def _ends(words: str, phonemes: str) -> list[int]:
    return word_ends(words.split(), list(phonemes), range(1, len(phonemes) + 1), lambda word: ALONE[word])


def test_the_ends_of_words_are_those_of_their_phonemes() -> None:
    assert _ends("the town, the town,", "ðə tˈaʊn, ðə tˈaʊn.") == [2, 8, 12, 18]
    assert _ends("from the town,", "fɹʌmðə tˈaʊn,") == [4, 6, 12]
    year = "nˈaɪntiːn ˈeɪɾi fˈɔːɹ"
    assert _ends("the 1984 town,", f"ðə {year} tˈaʊn.") == [2, 3 + len(year), 9 + len(year)]
    assert _ends("the — town,", "ðə, tˈaʊn.") == [2, 2, 9]


def _tone(seconds: float) -> np.ndarray:
    t = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (0.3 * np.cos(2 * np.pi * 220 * t)).astype(np.float32)


def _silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)


def test_known_ends_follow_the_cut_and_unknown_ones_lie_at_pauses() -> None:
    clip = make_clip(np.concatenate([_silence(0.5), _tone(1.0), _silence(0.5)]), "one two", [24_000, 40_000])
    lead = 240
    assert [word.end for word in clip.words] == [24_000 - 12_000 + lead, 24_000 + lead]
    assert [word.start for word in clip.words] == [0, 24_000 - 12_000 + lead]
    clip = make_clip(np.concatenate([_tone(1.2), _silence(0.3), _tone(0.4)]), "Yes, and then")
    yes, and_, then = clip.words
    assert abs(yes.end - 1.2 * SAMPLE_RATE) < 480
    assert 1.5 * SAMPLE_RATE < and_.end < then.end == round(1.9 * SAMPLE_RATE)


class TwoFrames:
    """A session that gives every token two frames of sound."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def run(self, _: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        self.asked.append(inputs)
        count = inputs["tokens"].shape[1]
        return [np.ones(count * 2 * FRAME, np.float32), np.full((1, count), 2)]


STYLE = np.arange(MOST_TOKENS, dtype=np.float32)[:, None].repeat(256, axis=1)


def test_phonemes_become_what_the_model_was_trained_with() -> None:
    assert len(TOKENS) == 114 and (TOKENS[" "], TOKENS["h"], TOKENS["ɹ"], TOKENS["ᵻ"]) == (16, 50, 123, 177)
    assert as_symbols("tʃˈeɪndʒ, ɡˈoʊ̯ 3", "en-us") == "ʧˈAnʤ, ɡˈO "
    assert as_symbols("mˈutʃo rˈei", "es") == "mˈuʧo rˈei"


def test_a_sentence_is_one_run_with_its_style_and_word_times() -> None:
    session = TwoFrames()
    _, head = make_speak(session, STYLE, "en-us", lambda _, text: [text])("ab cde, f.", 1.5)
    inputs = session.asked[0]
    assert inputs["tokens"].tolist() == [[0, 43, 44, 16, 45, 46, 47, 3, 16, 48, 4, 0]]
    assert inputs["tokens"].dtype == np.int64 and inputs["speed"].tolist() == [1.5]
    assert inputs["style"].shape == (1, 256) and inputs["style"][0, 0] == 9  # ten tokens: the tenth row
    assert head["word_ends"] == [end * 2 * FRAME for end in (3, 7, 10)]  # one token before the first


def test_a_long_text_goes_in_pieces_that_the_model_takes() -> None:
    text = " ".join(["abcdefgh,"] * 40 + ["abcdefghi"] * 80)
    session = TwoFrames()
    samples, head = make_speak(session, STYLE, "en-us", lambda _, text: [text])(text, 1.0)
    sizes = [inputs["tokens"].shape[1] for inputs in session.asked]
    assert len(sizes) == 3 and max(sizes) <= MOST_TOKENS + 2
    ends = head["word_ends"]
    assert len(ends) == 120 and np.all(np.diff(ends) > 0) and ends[-1] <= len(samples)
    assert list(pieces("a" * 12, 5)) == ["aaaaa", "aaaaa", "aa"] and list(pieces("ab, cd ef", 6)) == ["ab, ", "cd ef"]
    assert make_speak(session, STYLE, "en-us", lambda *_: [])("…", 1.0)[0].size == 0


def test_a_clip_that_grows_becomes_the_one_that_is_made_of_the_whole_sound() -> None:
    rng = np.random.default_rng(3)
    sound = np.concatenate(
        [np.zeros(900), rng.normal(0, 0.2, 9000), np.zeros(4000), rng.normal(0, 0.3, 8000), np.zeros(5000)]
    )
    sound = sound.astype(np.float32)
    ends = [5000, 12000, 22000]
    whole = make_clip(sound, "It is, Paris.", ends)
    builder = ClipBuilder("It is, Paris.", len(sound), ends, 2.0, 0.9)
    filled, at = [], 0
    for size in (500, 1500, 6000, 12000, 10000):
        builder.add(sound[at : at + size])
        at += size
        filled.append(0 if builder.clip is None else builder.clip.filled)
    clip = builder.clip
    assert clip is not None and filled[0] == 0 and filled == sorted(set(filled)) and not clip.complete
    early, until = clip.samples[: clip.filled].copy(), clip.filled
    assert [word.text for word in clip.words] == ["It", "is,", "Paris."]
    assert builder.finish() is clip and clip.complete
    assert np.array_equal(clip.samples, amplified(whole.samples, 2.0, 0.9)) and clip.words == whole.words
    same = min(until, len(clip.samples))
    assert np.array_equal(clip.samples[:same], early[:same]), "what may have been played doesn't change"


def test_a_clip_whose_voice_fails_ends_where_it_is() -> None:
    builder = ClipBuilder("It is Paris.", 24_000, [4000, 8000, 24_000])
    builder.add(0.3 * np.ones(10_000, np.float32))
    builder.break_off("The voice has stopped.")
    clip = builder.clip
    assert clip is not None and clip.complete and len(clip.samples) == 10_000 and clip.samples[-1] == 0
    assert [word.text for word in clip.words] == ["It", "is"] and clip.problem == "The voice has stopped."


def test_the_parts_of_a_clause_are_the_samples_of_the_whole_and_the_first_one_comes_early() -> None:
    code = """
import sys, numpy as np
from pathlib import Path
from app.tts import piper_worker
piper_worker.NOISE = piper_worker.LENGTH_NOISE = 0.0
speak, in_parts = piper_worker.load(Path(sys.argv[1]))
text = "The capital of Norway is Oslo, and it lies at the end of a long fjord in the south."
whole, head = speak(text, 1.1)
parts = list(in_parts(text, 1.1))
samples = np.concatenate([part for part, _ in parts])
rate, ends = head["sample_rate"], head["word_ends"]
print(np.abs(samples - whole).max() if len(samples) == len(whole) else 9, len(parts), len(parts[0][0]) / rate,
      parts[0][1]["word_ends"] == ends and ends[-1] <= len(whole), np.abs(whole).max(),
      [part[1]["more"] for part in parts] == [True] * (len(parts) - 1) + [False])
print(len(list(in_parts("…", 1.0))), len(next(in_parts("…", 1.0))[0]))
"""
    said = subprocess.run(
        [*python_module_command("app.tts.piper_worker")[:1], "-c", code, str(default_model("tts"))],
        **quiet_child(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert said.returncode == 0, said.stderr
    first, of_nothing = said.stdout.splitlines()
    difference, parts, seconds, aligned, peak, marked = first.split()
    assert float(difference) < 1e-4 and int(parts) >= 4 and 0.3 < float(seconds) < 0.4
    assert aligned == marked == "True" and 0.3 < float(peak) < 1.0 and of_nothing.startswith("1 ")


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("Jörg Müller", marks=pytest.mark.slow), "日本 Łukasz"])
def test_it_speaks_from_a_folder_of_any_name(name: str, tmp_path: Path) -> None:
    found = importlib.util.find_spec("piper")
    assert found is not None and found.submodule_search_locations
    ignored = shutil.ignore_patterns("__pycache__", "train", "img", "hebrew")
    shutil.copytree(found.submodule_search_locations[0], tmp_path / name / "piper", ignore=ignored)
    how = quiet_child()
    how["env"]["PYTHONPATH"] = os.pathsep.join([str(tmp_path / name), how["env"]["PYTHONPATH"]])
    said = subprocess.run(
        python_module_command("app.tts.piper_worker", str(default_model("tts"))),
        **how,
        cwd=tmp_path,
        input=json.dumps({"text": "Good morning."}).encode() + b"\n",
        capture_output=True,
        timeout=120,
    )
    ready, head, samples = said.stdout.split(b"\n", 2)
    assert json.loads(ready) == {"ready": True}
    told = json.loads(head)
    assert len(samples) == told["bytes"]
    assert len(samples) / 4 / told["sample_rate"] > 0.4 and np.abs(np.frombuffer(samples, "<f4")).max() > 0.05


@cases(
    "language, text, said",
    ("en-us", "It was published in 1813.", "It was published in 18 13."),
    ("en-us", "In 1905, 1900 and 1066; from 1969 on.", "In 19 oh 5, 19 hundred and 10 66; from 19 69 on."),
    ("en-us", "In 1969 astronauts landed.", "In 19 69 astronauts landed."),
    ("en-us", "It is 1500 meters, 1,813 dollars and 1813.5.", "It is 1500 meters, 1,813 dollars and 1813.5."),
    ("en-us", "The 1990s, the 80s and the 1800s.", "The 19 nineties, the eighties and the 18 hundreds."),
    ("en-us", "In the 2010s, in her 30s; wait 30s.", "In the 20 tens, in her thirties; wait 30s."),
    ("en-us", "Let's meet at 12:00, 7:00 pm or 9:05.", "Let's meet at 12 o'clock, 7 pm or 9 oh 5."),
    ("en-us", "It took 3:42:10, at 7:30.", "It took 3:42:10, at 7:30."),
    ("en-us", "Ring 020 7946 0958.", "Ring 0 2 0, 7 9 4 6, 0 9 5 8."),
    ("en-us", "Call 555-0123 or (555) 123-4567.", "Call 5 5 5, 0 1 2 3 or 5 5 5, 1 2 3, 4 5 6 7."),
    ("en-us", "It is +44 20 7946 0958.", "It is plus 4 4, 2 0, 7 9 4 6, 0 9 5 8."),
    ("en-us", "Or 1-800-555-0199", "Or 1, 8 0 0, 5 5 5, 0 1 9 9"),
    ("en-us", "Ping 192.168.1.1 first.", "Ping 192 dot 168 dot 1 dot 1 first."),
    ("en-us", "6 4, 7 5; 24 7; 30 to 35; version 5.10.2", "6 4, 7 5; 24 7; 30 to 35; version 5.10.2"),
    ("de", "Im Jahr 1955 und 1800.", "Im Jahr neunzehnhundert 55 und achtzehnhundert."),
    ("de", "Um 12:00 am 9.", "Um 12 Uhr am 9."),
    ("de", "1.813 Meter, 2024, 192.168.0.1", "1.813 Meter, 2024, 192 Punkt 168 Punkt 0 Punkt 1"),
    ("de", "Tel. 030 1234567 oder 089/123456", "Tel. 0 3 0, 1 2 3 4, 5 6 7 oder 0 8 9, 1 2 3 4, 5 6"),
    ("fr-fr", "Appelez le 01 23 45 67 89 en 1813.", "Appelez le 01 23 45 67 89 en 1813."),
    ("es", "A las 9:00 o a las 21:30.", "A las 9 o a las 21:30."),
    ("it", "Alle 9:00, nel 1813.", "Alle 9, nel 1813."),
    ("pl", "W 1813 roku.", "W 1813 roku."),
)
def test_numerals_are_respelled_as_they_are_said(language: str, text: str, said: str) -> None:
    assert respelled(text, language) == said
