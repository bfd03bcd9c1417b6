"""Speech recognition with the real detector and recogniser: a small part of `bench hearing`, and noise."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.models.locations import default_model
from app.research.benches.recognition import Heard, recognise_live
from app.research.benches.recordings import Recording, normalised, word_distance
from app.research.benches.timed_parts import SpeechModels
from app.stt.streaming import WINDOW_SECONDS
from app.stt.whisper_decoder import RATE, WhisperDecoder
from tests.support.noises import noise
from tests.support.read_back import put_together
from tests.support.sounds import question, room

pytestmark = pytest.mark.skipif(
    not (default_model("stt").is_dir() and default_model("endpointing").is_file()),
    reason="the models are not installed",
)


@pytest.fixture(scope="module")
def decoder() -> Iterator[WhisperDecoder]:
    yield WhisperDecoder(default_model("stt"))


def test_a_soft_speaker_is_heard_as_a_loud_one(decoder: WhisperDecoder) -> None:
    sound = soxr.resample(question("103_2"), SAMPLE_RATE, RATE).astype(np.float32)
    loud = fold(decoder.decode(sound))
    assert len(loud) == 9
    assert fold(decoder.decode(sound * (0.01 / np.abs(sound).max()))) == loud


def test_where_nobody_speaks_no_words_are_heard(decoder: WhisperDecoder) -> None:
    rng = np.random.default_rng(5)
    for level in (3e-4, 1e-2):
        assert decoder.decode((level * rng.standard_normal(2 * RATE)).astype(np.float32)) == ""
    for kind in ("keys", "thump", "breath"):
        sound = room(2.0)
        made = noise(kind, 300)
        sound[12_000 : 12_000 + len(made)] += made[: len(sound) - 12_000]
        assert decoder.decode(soxr.resample(sound, SAMPLE_RATE, RATE).astype(np.float32)) == ""


@pytest.mark.slow
def test_the_spoken_language_is_detected(tmp_path: Path) -> None:
    sound = soxr.resample(question("103_2"), SAMPLE_RATE, RATE).astype(np.float32)
    finding = WhisperDecoder(put_together(tmp_path), language="auto")
    assert finding.language == ""
    assert fold(finding.decode(sound)) == fold("Can you explain why the above question is interesting?")
    assert finding.language == "en"


@pytest.mark.slow
def test_a_long_turn_is_heard_as_accurately_live_as_in_one_pass(decoder: WhisperDecoder) -> None:
    class NeverFinished:
        def probability(self, samples: object) -> float:
            return 0.01

    recording = Recording("149_1", "", question("149_1"))
    assert len(recording.samples) > (WINDOW_SECONDS + 1) * SAMPLE_RATE
    models = SpeechModels(decoder, NeverFinished(), None)
    heard = Heard(recording, recognise_live(recording.samples, models), models.transcribe(recording.samples))
    assert word_distance(normalised(heard.one_pass), normalised(heard.live)) <= 2, heard


def test_numbers_are_compared_as_digits() -> None:
    assert normalised("Could you call me at twenty-five past five?") == normalised("Could you call me at 25 past 5?")
