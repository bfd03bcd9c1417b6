"""What speech recognition takes of a graphics card is known before a front-end on the same card is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.models.fit import judge
from app.stt import card_memory
from app.stt.card_memory import recogniser_card_bytes

MEDIUM_BYTES = 1_530_000_000


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import ctranslate2

    def place(key: str) -> Path:
        folder = tmp_path / key
        folder.mkdir(exist_ok=True)
        with (folder / "model.bin").open("wb") as file:
            file.truncate(MEDIUM_BYTES if key == "whisper-medium" else 75_000_000)
        return folder

    monkeypatch.setattr(card_memory, "model_path", place)
    monkeypatch.setattr("app.stt.selection.is_here", lambda key: True)
    monkeypatch.setattr(card_memory.choose_recogniser, "__kwdefaults__", {"here": lambda key: True, "speeds": {}})
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)


@pytest.mark.usefixtures("cards")
def test_a_large_recogniser_takes_its_weights_and_what_working_takes() -> None:
    assert MEDIUM_BYTES < recogniser_card_bytes("whisper-medium", "en") < MEDIUM_BYTES + 1e9
    assert recogniser_card_bytes("whisper-tiny.en", "en") == 0, "small ones run on the processor"
    assert recogniser_card_bytes("moonshine-tiny.en", "en") == 0
    assert recogniser_card_bytes("no-such", "en") == 0


@pytest.mark.usefixtures("cards")
def test_without_a_card_it_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctranslate2

    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 0)
    assert recogniser_card_bytes("whisper-medium", "en") == 0


def test_a_front_end_gets_what_speech_recognition_leaves_and_says_so() -> None:
    alone = judge(20_000_000_000, "bf16", name="KAME")
    assert alone.plan is not None
    beside = judge(20_000_000_000, "bf16", name="KAME", reserved=2_100_000_000)
    assert beside.plan is None and beside.offers[0].bytes <= 17_900_000_000
    assert "20.0 GB of the card are free, 2.1 GB of them for speech recognition" in beside.sentence
    nothing = judge(7_000_000_000, "int4", name="KAME", reserved=2_100_000_000)
    assert not nothing.offers and "Choose a smaller speech recognition" in nothing.sentence
