"""Checks that a sound file can be read and contains something audible; if not, one sentence says why.

Reads the file in blocks, and only as far as necessary.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from app.audio.io.errors import AudioFileError
from app.audio.io.levels import FLOOR_DBFS, peak_dbfs
from app.audio.io.resample import to_mono
from app.untrusted.files import open_regular
from app.untrusted.refused import Refused

SHORTEST_SECONDS = 0.2
"""Shorter than the shortest word ("no" takes about 0.25 s)."""

SILENCE_DBFS = -60.0
"""A peak below this is a muted microphone: a quiet room's noise peaks higher, and words 30 dB higher."""

LOUDEST_PEAK = 8.0
"""18 dB over full scale. Editors' float files stay far below; integers stored as floats lie far above."""

RATES = (1_000, 1_000_000)
"""Hertz; a header outside is damaged, and would make the resampler ask for absurd memory."""

_BLOCK_FRAMES = 65_536
_FLOAT_SUBTYPES = ("FLOAT", "DOUBLE")


class ForwardFile(soundfile.SoundFile):
    """A `soundfile.SoundFile` that never seeks.

    soundfile seeks to its own position after every read. In an MP3 a frame borrows bits from earlier ones, and a
    decoder that has just seeked lacks them: read in blocks, it drops sound after every block.
    """

    def seekable(self) -> bool:
        """False: soundfile then leaves the position alone."""
        return False


def check_sound_file(path: Path) -> None:
    """Raises `AudioFileError` unless `path` is a readable sound file of 0.2 s or more that isn't silent."""
    _check_is_file(path)
    try:
        file = ForwardFile(str(path))
    except (soundfile.LibsndfileError, TypeError, ValueError) as error:  # TypeError: a headerless .raw
        raise AudioFileError(
            f"“{path.name}” isn't a sound file, or of a kind this app doesn't know. It reads WAV, FLAC, OGG, "
            f"MP3 and AIFF: convert the file to one of these, and open it again."
        ) from error
    with file:
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
        _check_samples(file, path.name)


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


def _check_samples(file: soundfile.SoundFile, name: str) -> None:
    """Raises for silence, and for samples that are no numbers or absurdly large.

    Only float formats can contain the latter: reading any other file stops at the first audible block, so that a long
    recording opens at once.
    """
    is_float = file.subtype in _FLOAT_SUBTYPES
    block = np.empty((_BLOCK_FRAMES, file.channels), np.float32)
    loudest = FLOOR_DBFS
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
            # The mono mix counts: two channels in opposite phase cancel to silence. It is never louder than its loudest
            # channel, so a silent block needs no mixing.
            if loudest < SILENCE_DBFS:
                loudest = max(loudest, peak_dbfs(to_mono(part) if peak >= silence else part))
            if loudest >= SILENCE_DBFS and not is_float:
                return
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
