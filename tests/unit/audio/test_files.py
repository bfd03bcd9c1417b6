"""Files as source and sink: any format to exact frames, a deterministic WAV, and a sentence for what is no use."""

import errno
import io
import itertools
import os
import re
import shlex
import struct
import sys
import time
import tracemalloc
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from app.audio.io import files
from app.audio.io.base import AudioFileError, AudioSource, EndOfAudio
from app.audio.io.files import FileSink, FileSource
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from tests.support.raising import raising
from tests.support.tables import cases


def tone(rate: int, seconds: float, hertz: float = 440.0, level: float = 0.5) -> np.ndarray:
    return (level * np.sin(np.arange(round(rate * seconds)) * 2 * np.pi * hertz / rate)).astype(np.float32)


def frames(source: AudioSource) -> list[np.ndarray]:
    out = []
    with source:
        while True:
            try:
                frame = source.read_frame(0.0)
            except EndOfAudio:
                return out
            assert frame is not None and frame.shape == (FRAME_SAMPLES,) and frame.dtype == np.float32
            out.append(frame)


def read_all(path: Path, **options) -> np.ndarray:
    return np.concatenate(frames(FileSource(path, **options)))


def save(path: Path, samples: np.ndarray, rate: int, **options) -> Path:
    soundfile.write(path, samples, rate, **options)
    return path


