"""A small model's own codes as sound: the decoder of the packaged Piper voice, run by onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.kame.codec.layout import DOWN, FADE, LATENT, LATENT_HOP, LATENTS, REACH, SILENT, TAPS, resampler
from app.models.onnx import cut_from, open_onnx
from app.research.nano.hearing import Quantiser
from app.research.nano.layers import Weights
from app.tts.latents_worker import LATENTS as LATENTS_NAME


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
        sound = sound[REACH * LATENT_HOP - TAPS : (REACH + LATENTS) * LATENT_HOP + TAPS]
        windows = np.lib.stride_tricks.sliding_window_view(sound, DOWN + 2 * TAPS)[::DOWN]
        samples = (windows @ self._resampler.T).reshape(-1)
        if not now:  # what was said dies away
            samples = samples * np.pad(np.linspace(1, 0, FADE, dtype=np.float32), (0, FRAME_SAMPLES - FADE))
        return samples.astype(np.float32)
