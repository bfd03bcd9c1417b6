"""Which recogniser is chosen, what it takes of a graphics card, and the libraries that recognise."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from app.models.fit import judge
from app.models.locations import default_model
from app.models.pool import MODELS
from app.models.selection import Speed
from app.platform import supervision
from app.stt import selection, whisper_decoder
from app.stt.base import TranscriberError
from app.stt.moonshine import MoonshineDecoder
from app.stt.selection import SLOWEST_PASS, choose_recogniser, recogniser_card_bytes
from app.stt.streaming import RATE
from app.stt.whisper_decoder import LanguageDetection, load_whisper
from tests.support.tables import cases

QUICK, SLOW = Speed(SLOWEST_PASS - 0.05, 16.0), Speed(SLOWEST_PASS + 0.05, 12.0)


@cases(
    "language, here, speeds, chosen",
    ("en", {"whisper-tiny.en", "whisper-base"}, {}, "whisper-tiny.en"),
    ("en", {"whisper-tiny.en", "whisper-small.en"}, {"whisper-small.en": QUICK}, "whisper-small.en"),
    ("en", {"whisper-tiny.en", "whisper-small.en"}, {"whisper-small.en": SLOW}, "whisper-tiny.en"),
    ("en", {"whisper-tiny.en", "moonshine-tiny.en"}, {"moonshine-tiny.en": QUICK}, "whisper-tiny.en"),
    ("de", {"whisper-tiny.en", "whisper-base", "whisper-small"}, {}, "whisper-base"),
    ("de", {"whisper-base", "whisper-small"}, {"whisper-base": QUICK, "whisper-small": QUICK}, "whisper-small"),
    ("auto", {"whisper-tiny.en", "distil-large-v3", "whisper-base"}, {"distil-large-v3": QUICK}, "whisper-base"),
)
def test_the_largest_fast_one_is_chosen(language: str, here: set[str], speeds: dict[str, Speed], chosen: str) -> None:
    assert choose_recogniser("", language, here=here.__contains__, speeds=speeds).key == chosen


@cases(
    "key, language, told",
    ("", "de", "models get whisper-base"),
    ("", "auto", "models get whisper-base"),
    ("whisper-small", "en", "models get whisper-small"),
    ("whisper-tiny.en", "es", r"\(es\), but en"),
    ("piper-joe", "en", "doesn't recognise speech"),
    ("nothing", "en", "no model called “nothing”"),
)
def test_what_can_not_be_had_is_said_in_a_sentence(key: str, language: str, told: str) -> None:
    with pytest.raises(TranscriberError, match=told):
        choose_recogniser(key, language, here={"whisper-tiny.en", "piper-joe"}.__contains__, speeds={})


def test_a_language_is_kept_until_another_one_is_clearly_detected() -> None:
    heard = LanguageDetection(frozenset(("en", "de", "es")))
    assert heard.update({"de": 0.6, "en": 0.3}, 0.5) == "de" and heard.known == ""  # too short to be sure
    assert heard.update({"nl": 0.5, "en": 0.4, "de": 0.1}, 2.0) == "en" and heard.known == "en"  # nobody speaks Dutch
    assert heard.update({"de": 0.7, "en": 0.3}, 3.0) == "en"
    assert heard.update({"de": 0.95, "en": 0.05}, 0.5) == "en"
    assert heard.update({"de": 0.95, "en": 0.05}, 3.0) == "de" == heard.known


MEDIUM_BYTES = 1_530_000_000


@cases(
    "cards, key, least",
    (1, "whisper-medium", MEDIUM_BYTES),
    (0, "whisper-medium", 0),
    (1, "whisper-tiny.en", 0),  # small ones run on the processor
    (1, "moonshine-tiny.en", 0),
    (1, "no-such", 0),
)
def test_a_large_recogniser_takes_its_weights_and_working_memory_of_a_card(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cards: int, key: str, least: int
) -> None:
    import ctranslate2

    def place(key: str) -> Path:
        with (tmp_path / "model.bin").open("wb") as file:
            file.truncate(MEDIUM_BYTES if key == "whisper-medium" else 75_000_000)
        return tmp_path

    monkeypatch.setattr(selection, "model_path", place)
    monkeypatch.setattr(choose_recogniser, "__kwdefaults__", {"here": lambda key: True, "speeds": {}})
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: cards)
    assert least <= recogniser_card_bytes(key, "en") <= (least and least + 1_000_000_000)


def test_a_front_end_gets_what_speech_recognition_leaves_and_says_so() -> None:
    alone = judge(20_000_000_000, "bf16", name="KAME")
    assert alone.plan is not None
    beside = judge(20_000_000_000, "bf16", name="KAME", reserved=2_100_000_000)
    assert beside.plan is None and beside.offers[0].bytes <= 17_900_000_000
    assert "20.0 GB of the card are free, 2.1 GB of them for speech recognition" in beside.sentence
    nothing = judge(7_000_000_000, "int4", name="KAME", reserved=2_100_000_000)
    assert not nothing.offers and "Choose a smaller speech recognition" in nothing.sentence


API = """
class ModelArch:
    TINY = 0
