"""Every bad file is refused with a sentence: what happened, what it means, what to do."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.audio.io.errors import AudioError, AudioFileError
from app.audio.io.files import FileSource

RATE = 16_000
TONE = (0.3 * np.sin(np.arange(RATE) * 2 * np.pi * 440 / RATE)).astype(np.float32)


def refusal(path: Path) -> str:
    with pytest.raises(AudioFileError) as caught, FileSource(path):
        pass
    assert isinstance(caught.value, AudioError)
    sentence = str(caught.value)
    assert sentence.endswith(".") and path.name in sentence
    return sentence


def save(path: Path, samples: np.ndarray, subtype: str = "PCM_16") -> Path:
    soundfile.write(path, samples, RATE, subtype=subtype)
    return path


def test_missing(tmp_path: Path) -> None:
    assert "doesn't exist" in refusal(tmp_path / "nowhere.wav")


def test_folder(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "theirs.wav", TONE)

    def refuse(self: Path, *arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # a test may run as root, whom no file mode stops
    assert "may not be read by you" in refusal(path)


def test_unreadable_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "broken.wav", TONE)

    def fail(self: Path, *arguments: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", fail)
    assert "Input/output error" in refusal(path)


def test_text_named_wav(tmp_path: Path) -> None:
    path = tmp_path / "notes.wav"
    path.write_text("Dear diary, today I recorded nothing.\n" * 50)
    assert "isn't a sound file" in refusal(path)


def test_headerless_samples(tmp_path: Path) -> None:
    path = tmp_path / "samples.raw"
    path.write_bytes(TONE.tobytes())
    assert "isn't a sound file" in refusal(path)


def test_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.wav"
    path.touch()
    assert "0 bytes" in refusal(path)


def test_header_without_samples(tmp_path: Path) -> None:
    assert "no samples" in refusal(save(tmp_path / "header.wav", TONE[:0]))


def test_truncated_to_its_header(tmp_path: Path) -> None:
    path = save(tmp_path / "cut.wav", TONE)
    path.write_bytes(path.read_bytes()[:44])
    assert "no samples" in refusal(path)


def test_too_short(tmp_path: Path) -> None:
    assert "too short to hold words" in refusal(save(tmp_path / "click.wav", TONE[: RATE // 5 - 1]))


def test_just_long_enough(tmp_path: Path) -> None:
    with FileSource(save(tmp_path / "no.wav", TONE[: RATE // 5])) as source:
        assert source.read_frame(0.0) is not None


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_U8", "FLOAT"])
def test_digital_silence(tmp_path: Path, subtype: str) -> None:
    assert "holds only silence" in refusal(save(tmp_path / "mute.wav", np.zeros(RATE), subtype))


def test_a_murmur_below_sixty_decibels(tmp_path: Path) -> None:
    sentence = refusal(save(tmp_path / "hum.wav", TONE / 0.3 * 10 ** (-61 / 20)))
    assert "holds only silence" in sentence and "-61 dBFS" in sentence


def test_quiet_speech_passes(tmp_path: Path) -> None:
    with FileSource(save(tmp_path / "quiet.wav", TONE / 0.3 * 10 ** (-58 / 20))):
        pass


def test_channels_that_cancel(tmp_path: Path) -> None:
    assert "only silence" in refusal(save(tmp_path / "phase.wav", np.column_stack([TONE, -TONE])))


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("subtype", ["FLOAT", "DOUBLE"])
def test_samples_that_are_no_numbers(tmp_path: Path, odd: float, subtype: str) -> None:
    samples = np.tile(TONE, 10)
    samples[-5] = odd
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