class TestFileSource:
    def test_our_own_format_passes_unchanged(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        samples = rng.integers(-30_000, 30_000, 5_000).astype(np.int16)
        out = read_all(save(tmp_path / "a.wav", samples, SAMPLE_RATE))
        assert out.size == 3 * FRAME_SAMPLES
        assert (out[:5_000] * 32768 == samples).all()
        assert not out[5_000:].any()

    def test_96_khz_stereo_keeps_frequency_and_level(self, tmp_path: Path) -> None:
        left, right = tone(96_000, 1.0, 1_000, 0.6), tone(96_000, 1.0, 1_000, 0.2)
        stereo = np.column_stack([left, right])
        path = save(tmp_path / "a.wav", stereo, 96_000, subtype="FLOAT")
        out = read_all(path)[:SAMPLE_RATE]
        offline = soxr.resample(stereo.mean(axis=1), 96_000, SAMPLE_RATE)
        assert np.abs(out - offline).max() < 1e-3
        middle = out[2_400:-2_400]
        ideal = tone(SAMPLE_RATE, 1.0, 1_000, 0.4)[2_400:-2_400]
        assert np.abs(middle - ideal).max() < 1e-3
        spectrum = np.abs(np.fft.rfft(out * np.hanning(out.size)))
        assert spectrum.argmax() == 1_000

    @pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000])
    @pytest.mark.parametrize("extra", [0, 1, 2, 777])
    def test_length_is_right_to_the_sample(self, tmp_path: Path, rate: int, extra: int) -> None:
        count = rate // 2 + extra
        path = save(tmp_path / "a.wav", np.full(count, 0.5, np.float32), rate, subtype="FLOAT")
        out = read_all(path)
        length = round(count * SAMPLE_RATE / rate + 1e-9)
        assert out.size == -(-length // FRAME_SAMPLES) * FRAME_SAMPLES
        # The level lasts to the last samples, which the silence after them attenuates.
        assert np.abs(out[:length]).min() > 0.1
        assert not out[length:].any()

    @cases(
        "name, subtype, tolerance",
        ("a.wav", "PCM_U8", 1e-2),
        ("a.wav", "PCM_16", 1e-4),
        ("a.wav", "PCM_24", 1e-6),
        ("a.wav", "PCM_32", 1e-6),
        ("a.wav", "FLOAT", 1e-7),
        ("a.wav", "DOUBLE", 1e-7),
        ("a.wav", "ULAW", 2e-2),
        ("a.flac", "PCM_16", 1e-4),
        ("a.aiff", "PCM_16", 1e-4),
        ("a.ogg", "VORBIS", 0.1),
        ("a.mp3", "MPEG_LAYER_III", 0.1),
    )
    def test_formats(self, tmp_path: Path, name: str, subtype: str, tolerance: float) -> None:
        samples = tone(SAMPLE_RATE, 1.0)
        out = read_all(save(tmp_path / name, samples, SAMPLE_RATE, subtype=subtype))
        assert np.abs(out[2_400:21_600] - samples[2_400:21_600]).max() < tolerance

    def test_unicode_file_name(self, tmp_path: Path) -> None:
        path = save(tmp_path / "Grüße, 亀 🐢.wav", tone(SAMPLE_RATE, 0.3), SAMPLE_RATE)
        assert read_all(path).size == 4 * FRAME_SAMPLES

    def test_tail(self, tmp_path: Path) -> None:
        path = save(tmp_path / "a.wav", tone(SAMPLE_RATE, 0.24), SAMPLE_RATE)
        assert len(frames(FileSource(path, tail_seconds=1.0))) == 16  # 1.24 s are 15.5 frames

    def test_end_of_the_file(self, tmp_path: Path) -> None:
        path = save(tmp_path / "a.wav", tone(SAMPLE_RATE, 0.24), SAMPLE_RATE)
        with FileSource(path) as source:
            assert source.name == "a.wav" and source.backlog == 0
            for _ in range(3):
                source.read_frame(0.0)
            assert source.drop_to_newest() == 0
            for _ in range(2):
                with pytest.raises(EndOfAudio):
                    source.read_frame(0.0)
            assert source.backlog == 0 and source.overruns == 0

    @pytest.mark.slow
    def test_ten_minutes_in_bounded_memory(self, tmp_path: Path) -> None:
        path = tmp_path / "long.wav"
        save(path, np.column_stack([tone(96_000, 1.0)] * 2), 96_000)
        seconds = 600
        size = 44 + seconds * 96_000 * 4
        with path.open("r+b") as file:  # the rest is a hole in the file: no disk is used
            file.seek(4)
            file.write(struct.pack("<I", size - 8))
            file.seek(40)
            file.write(struct.pack("<I", size - 44))
            file.truncate(size)
        tracemalloc.start()
        try:
            with FileSource(path) as source:
                count = 0
                peak = 0
                try:
                    for count in itertools.count(1):
                        source.read_frame(0.0)
                        if count == 1_000:
                            tracemalloc.reset_peak()
                        peak = tracemalloc.get_traced_memory()[1]
                except EndOfAudio:
                    pass
        finally:
            tracemalloc.stop()
        assert count - 1 == seconds / FRAME_SECONDS
        assert peak < 4e6


class TestRealTime:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return save(tmp_path / "a.wav", tone(SAMPLE_RATE, 0.4), SAMPLE_RATE)

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        """A clock that moves only in `time.sleep`."""
        now = [100.0]
        monkeypatch.setattr(time, "perf_counter", lambda: now[0])
        monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
        return now

    def test_frames_come_in_real_time(self, path: Path, clock: list[float]) -> None:
        with FileSource(path, realtime=True) as source:
            for index in range(5):
                assert source.read_frame(1.0) is not None
                assert clock[0] == pytest.approx(100 + (index + 1) * FRAME_SECONDS)
            with pytest.raises(EndOfAudio):
                source.read_frame(1.0)

    def test_timeout(self, path: Path, clock: list[float]) -> None:
        with FileSource(path, realtime=True) as source:
            assert source.read_frame(0.05) is None
            assert clock[0] == pytest.approx(100.05)
            assert source.read_frame(0.05) is not None

    def test_backlog_and_dropping(self, path: Path, clock: list[float]) -> None:
        with FileSource(path, realtime=True) as source:
            assert source.backlog == 0
            clock[0] += 0.3
            assert source.backlog == 3
            assert source.drop_to_newest() == 2
            assert source.backlog == 1
            frame = source.read_frame(0.0)
            expected = tone(SAMPLE_RATE, 0.4)[2 * FRAME_SAMPLES : 3 * FRAME_SAMPLES]
            assert np.abs(frame - expected).max() < 1e-4
            clock[0] += 100.0
            assert source.backlog == 2
            assert source.drop_to_newest() == 1
            assert source.read_frame(0.0) is not None
            with pytest.raises(EndOfAudio):
                source.read_frame(0.0)


class FullDisk(io.RawIOBase):
    """A file on a disk that has room for `room` bytes."""

    def __init__(self, room: int) -> None:
        self._data = io.BytesIO()
        self._room = room

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._data.seek(offset, whence)

    def tell(self) -> int:
        return self._data.tell()

    def write(self, data) -> int:
        if self._data.tell() + len(data) > self._room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._data.write(data)


class TestFileSink:
    def test_written_samples_are_read_back(self, tmp_path: Path) -> None:
        samples = np.random.default_rng(3).integers(-32768, 32768, 30_000) / 32768
        path = tmp_path / "out.wav"
        with FileSink(path) as sink:
            for start in range(0, 30_000, 1_234):
                sink.write(samples[start : start + 1_234].astype(np.float32))
            sink.write(np.zeros(0, np.float32))
            assert sink.played == sink.written == 30_000
            assert sink.queued == sink.flush() == sink.flushed == sink.overruns == sink.underruns == 0
        info = soundfile.info(path)
        assert (info.samplerate, info.channels, info.subtype) == (SAMPLE_RATE, 1, "PCM_16")
        assert (soundfile.read(path)[0] == samples).all()

    def test_the_same_samples_give_the_same_bytes(self, tmp_path: Path) -> None:
        samples = tone(SAMPLE_RATE, 2.5)
        for name, step in (("a.wav", 1_920), ("b.wav", 7_777)):
            with FileSink(tmp_path / name) as sink:
                for start in range(0, samples.size, step):
                    sink.write(samples[start : start + step])
        assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()

    def test_too_loud_is_clipped(self, tmp_path: Path) -> None:
        with FileSink(tmp_path / "a.wav") as sink:
            sink.write(np.array([2.0, -2.0, 1.0, -1.0], np.float32))
        assert soundfile.read(tmp_path / "a.wav", dtype="int16")[0].tolist() == [32767, -32768, 32767, -32768]

    def test_a_crash_costs_a_second_at_most(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        with FileSink(path) as sink:
            for index in range(40):  # 3.2 s
                sink.write(np.full(FRAME_SAMPLES, 0.25, np.float32))
                if index == 0:
                    assert soundfile.info(path).frames == FRAME_SAMPLES
            with wave.open(str(path), "rb") as file:  # what a reader finds after a crash
                assert file.getnframes() >= 2.2 * SAMPLE_RATE

    def test_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(AudioFileError, match=r"folder .* doesn't exist\. Make the folder"):
            FileSink(tmp_path / "nowhere" / "a.wav").__enter__()

    def test_path_that_is_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(AudioFileError, match="can't be written"):
            FileSink(tmp_path).__enter__()

    @cases("room, writes, samples, after", (100_000, 100, FRAME_SAMPLES, r"2\.[01]"), (2_000, 2, 900, ""))
    def test_disk_full(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, writes: int, samples: int, after: str
    ) -> None:
        """While it is written, or only as it is closed."""
        raw = FullDisk(room)
        monkeypatch.setattr(files, "private_file", lambda path: io.BufferedWriter(raw))
        complaint = f"No space left on device.*ends after {after}.*Make room"
        with pytest.raises(AudioFileError, match=complaint), FileSink(tmp_path / "a.wav") as sink:
            for _ in range(writes):
                sink.write(np.zeros(samples, np.float32))
        assert raw.closed


RATE = 16_000
TONE = tone(RATE, 1.0, level=1.0)


def refusal(path: Path) -> str:
    with pytest.raises(AudioFileError) as caught, FileSource(path):
        pass
    sentence = str(caught.value)
    assert sentence.endswith(".") and path.name in sentence
    return sentence


@cases(
    "error, words",
    (PermissionError(13, "Permission denied"), "may not be read by you"),
    (OSError(5, "Input/output error"), "Input/output error"),
)
def test_file_that_will_not_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str) -> None:
    path = save(tmp_path / "theirs.wav", TONE, RATE)
    monkeypatch.setattr(os, "open", raising(error))  # file modes don't stop root, and tests may run as root
    assert words in refusal(path)


def test_no_sound_file(tmp_path: Path) -> None:
    assert "doesn't exist" in refusal(tmp_path / "nowhere.wav") and "is a folder" in refusal(tmp_path)
    path = save(tmp_path / "a.wav", TONE, RATE)
    header = path.read_bytes()[:44]
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 2_000_000_000, 0, "NONE", ""))
        file.writeframes(bytes(1_000))
    assert "header is damaged" in refusal(path)
    diary = b"Dear diary, today I recorded nothing.\n" * 50
    contents = {diary: "isn't a sound file", TONE.tobytes(): "isn't a sound file", b"": "0 bytes", header: "no samples"}
    for content, words in contents.items():
        path.write_bytes(content)
        assert words in refusal(path)


