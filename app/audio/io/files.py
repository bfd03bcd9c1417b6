"""Audio files in place of devices: `FileSource` replaces a microphone, `FileSink` a loudspeaker.

Files in every libsndfile format, at any rate and channel count, are read in blocks, so memory use doesn't depend on the
file's length. Before a session starts, `check_sound_file` checks that a file is readable and contains audible sound,
and otherwise raises an error that explains the problem.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import soundfile
import soxr

from app.audio.io.base import AudioFileError, EndOfAudio
from app.audio.io.resample import FLOOR_DBFS, Resampler, output_length, peak_dbfs, to_mono
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.platform.children import quiet_child
from app.platform.files import private_file
from app.untrusted.files import open_regular
from app.untrusted.limits import Refused

SHORTEST_SECONDS = 0.2
"""Minimum duration, shorter than the shortest word ("no" takes about 0.25 s)."""

SILENCE_DBFS = -60.0
"""Minimum peak of a file that isn't silent. The noise of a quiet room exceeds it, and words peak 30 dB higher."""

LOUDEST_PEAK = 8.0
"""Peak above which a file is rejected: 18 dB above full scale, which only integers stored as floats reach."""

RATES = (1_000, 1_000_000)
"""Plausible rates in Hz. Others indicate a damaged header and would make the resampler allocate too much memory."""

_BLOCK_FRAMES = 65_536
_FLOAT_SUBTYPES = ("FLOAT", "DOUBLE")


class ForwardFile(soundfile.SoundFile):
    """A `soundfile.SoundFile` that never seeks.

    soundfile seeks to its own position after every read. MP3 frames borrow bits from earlier frames, which a decoder
    doesn't have after a seek, so reading in blocks would lose audio after every block.
    """

    def seekable(self) -> bool:
        """Returns False, so that soundfile doesn't seek."""
        return False


def check_sound_file(path: Path) -> None:
    """Raises `AudioFileError` unless `path` is a readable audio file of at least 0.2 s that is not silent."""
    with _sound_file(path) as readable:
        _check(readable, path)


CONVERTER = "ffmpeg"
"""The program that converts what libsndfile doesn't read, such as M4A, WebM and AMR, if it is installed."""
CONVERTED = "mov,matroska,amr,aac,asf,caf,ape,wv,mpc,mpc8,3gp,eac3,ac3,dts"
"""The formats that it may read, by its own names; M4A is in “mov”, and WebM in “matroska”."""
CONVERT_SECONDS = 120.0
LONGEST_CONVERTED_SECONDS = 6 * 3600


@contextlib.contextmanager
def _sound_file(path: Path) -> Iterator[Path]:
    """Yields `path`, or a converted copy of it that is deleted afterwards. Raises AudioFileError."""
    _check_is_file(path)
    try:
        soundfile.info(str(path))
    except (soundfile.LibsndfileError, TypeError, ValueError) as error:  # TypeError: a headerless .raw
        program = shutil.which(CONVERTER)
        if program is None:
            raise AudioFileError(
                f"“{path.name}” isn't a sound file, or of a kind this app doesn't know. It reads WAV, FLAC, OGG, MP3 "
                f"and AIFF. If it is another kind, such as M4A, WebM or AMR, install {CONVERTER}, which converts it, "
                "and open it again."
            ) from error
    else:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="kame-sound-") as folder:
        copy = Path(folder) / "converted.wav"
        _convert(program, path, copy)
        yield copy


