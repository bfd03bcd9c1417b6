"""A small model's own codes as sound: the decoder of the packaged Piper voice, run by onnxruntime."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.nano.hearing import Quantiser
from app.frontend.nano.layers import Weights
from app.models.onnx import cut_from, open_onnx
from app.tts.latents_worker import LATENTS as LATENTS_NAME
from app.tts.latents_worker import SIZE

LATENT, HOP = SIZE, 256
"""Numbers in a latent, and the samples that one stands for."""
LATENTS = 7
"""Latents in a frame: 1,792 samples, which are 80 ms when they are read at 22,400 Hz (the voice's rate is 22,050)."""
REACH = 10
"""Latents to either side that change a sample audibly."""
SILENT = 0
"""The entry of the first codebook that stands for silence; no speech is coded with it."""
UP, DOWN, TAPS = 15, 14, 24
"""From 22,400 Hz to 24,000 Hz, by a windowed sinc with 24 taps to either side."""
FADE = 240
"""Samples, 10 ms, in which what was said dies away."""


class CodeVoice:
    """One stream of sound, which comes one frame after its codes. `model`: the voice's file."""

    def __init__(self, weights: Weights, model: Path) -> None:
        self._quantiser = Quantiser(weights, "own.")
        self._decoder = open_onnx(cut_from(model.read_bytes(), LATENTS_NAME), errors_only=True)
        self._resampler = resampler()
        self.silence = (SILENT,) * self._quantiser.count
        self.restart()

    def restart(self) -> None:
        """Starts a fresh stream."""
        self._latents: np.ndarray = np.zeros((LATENT, REACH + 2 * LATENTS), np.float32)
        self._spoke, self._speaks = False, False

    def decode(self, codes: tuple[int, ...]) -> np.ndarray:
        """The sound of the frame before, float32 `[1920]`."""
        spoken = codes[0] != SILENT
        new = np.zeros((LATENT, LATENTS), np.float32)
        if spoken:
            new = self._quantiser.decode(codes).reshape(LATENTS, LATENT).T
        self._latents = np.concatenate([self._latents[:, LATENTS:], new], axis=1)
        before, now = self._spoke, self._speaks
        self._spoke, self._speaks = now, spoken
        if not (before or now):
            return np.zeros(FRAME_SAMPLES, np.float32)
        sound = self._decoder.run(None, {LATENTS_NAME: self._latents[None]})[0].reshape(-1)
        sound = sound[REACH * HOP - TAPS : (REACH + LATENTS) * HOP + TAPS]
        windows = np.lib.stride_tricks.sliding_window_view(sound, DOWN + 2 * TAPS)[::DOWN]
        samples = (windows @ self._resampler.T).reshape(-1)
        if not now:  # what was said dies away
            samples = samples * np.pad(np.linspace(1, 0, FADE, dtype=np.float32), (0, FRAME_SAMPLES - FADE))
        return samples.astype(np.float32)


def resampler() -> np.ndarray:
    """Filters that give 15 samples for every 14, `[15, 14 + 2 taps]`."""
    places = np.arange(DOWN + 2 * TAPS) - TAPS
    distance = places - np.arange(UP)[:, None] * DOWN / UP
    window = np.where(np.abs(distance) < TAPS, np.cos(math.pi * distance / (2 * TAPS)) ** 2, 0.0)
    return (np.sinc(distance) * window).astype(np.float32)
