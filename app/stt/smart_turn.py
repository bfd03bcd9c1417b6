"""Judges whether a turn sounds finished: Smart Turn v3 (BSD-2-Clause), on the CPU, from the last 8 s of sound.

The model file is read from the wheel that contains it; none of that package's code is run. Input: log-mel spectrogram
as for Whisper, 80 x 800, of sound that is normalised and padded in front, as the model was trained.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.models.onnx import open_onnx
from app.stt.base import RATE
from app.stt.whisper_library import faster_whisper

SECONDS = 8


class SmartTurn:
    """An `EndOfTurn` judge over `model` (an ONNX file). 30 to 60 ms a call on one core."""

    def __init__(self, model: Path) -> None:
        self._model = open_onnx(model)
        self._input = self._model.get_inputs()[0].name
        self._mel = faster_whisper("feature_extractor").FeatureExtractor(feature_size=80, chunk_length=SECONDS)

    def probability(self, samples: np.ndarray) -> float:
        samples = samples[-RATE * SECONDS :].astype(np.float32)
        samples = np.pad(samples, (RATE * SECONDS - len(samples), 0))
        samples = (samples - samples.mean()) / np.sqrt(samples.var() + 1e-7)
        mel = self._mel(samples, padding=0)[:, : SECONDS * 100].astype(np.float32)
        mel = np.pad(mel, ((0, 0), (SECONDS * 100 - mel.shape[1], 0)), mode="edge")
        return float(self._model.run(None, {self._input: mel[None]})[0].reshape(-1)[0])
