"""Durations of a conversation's recordings, and export of all of them to one stereo WAV file."""

from __future__ import annotations

import struct
import wave
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np
import soundfile

from app.audio.io.base import EndOfAudio
from app.audio.io.files import FileSource
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.session.control import UserError
from app.session.recorder import ASSISTANT_FILE, USER_FILE

MOST_SECONDS = (2**32 - 4096) // (SAMPLE_RATE * 4)
"""The longest recording that fits into a WAV file (4 GB), about twelve hours in stereo."""


def sound_seconds(folder: Path | None) -> float:
    """Returns the duration of the recording in a talk's folder, or 0 if there is no readable recording."""
    return max((_seconds(folder / name) for name in (USER_FILE, ASSISTANT_FILE)), default=0.0) if folder else 0.0


def write_sound(file: BinaryIO, talks: Sequence[tuple[Path | None, float]]) -> None:
    """Writes a stereo WAV file with the user on the left and the assistant on the right.

    `talks`: each talk's recording folder and duration in seconds. Each talk is padded with silence, or cut, to its
    duration. Raises UserError, AudioError and OSError.
    """
    if sum(seconds for _, seconds in talks) > MOST_SECONDS:
        raise UserError(
            "The conversation is longer than the twelve hours that a WAV file can hold. The sound of each talk lies in "
            "the folder of recordings."
        )
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        try:
            for folder, seconds in talks:
                left = round(seconds * SAMPLE_RATE)
                for user, assistant in _frames(folder):
                    if left <= 0:
                        break
                    both = np.stack([user, assistant], axis=1)[:left]
                    out.writeframesraw(_samples(both))
                    left -= len(both)
                while left > 0:
                    count = min(left, SAMPLE_RATE)
                    out.writeframesraw(bytes(4 * count))
                    left -= count
        except (wave.Error, struct.error) as error:
            raise OSError(0, str(error)) from error


def _frames(folder: Path | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if folder is None:
        return
    with ExitStack() as stack:
        sides: list[FileSource | None] = [
            stack.enter_context(FileSource(path)) if _seconds(path := folder / name) else None
            for name in (USER_FILE, ASSISTANT_FILE)
        ]
        while True:
            frames = []
            for place, side in enumerate(sides):
                try:
                    frames.append(None if side is None else side.read_frame(0.0))
                except EndOfAudio:
                    sides[place] = None
                    frames.append(None)
            if all(frame is None for frame in frames):
                return
            user, assistant = (np.zeros(FRAME_SAMPLES, np.float32) if frame is None else frame for frame in frames)
            yield user, assistant


def _seconds(path: Path) -> float:
    try:
        return soundfile.info(str(path)).duration if path.is_file() else 0.0  # opening a named pipe would block
    except (OSError, RuntimeError):  # libsndfile's errors are RuntimeErrors
        return 0.0


def _samples(both: np.ndarray) -> bytes:
    return np.clip(np.rint(both.astype(np.float64) * 32768.0), -32768, 32767).astype("<i2").tobytes()