"""
TRANSCRIBER = """
import os, types

class Transcriber:
    def __init__(self, path, arch, options):
        assert path.name == "tiny-en" and options["vad_threshold"] == "0"
        print("what a library prints")

    def transcribe_without_streaming(self, samples, rate):
        seconds = len(samples) / rate
        if seconds == 4:
            raise ValueError("too much")
        if seconds == 5:
            os._exit(3)
        return types.SimpleNamespace(lines=[types.SimpleNamespace(text=f" {seconds:.0f} seconds (laughs)")])
"""


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    place = tmp_path / "moonshine_voice" / "assets" / "tiny-en"
    place.mkdir(parents=True)
    (tmp_path / "moonshine_voice" / "__init__.py").write_text("import requests_that_nobody_has")
    (tmp_path / "moonshine_voice" / "moonshine_api.py").write_text(API)
    (tmp_path / "moonshine_voice" / "transcriber.py").write_text(TRANSCRIBER)
    return place


@pytest.fixture
def decoder(weights: Path) -> Iterator[MoonshineDecoder]:
    made = MoonshineDecoder(weights)
    yield made
    made.close()


def test_words_and_faults_come_from_a_child_that_may_die(
    decoder: MoonshineDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "LONGEST_PAUSE", 0.0)

    def heard(seconds: int) -> str:
        return decoder.decode(np.zeros(seconds * RATE, np.float32))

    assert heard(3) == "3 seconds"
    with pytest.raises(RuntimeError, match="too much"):
        heard(4)
    with pytest.raises(TranscriberError, match="has stopped: its process ended with exit code 3"):
        heard(5)  # it dies of this sound, twice
    told: list[str] = []
    decoder.on_notice = told.append
    assert heard(2) == "2 seconds"
    (sentence,) = told
    assert sentence.endswith("had stopped and was started again: its process ended with exit code 3.")


def test_a_library_that_can_not_be_loaded_is_said_in_a_sentence(weights: Path) -> None:
    (weights.parents[1] / "moonshine_api.py").unlink()
    with pytest.raises(TranscriberError, match="models get moonshine"):
        MoonshineDecoder(weights)


ROOT = Path(__file__).resolve().parents[3]
LOADS = """
import importlib.abc, sys

class NoPyAV(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        assert name.partition(".")[0] != "av", "PyAV was imported"

sys.meta_path.insert(0, NoPyAV())
from app.stt.whisper_library import faster_whisper
assert faster_whisper("feature_extractor").FeatureExtractor and faster_whisper().WhisperModel
assert "av" not in sys.modules
try:
    faster_whisper().decode_audio("any.wav")
except AttributeError as error:
    print(error)
"""


def test_faster_whisper_is_imported_without_pyav() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "faster-whisper can't open files (av." in done.stdout


def test_a_model_that_a_card_has_broken_is_not_lent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object, **options: object) -> None:
        raise RuntimeError("CUDA failed with error an illegal memory access was encountered")

    def lent() -> tuple[object, bool]:
        with ExitStack() as stack:
            decoder = whisper_decoder.lend_decoder(stack, default_model("stt"), "en")
            with suppress(RuntimeError):
                decoder.decode(np.zeros(RATE, np.float32))
            return decoder._whisper, decoder.alive()

    with MODELS.keeping():
        first, _ = lent()
        assert lent()[0] is first
        with monkeypatch.context() as broken:
            broken.setattr(whisper_decoder.WhisperDecoder, "_encode", fails)
            assert lent() == (first, False)
        second, works = lent()
        assert second is not first and works


def test_a_recogniser_is_loaded_on_the_card_only_while_nothing_works_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture of the voice engine's frames fails if another thread allocates the card's memory meanwhile."""
    loads: list[tuple[str, bool]] = []

    def load_on(model: Path, device: str, precision: str) -> SimpleNamespace:
        try:
            with card.work("KAME", 0.0):
                loads.append((device, True))
        except supervision.CardBusyError:
            loads.append((device, False))
        return SimpleNamespace(notice="")

    def refuse(label: str, seconds: float = 0.0) -> AbstractContextManager[None]:
        raise supervision.CardBusyError("busy")

    card = supervision.CARD
    monkeypatch.setattr(whisper_decoder, "runs_on_card", lambda _: True)
    monkeypatch.setattr(whisper_decoder, "_load_on", load_on)
    assert not load_whisper(Path("large")).notice and loads == [("cuda", False)]
    loads.clear()
    monkeypatch.setattr(whisper_decoder, "CARD", SimpleNamespace(work=refuse))
    assert "another model is still being loaded there" in load_whisper(Path("large")).notice
    assert loads == [("cpu", True)]