@cases(
    "samples, subtype, words",
    (TONE[:0], "PCM_16", "no samples"),
    (TONE[: RATE // 5 - 1], "PCM_16", "too short to hold words"),
    (TONE[: RATE // 5], "PCM_16", ""),
    *[(np.zeros(RATE), subtype, "holds only silence") for subtype in ("PCM_16", "PCM_U8", "FLOAT")],
    (TONE * 10 ** (-61 / 20), "PCM_16", "holds only silence.*-61 dBFS"),
    (TONE * 10 ** (-58 / 20), "PCM_16", ""),
    (np.column_stack([TONE, -TONE]), "PCM_16", ""),
    *[
        (np.append(np.tile(TONE, 10), [value, *TONE[:4]]), subtype, "NaN or infinity")
        for value in (np.nan, np.inf, -np.inf)
        for subtype in ("FLOAT", "DOUBLE")
    ],
    (TONE * 32768, "FLOAT", "louder than full scale"),
)
def test_sounds_without_words_are_refused(tmp_path: Path, samples: np.ndarray, subtype: str, words: str) -> None:
    path = save(tmp_path / "a.wav", samples, RATE, subtype=subtype)
    if words:
        assert re.search(words, refusal(path))
    else:
        with FileSource(path) as source:
            assert source.read_frame(0.0) is not None


def test_damaged_flac(tmp_path: Path) -> None:
    path = tmp_path / "damaged.flac"
    rng = np.random.default_rng(1)
    soundfile.write(path, rng.uniform(-0.5, 0.5, RATE * 4).astype(np.float32), RATE)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(AudioFileError, match="damaged"), FileSource(path) as source:
        while source.read_frame(0.0) is not None:
            pass


LEFT, RIGHT = TONE, tone(RATE, 1.0, hertz=550.0, level=1.0)


@cases(
    "channels, heard",
    ([LEFT, -LEFT], LEFT),
    ([LEFT, -0.97 * LEFT], LEFT),
    ([0.5 * LEFT, -LEFT, np.zeros(RATE)], -LEFT),
    ([LEFT, -LEFT, LEFT, -LEFT], LEFT),
    ([LEFT, LEFT], LEFT),
    ([LEFT, np.zeros(RATE)], LEFT / 2),
    ([LEFT / 2, RIGHT / 2], (LEFT + RIGHT) / 4),
    ([np.zeros(RATE), np.zeros(RATE), LEFT, np.zeros(RATE), np.zeros(RATE), np.zeros(RATE)], LEFT / 6),
)
def test_channels_are_judged_before_they_mix(channels: list[np.ndarray], heard: np.ndarray, tmp_path: Path) -> None:
    path = save(tmp_path / "a.wav", np.column_stack(channels), RATE, subtype="FLOAT")
    samples = read_all(path)[:SAMPLE_RATE]
    wanted = soxr.resample(heard.astype(np.float32), RATE, SAMPLE_RATE)[: len(samples)]
    middle = slice(2_000, -2_000)
    assert np.corrcoef(samples[middle], wanted[middle])[0, 1] > 0.99
    assert 0.4 < np.std(samples[middle]) / np.std(wanted[middle]) < 2.5


CONVERTING = """
import sys, shutil
arguments = sys.argv[1:]
assert arguments[arguments.index("-protocol_whitelist") + 1] == "file" and "-format_whitelist" in arguments
source = arguments[arguments.index("-i") + 1]
assert source.startswith("file:/"), source
if open(source.removeprefix("file:"), "rb").read(4) == b"BAD!":
    sys.exit("Invalid data found")
shutil.copy({sound!r}, arguments[-1])
"""


@pytest.fixture
def converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that takes the arguments of the real one, and refuses what that would."""
    sound = save(tmp_path / "converted.wav", TONE, RATE)
    program = tmp_path / "programs" / files.CONVERTER
    program.parent.mkdir()
    code = CONVERTING.format(sound=str(sound))
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(code)} "$@"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(program.parent))


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a script")
@pytest.mark.parametrize("name", ["voice.m4a", "a memo.webm", "-i.amr", "concat:x.m4a"])
def test_other_formats_are_converted_by_a_program_that_is_installed(
    name: str, converter: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / name).write_bytes(b"\0\0\0\x18ftypM4A " + bytes(300))
    files.check_sound_file(tmp_path / name)
    assert len(read_all(tmp_path / name)) >= SAMPLE_RATE
    assert not list(tmp_path.glob("kame-sound-*")), "nothing is left behind"
    (tmp_path / name).write_bytes(b"BAD!" + bytes(300))
    with pytest.raises(AudioFileError, match="neither this app nor ffmpeg can read it"):
        files.check_sound_file(tmp_path / name)


def test_without_that_program_its_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "voice.m4a").write_bytes(b"\0\0\0\x18ftypM4A " + bytes(300))
    with pytest.raises(AudioFileError, match=r"M4A, WebM or AMR, install ffmpeg"):
        files.check_sound_file(tmp_path / "voice.m4a")
