"""Reads the stereo sounds of corpora: the model on the left and the user on the right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.models.errors import ModelError


def read_stereo(path: Path, *, swapped: bool = False) -> np.ndarray:
    """Returns float32 `[n, 2]` at 24 kHz. `swapped`: the file has the user on the left. Raises ModelError."""
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise ModelError(f"The sound {path} can't be read ({error}). Replace it, or remove its dialogue.") from error
    if samples.shape[1] != 2:
        raise ModelError(f"The sound {path} is not stereo: it needs a channel for the model and one for the user.")
    if rate != SAMPLE_RATE:
        samples = np.asarray(soxr.resample(samples, rate, SAMPLE_RATE), np.float32)
    return samples[:, ::-1] if swapped else samples
