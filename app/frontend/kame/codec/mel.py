"""Causal log-mel features of the user's sound: eight mel frames of 10 ms make one frame of 80 ms."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn

from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

BANDS = 64
HOP = 240
"""Samples between mel frames: 10 ms."""
WINDOW = 480
"""Samples in a mel frame's window, which ends with the frame: it looks 10 ms back and never ahead."""
STACKED = FRAME_SAMPLES // HOP
FEATURES = BANDS * STACKED
_FFT = 512
_LOWEST, _HIGHEST = 60.0, 7600.0
_QUIETEST = 1e-7
"""Power of a band below which nothing is told apart, about -70 dBFS."""
START_LEVEL = math.log(10 ** (-26 / 10))
"""Speech level that a stream starts with: -26 dBFS, as the natural logarithm of the power."""
LOWEST_LEVEL = math.log(10 ** (-45 / 10))
LEVEL_DECAY = 0.005
"""By how much the level falls in a frame: 0.27 dB a second."""


@dataclass(slots=True)
class MelState:
    """What a stream remembers: its last samples `[B, 240]` and its speech level `[B]`."""

    tail: torch.Tensor
    level: torch.Tensor

    @staticmethod
    def initial(batch: int, device: torch.device) -> MelState:
        return MelState(
            torch.zeros(batch, WINDOW - HOP, device=device), torch.full((batch,), START_LEVEL, device=device)
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
        self.register_buffer("window", torch.hann_window(WINDOW), persistent=False)
        self.register_buffer("filters", _mel_filters(), persistent=False)

    def forward(self, samples: torch.Tensor, state: MelState) -> torch.Tensor:
        """Returns the features, and moves `state` on."""
        batch, length = samples.shape
        if length % FRAME_SAMPLES:
            raise ValueError(f"{length} samples are no whole number of frames of {FRAME_SAMPLES}.")
        joined = torch.cat([state.tail, samples], dim=1)
        state.tail = joined[:, -(WINDOW - HOP) :].clone()
        frames = joined.unfold(1, WINDOW, HOP) * self.window
        power = torch.fft.rfft(frames, _FFT).abs().square() / (WINDOW * WINDOW / 16)
        mel = torch.log(torch.clamp(power @ self.filters, min=_QUIETEST))
        energy = torch.log(samples.view(batch, -1, FRAME_SAMPLES).square().mean(2) + _QUIETEST)
        level = _follow(energy, state.level)
        state.level = level[:, -1].clone()
        stacked = mel.view(batch, -1, STACKED * BANDS)
        return stacked - level[..., None]


def _follow(energy: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """The level after each frame, `[B, T]`: the maximum of each energy, less what has decayed since."""
    steps = torch.arange(1, energy.shape[1] + 1, device=energy.device) * LEVEL_DECAY
    peaks = torch.cummax(torch.maximum(energy + steps, before[:, None]), dim=1).values - steps
    return torch.clamp(peaks, min=LOWEST_LEVEL)


def _mel_filters() -> torch.Tensor:
    """Triangles that are evenly spaced in mel (O'Shaughnessy's formula), `[257, 64]`."""

    def mel(hertz: float) -> float:
        return 2595 * math.log10(1 + hertz / 700)

    points = torch.linspace(mel(_LOWEST), mel(_HIGHEST), BANDS + 2, dtype=torch.float64)
    edges = 700 * (10 ** (points / 2595) - 1)
    frequencies = torch.linspace(0, SAMPLE_RATE / 2, _FFT // 2 + 1, dtype=torch.float64)[:, None]
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    triangles = torch.clamp(torch.minimum(rising, falling), min=0)
    return (triangles / triangles.sum(0).clamp(min=1e-9)).float()
