"""Moonshine's child process, over a small library in place of Moonshine's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.stt.base import TranscriberError
from app.stt.moonshine import MoonshineDecoder
from app.stt.streaming import RATE

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


def test_words_and_faults_come_from_the_child_and_one_that_died_is_started_again(decoder: MoonshineDecoder) -> None:
    def heard(seconds: int) -> str:
        return decoder.decode(np.zeros(seconds * RATE, np.float32))

    assert heard(3) == "3 seconds" and decoder.child_seconds >= 0
    with pytest.raises(RuntimeError, match="too much"):
        heard(4)
    with pytest.raises(TranscriberError, match="has stopped: its process ended with exit code 3"):
        heard(5)  # it dies of this sound, twice
    assert heard(2) == "2 seconds"


def test_a_library_that_can_not_be_loaded_is_said_in_a_sentence(weights: Path) -> None:
    (weights.parents[1] / "moonshine_api.py").unlink()
    with pytest.raises(TranscriberError, match="models get moonshine"):
        MoonshineDecoder(weights)
