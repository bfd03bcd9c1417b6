"""Turns the latents of a Piper voice into sound: the decoder of VITS (arXiv 2106.06103), a HiFi-GAN generator.

The shape is that of Piper's medium voices: 192 latents in 256 samples, three upsamplings, and for each of them three
residual blocks of two dilated convolutions (HiFi-GAN's V3, arXiv 2010.05646).
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from app.frontend.kame.codec.layout import LATENT

_CHANNELS = (256, 128, 64, 32)
_UPSAMPLING = ((16, 8), (16, 8), (8, 4))  # kernel, stride
_RESIDUAL = ((3, (1, 2)), (5, (2, 6)), (7, (3, 12)))  # kernel, dilations
_SLOPE = 0.1


class ResidualBlock(nn.Module):
    """Two dilated convolutions, each added to its input."""

    def __init__(self, channels: int, kernel: int, dilations: tuple[int, ...]) -> None:
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv1d(channels, channels, kernel, dilation=dilation, padding=dilation * (kernel - 1) // 2)
            for dilation in dilations
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv in self.convs:
            x = x + conv(F.leaky_relu(x, _SLOPE))
        return x


class Vocoder(nn.Module):
    """Latents `[B, 192, T]` to samples `[B, 1, 256 T]`, within -1 to 1. The names of the weights are the voice's."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_pre = nn.Conv1d(LATENT, _CHANNELS[0], 7, padding=3)
        self.ups = nn.ModuleList()
        self.resblocks = nn.ModuleList()
        for level, (kernel, stride) in enumerate(_UPSAMPLING):
            before, after = _CHANNELS[level], _CHANNELS[level + 1]
            self.ups.append(nn.ConvTranspose1d(before, after, kernel, stride, padding=(kernel - stride) // 2))
            self.resblocks.extend(ResidualBlock(after, size, dilations) for size, dilations in _RESIDUAL)
        self.conv_post = nn.Conv1d(_CHANNELS[-1], 1, 7, padding=3, bias=False)

    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        x = self.conv_pre(latents)
        for level, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, _SLOPE))
            blocks = self.resblocks[len(_RESIDUAL) * level : len(_RESIDUAL) * (level + 1)]
            x = torch.stack([block(x) for block in blocks]).mean(0)
        return torch.tanh(self.conv_post(F.leaky_relu(x)))
