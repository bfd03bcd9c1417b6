"""Every unusable file is refused with a sentence: what happened, what it means, what to do."""

import os
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.audio.io.base import AudioFileError
from app.audio.io.files import FileSource

RATE = 16_000
TONE = (0.3 * np.sin(np.arange(RATE) * 2 * np.pi * 440 / RATE)).astype(np.float32)


def refusal(path: Path) -> str:
    with pytest.raises(AudioFileError) as caught, FileSource(path):
        pass
    sentence = str(caught.value)
    assert sentence.endswith(".") and path.name in sentence
    return sentence


def save(path: Path, samples: np.ndarray, subtype: str = "PCM_16") -> Path:
    soundfile.write(path, samples, RATE, subtype=subtype)
    return path


def test_not_a_file(tmp_path: Path) -> None:
    assert "doesn't exist" in refusal(tmp_path / "nowhere.wav")
    assert "is a folder" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied"), "may not be read by you"),
        (OSError(5, "Input/output error"), "Input/output error"),
    ],
)
def test_file_that_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str
) -> None:
    path = save(tmp_path / "theirs.wav", TONE)

    def refuse(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(os, "open", refuse)  # a test may run as root, whom no file mode stops
    assert words in refusal(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.wav", b"Dear diary, today I recorded nothing.\n" * 50, "isn't a sound file"),
        ("samples.raw", TONE.tobytes(), "isn't a sound file"),
        ("empty.wav", b"", "0 bytes"),
    ],
    ids=["text", "samples without a header", "empty"],  # bytes would be spelled out, too long for Windows
)
def test_no_sound_file(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert words in refusal(path)


def test_header_without_samples(tmp_path: Path) -> None:
    assert "no samples" in refusal(save(tmp_path / "header.wav", TONE[:0]))
    path = save(tmp_path / "cut.wav", TONE)
    path.write_bytes(path.read_bytes()[:44])
    assert "no samples" in refusal(path)


def test_shortest_length(tmp_path: Path) -> None:
    assert "too short to hold words" in refusal(save(tmp_path / "click.wav", TONE[: RATE // 5 - 1]))
    with FileSource(save(tmp_path / "no.wav", TONE[: RATE // 5])) as source:
        assert source.read_frame(0.0) is not None


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_U8", "FLOAT"])
def test_digital_silence(tmp_path: Path, subtype: str) -> None:
    assert "holds only silence" in refusal(save(tmp_path / "mute.wav", np.zeros(RATE), subtype))


def test_quiet_sound(tmp_path: Path) -> None:
    sentence = refusal(save(tmp_path / "hum.wav", TONE / 0.3 * 10 ** (-61 / 20)))
    assert "holds only silence" in sentence and "-61 dBFS" in sentence
    with FileSource(save(tmp_path / "quiet.wav", TONE / 0.3 * 10 ** (-58 / 20))):
        pass


def test_channels_that_cancel_out(tmp_path: Path) -> None:
    assert "only silence" in refusal(save(tmp_path / "phase.wav", np.column_stack([TONE, -TONE])))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("subtype", ["FLOAT", "DOUBLE"])
def test_samples_that_are_no_numbers(tmp_path: Path, value: float, subtype: str) -> None:
    samples = np.tile(TONE, 10)
    samples[-5] = value
    assert "NaN or infinity" in refusal(save(tmp_path / "odd.wav", samples, subtype))


def test_integers_stored_as_floats(tmp_path: Path) -> None:
    assert "louder than full scale" in refusal(save(tmp_path / "scale.wav", TONE * 32768, "FLOAT"))


def test_damaged_rate(tmp_path: Path) -> None:
    path = tmp_path / "rate.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(2_000_000_000)
        file.writeframes(bytes(1_000))
    assert "header is damaged" in refusal(path)


def test_damaged_flac(tmp_path: Path) -> None:
    path = tmp_path / "damaged.flac"
    rng = np.random.default_rng(1)
    soundfile.write(path, rng.uniform(-0.5, 0.5, RATE * 4).astype(np.float32), RATE)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(AudioFileError, match="damaged"), FileSource(path) as source:
        while source.read_frame(0.0) is not None:
            pass