def _convert(program: str, path: Path, copy: Path) -> None:
    """Converts the first sound of a file to WAV, with all its channels. Raises AudioFileError."""
    # Only sound in one local file: a playlist could otherwise have the converter fetch something.
    options = ["-nostdin", "-v", "error", "-protocol_whitelist", "file", "-format_whitelist", CONVERTED]
    options += ["-i", f"file:{path.resolve()}"]
    limits = ["-vn", "-sn", "-dn", "-map", "0:a:0", "-t", str(LONGEST_CONVERTED_SECONDS), "-c:a", "pcm_s16le"]
    try:
        done = subprocess.run(
            [program, *options, *limits, str(copy)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CONVERT_SECONDS,
            **quiet_child(),
        )
        failed = done.returncode != 0 or not copy.is_file()
    except (OSError, subprocess.TimeoutExpired):
        failed = True
    if failed:
        raise AudioFileError(
            f"“{path.name}” isn't a sound file: neither this app nor {CONVERTER} can read it. Choose another file."
        )


def _check(path: Path, named: Path) -> int | None:
    """Checks the contents of a sound file that is `named` in messages; returns the channel to read."""
    with ForwardFile(str(path)) as file:
        path = named
        if file.frames <= 0:
            raise AudioFileError(
                f"“{path.name}” has a header and no samples: the recording was stopped before it began. "
                f"Record it again, or choose another file."
            )
        if not RATES[0] <= file.samplerate <= RATES[1]:
            raise AudioFileError(
                f"“{path.name}” says that it has {file.samplerate} samples a second, which no recording has: "
                f"its header is damaged. Save or convert it again, and open the new file."
            )
        seconds = file.frames / file.samplerate
        if seconds < SHORTEST_SECONDS:
            raise AudioFileError(
                f"“{path.name}” lasts {seconds:.2f} s: too short to hold words. Choose a file of at least "
                f"{SHORTEST_SECONDS} s."
            )
        return _check_samples(file, path.name)


def _check_is_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise AudioFileError(f"“{path}” is a folder, not a sound file. Choose a file inside it.")
        with open_regular(path) as file:
            empty = not file.read(1)
    except Refused as error:
        raise AudioFileError(f"“{path}” isn't a sound file: {error}. Choose another file.") from error
    except FileNotFoundError as error:
        raise AudioFileError(
            f"“{path}” doesn't exist, so there is nothing to play. Check the name and the folder."
        ) from error
    except PermissionError as error:
        raise AudioFileError(
            f"“{path}” may not be read by you: the system refuses it. Change the file's permissions, or copy "
            f"it to a folder of yours."
        ) from error
    except OSError as error:
        raise AudioFileError(
            f"“{path}” can't be read ({error.strerror}). Check the disk it lies on, or choose another file."
        ) from error
    if empty:
        raise AudioFileError(
            f"“{path.name}” is empty (0 bytes): it was made and never written. Record or copy it again."
        )


CANCELLED = 0.25
"""Channels cancel each other if their mix has less than this share of the power of channels that are unrelated."""


def _best_channel(block: np.ndarray) -> int | None:
    """Returns the loudest channel of a block (n, channels) if the channels cancel each other, else None: their mix."""
    power = np.square(block, dtype=np.float64).mean(axis=0)
    mixed = float(np.square(to_mono(block), dtype=np.float64).mean())
    cancel = mixed < CANCELLED * float(power.sum()) / block.shape[1] ** 2
    return int(power.argmax()) if cancel else None


def _channel_of(block: np.ndarray, channel: int | None) -> np.ndarray:
    """Returns a block (n, channels) as mono (n,): one channel, or the mix of all if `channel` is None."""
    return to_mono(block) if channel is None else block[:, channel].copy()


def _check_samples(file: soundfile.SoundFile, name: str) -> int | None:
    """Raises `AudioFileError` for silence, and for samples that are NaN, infinite or absurdly large.

    Returns the channel to read, None for the mix of all: a microphone that was wired in opposite phase to another one
    would be silent in it. Only float formats can contain invalid samples. Other files are read only up to the first
    audible block, so that a long recording opens quickly.
    """
    is_float = file.subtype in _FLOAT_SUBTYPES
    block = np.empty((_BLOCK_FRAMES, file.channels), np.float32)
    loudest = FLOOR_DBFS
    channel: int | None = None
    silence = 10.0 ** (SILENCE_DBFS / 20.0)
    try:
        while len(part := file.read(dtype="float32", always_2d=True, out=block)):
            peak = max(float(part.max()), -float(part.min()))
            if not np.isfinite(peak):
                raise AudioFileError(
                    f"“{name}” holds samples that are no numbers (NaN or infinity): the program that wrote "
                    f"it failed. Export it again, best as 16-bit WAV."
                )
            if peak > LOUDEST_PEAK:
                raise AudioFileError(
                    f"“{name}” is {peak_dbfs(part):.0f} dB louder than full scale: integers were probably "
                    f"stored as floating point. Export it again, best as 16-bit WAV."
                )
            if loudest < SILENCE_DBFS:
                channel = _best_channel(part) if peak >= silence else None
                loudest = max(loudest, peak_dbfs(_channel_of(part, channel)))
            if loudest >= SILENCE_DBFS and not is_float:
                return channel
    except soundfile.LibsndfileError as error:
        raise AudioFileError(
            f"“{name}” can't be decoded ({error.error_string}): the file is damaged. Save or convert it "
            f"again, and open the new file."
        ) from error
    if loudest < SILENCE_DBFS:
        raise AudioFileError(
            f"“{name}” holds only silence (its loudest sample is {loudest:.0f} dBFS): there are no words to "
            f"hear. Check that the microphone was on when it was recorded, or choose another file."
        )
    return channel


BLOCK_FRAMES = 16_384
"""Frames per read: enough to keep the Python overhead small, but only about 0.1 s at the highest common rate."""

HEADER_SECONDS = 1.0
"""How often the header of a growing file is updated, which limits how much is lost in a crash."""


class FileSource:
    """An `AudioSource` that reads an audio file as 24 kHz mono frames, the last one padded with zeros.

    With `realtime`, frame n becomes available (n + 1) * 0.08 s after opening, as with a microphone; otherwise
    immediately. The file is followed by `tail_seconds` of silence, to leave time for an answer. Opening raises
    `AudioFileError` if the file can't be read or contains no audible sound.
    """

    def __init__(self, path: str | Path, realtime: bool = False, tail_seconds: float = 0.0) -> None:
        self.path = Path(path)
        self.name = self.path.name
        self.overruns = 0  # a file never overruns
        self._realtime = realtime
        self._tail = round(tail_seconds * SAMPLE_RATE)
        self._file: ForwardFile | None = None

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opened:
            readable = opened.enter_context(_sound_file(self.path))
            self._channel = _check(readable, self.path)
            file = self._file = opened.enter_context(ForwardFile(str(readable)))
            self._opened = opened.pop_all()
        self._rate = file.samplerate
        self._length = output_length(file.frames, self._rate)  # according to the header
        self._block = np.empty((BLOCK_FRAMES, file.channels), np.float32)
        self._resampler = Resampler(self._rate, SAMPLE_RATE)
        self._frames_in = 0
        self._samples_out = 0
        self._ready: np.ndarray = np.zeros(0, np.float32)
        self._complete = False  # the entire rest of the file is in `_ready`
        self._given = 0
        self._opened_at = time.perf_counter()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._file is not None:
            self._file = None
            self._opened.close()

    @property
    def backlog(self) -> int:
        """With `realtime`, the number of frames that are due but unread; otherwise 0."""
        if self._file is None or not self._realtime or (self._complete and not self._ready.size):
            return 0
        due = int((time.perf_counter() - self._opened_at) / FRAME_SECONDS) - self._given
        return max(0, min(due, self._frames_left()))

    def read_frame(self, timeout: float) -> np.ndarray | None:
        self._fill()
        if not self._ready.size:
            raise EndOfAudio(f"{self.name} has been read to its end.")
        if self._realtime and not self._wait_for(self._given, timeout):
            return None
        return self._take()

    def drop_to_newest(self) -> int:
        """With `realtime`, skips all due frames but the newest; otherwise a no-op. Returns the number skipped."""
        if not self._realtime:
            return 0
        dropped = 0
        for _ in range(self.backlog - 1):
            self._fill()
            if self._ready.size <= FRAME_SAMPLES and self._complete:
                break  # the file is shorter than its header says
            self._take()
            dropped += 1
        return dropped

    def _wait_for(self, index: int, timeout: float) -> bool:
        due = self._opened_at + (index + 1) * FRAME_SECONDS
        deadline = time.perf_counter() + timeout
        while (now := time.perf_counter()) < due:
            if now >= deadline:
                return False
            time.sleep(min(due, deadline) - now)
        return True

    def _take(self) -> np.ndarray:
        frame = self._ready[:FRAME_SAMPLES].copy()
        self._ready = self._ready[FRAME_SAMPLES:]
        self._given += 1
        return frame

    def _frames_left(self) -> int:
        if self._complete:
            return self._ready.size // FRAME_SAMPLES
        return -(-(self._length + self._tail) // FRAME_SAMPLES) - self._given

    def _fill(self) -> None:
        """Reads until a frame is ready or the file has ended."""
        while self._ready.size < FRAME_SAMPLES and not self._complete:
            if self._file is None:
                raise ValueError("a FileSource is read inside its `with`")
            try:
                block = self._file.read(dtype="float32", always_2d=True, out=self._block)
            except soundfile.LibsndfileError as error:
                raise AudioFileError(
                    f"“{self.name}” breaks off after {self._frames_in / self._rate:.1f} s: the file is "
                    f"damaged ({error.error_string}). Save or convert it again, and open the new file."
                ) from error
            if len(block):
                self._frames_in += len(block)
                self._append(self._resampler.push(_channel_of(block, self._channel)))
            else:
                self._finish()

    def _finish(self) -> None:
        length = output_length(self._frames_in, self._rate)
        self._append(self._resampler.finish()[: max(0, length - self._samples_out)])
        total = -(-(length + self._tail) // FRAME_SAMPLES) * FRAME_SAMPLES
        self._append(np.zeros(total - self._samples_out, np.float32))
        self._complete = True

    def _append(self, samples: np.ndarray) -> None:
        self._samples_out += samples.size
        # Resampling overshoots at sharp edges, and float files may exceed full scale.
        samples = np.clip(samples, -1.0, 1.0)
        self._ready = np.concatenate([self._ready, samples]) if self._ready.size else samples


class FileSink:
    """An `AudioSink` that writes samples to a 24 kHz mono 16-bit WAV file as they arrive.

    The same samples always produce the same bytes. The header is updated every second, so a crash loses at most the
    last second. Samples count as played once written. Raises `AudioFileError` on opening if the folder is missing or
    not writable, and from `write` if the disk is full.
    """

    keeps_time = True

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.name
        self.written = self.overruns = self.underruns = self.queued = self.flushed = 0
        self._wave: wave.Wave_write | None = None

    @property
    def played(self) -> int:
        return self.written

    def __enter__(self) -> Self:
        if not self.path.parent.is_dir():
            raise AudioFileError(
                f"“{self.path}” can't be written: the folder “{self.path.parent}” doesn't exist. Make the "
                f"folder, or choose another place."
            )
        try:
            self._raw = private_file(self.path)
        except OSError as error:
            raise self._cannot_write(error) from error
        # Unlike libsndfile's writer, the standard library's can update the header while the file grows.
        self._wave = wave.open(self._raw, "wb")
        self._wave.setnchannels(1)
        self._wave.setsampwidth(2)
        self._wave.setframerate(SAMPLE_RATE)
        self._unsaved = SAMPLE_RATE  # so that the file can be opened after the first write
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._wave is None:
            return
        writer, self._wave = self._wave, None
        try:
            writer.close()
            self._raw.close()
        except OSError as full:
            # Keep what is on disk and drop the buffer that doesn't fit, so that the file is closed.
            with contextlib.suppress(OSError):
                self._raw.close()
            if error is None:
                raise self._cannot_write(full) from full

    def write(self, samples: np.ndarray) -> None:
        """Appends float32 samples of shape (n,), clipped to [-1, 1]."""
        if self._wave is None:
            raise ValueError("a FileSink is written inside its `with`")
        # 32768 is libsndfile's scale, so a 16-bit file read by FileSource is reproduced exactly.
        scaled = np.clip(np.rint(samples.astype(np.float64) * 32768.0), -32768, 32767)
        try:
            self._wave.writeframesraw(scaled.astype("<i2").tobytes())
            self._unsaved += samples.size
            if self._unsaved >= HEADER_SECONDS * SAMPLE_RATE:
                self._wave.writeframes(b"")  # updates the header
                self._raw.flush()
                self._unsaved = 0
        except OSError as error:
            raise self._cannot_write(error) from error
        self.written += samples.size

    def flush(self) -> int:
        """Returns 0, since nothing is ever queued."""
        return 0

    def _cannot_write(self, error: OSError) -> AudioFileError:
        return AudioFileError(
            f"“{self.path}” can't be written ({error.strerror or error}): the recording ends after "
            f"{self.written / SAMPLE_RATE:.1f} s. Make room or choose a folder that you may write to, then "
            f"record again."
        )


def read_part(path: Path, begin: float, end: float) -> np.ndarray:
    """Reads part of one of the app's own audio files, from `begin` to `end` (in seconds), as float32 mono 24 kHz.

    Raises `AudioFileError` if the file can't be read or the part is empty.
    """
    try:
        with soundfile.SoundFile(str(path)) as file:
            rate = file.samplerate
            first = min(file.frames, max(0, round(begin * rate)))
            file.seek(first)
            samples = file.read(max(0, round(end * rate) - first), "float32", always_2d=True)
    except (OSError, RuntimeError) as error:  # LibsndfileError is a RuntimeError
        raise AudioFileError(
            f"The sound {path.name} can't be read ({error}), so it can't be heard again. What was said is still in the "
            "conversation."
        ) from None
    if not samples.size:
        raise AudioFileError("Nothing of this was kept, so it can't be heard again.")
    mono = to_mono(samples)
    return mono if rate == SAMPLE_RATE else soxr.resample(mono, rate, SAMPLE_RATE)


def read_frames(file: Path) -> np.ndarray:
    """Reads an audio file as a session does: float32 mono 24 kHz, padded to whole frames. Raises AudioFileError."""
    frames: list[np.ndarray] = []
    with FileSource(file) as source:
        while True:
            try:
                frame = source.read_frame(0.0)
            except EndOfAudio:
                return np.concatenate(frames)
            if frame is not None:
                frames.append(frame)
