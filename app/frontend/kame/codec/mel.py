"""Causal log-mel features of the user's sound: eight mel frames of 10 ms make one frame of 80 ms."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.kame.codec.layout import (
    BANDS,
    FFT,
    LEVEL_DECAY,
    LOWEST_LEVEL,
    MEL_HOP,
    QUIETEST,
    START_LEVEL,
    WINDOW,
    hann_window,
    mel_filters,
)

STACKED = FRAME_SAMPLES // MEL_HOP
FEATURES = BANDS * STACKED


@dataclass(slots=True)
class MelState:
    """What a stream remembers: its last samples `[B, 240]` and its speech level `[B]`."""

    tail: torch.Tensor
    level: torch.Tensor

    @staticmethod
    def initial(batch: int, device: torch.device) -> MelState:
        return MelState(
            torch.zeros(batch, WINDOW - MEL_HOP, device=device), torch.full((batch,), START_LEVEL, device=device)
        )


class CausalMel(nn.Module):
    """Samples `[B, 1920 T]` to features `[B, T, 512]`, relative to the loudest speech so far.

    The level rises with a louder frame at once and falls slowly, so that quiet microphones and loud ones give the same
    features a moment after somebody has begun to speak.
    """

    window: torch.Tensor
    filters: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.from_numpy(hann_window()), persistent=False)
        self.register_buffer("filters", torch.from_numpy(mel_filters()), persistent=False)

    def forward(self, samples: torch.Tensor, state: MelState) -> torch.Tensor:
        """Returns the features, and moves `state` on."""
        batch, length = samples.shape
        if length % FRAME_SAMPLES:
            raise ValueError(f"{length} samples are no whole number of frames of {FRAME_SAMPLES}.")
        joined = torch.cat([state.tail, samples], dim=1)
        state.tail = joined[:, -(WINDOW - MEL_HOP) :].clone()
        frames = joined.unfold(1, WINDOW, MEL_HOP) * self.window
        power = torch.fft.rfft(frames, FFT).abs().square() / (WINDOW * WINDOW / 16)
        mel = torch.log(torch.clamp(power @ self.filters, min=QUIETEST))
        energy = torch.log(samples.view(batch, -1, FRAME_SAMPLES).square().mean(2) + QUIETEST)
        level = _follow(energy, state.level)
        state.level = level[:, -1].clone()
        stacked = mel.view(batch, -1, STACKED * BANDS)
        return stacked - level[..., None]


def _follow(energy: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """The level after each frame, `[B, T]`: the maximum of each energy, less what has decayed since."""
    steps = torch.arange(1, energy.shape[1] + 1, device=energy.device) * LEVEL_DECAY
    peaks = torch.cummax(torch.maximum(energy + steps, before[:, None]), dim=1).values - steps
    return torch.clamp(peaks, min=LOWEST_LEVEL)
