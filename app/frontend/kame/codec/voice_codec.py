"""The codec of a voice: the user's sound to codes, and the model's codes to the sound of a Piper voice.

It has what the engine uses of Mimi's class: `encode` and `decode` of one or more frames of 80 ms, in streams.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from moshi.modules.streaming import State, StreamingModule
from torch.nn import functional as F

from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.frontend.kame.codec.layout import DOWN, FADE, LATENT, LATENT_HOP, LATENTS, REACH, SILENT, TAPS, resampler
from app.frontend.kame.codec.mel import FEATURES, CausalMel, MelState
from app.frontend.kame.codec.quantiser import ResidualQuantiser
from app.frontend.kame.codec.vocoder import Vocoder


@dataclass(frozen=True, slots=True)
class VoiceCodecShape:
    """Sizes of the codebooks. `own_books`, `heard_books`: how many; `entries`: of each."""

    own_books: int = 8
    heard_books: int = 4
    entries: int = 1024
    own_components: int = 128
    heard_components: int = 64


@dataclass
class _CodecState(State):
    heard: MelState = field(init=False)
    latents: torch.Tensor = field(init=False)
    spoken: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.heard = MelState.initial(self.batch_size, self.device)
        self.latents = torch.zeros(self.batch_size, LATENT, REACH + 2 * LATENTS, device=self.device)
        self.spoken = torch.zeros(self.batch_size, 2, device=self.device)

    def reset(self, reset_mask: torch.Tensor) -> None:
        super().reset(reset_mask)
        fresh = MelState.initial(self.batch_size, self.device)
        self.heard.tail = torch.where(reset_mask[:, None], fresh.tail, self.heard.tail)
        self.heard.level = torch.where(reset_mask, fresh.level, self.heard.level)
        self.latents = torch.where(reset_mask[:, None, None], torch.zeros_like(self.latents), self.latents)
        self.spoken = torch.where(reset_mask[:, None], torch.zeros_like(self.spoken), self.spoken)


class VoiceCodec(StreamingModule[_CodecState]):
    """Codes of 80 ms frames. What is decoded comes one frame late, since a frame needs the one after it."""

    sample_rate = SAMPLE_RATE
    frame_size = FRAME_SAMPLES
    _resampler: torch.Tensor

    def __init__(self, shape: VoiceCodecShape | None = None) -> None:
        super().__init__()
        self.shape = shape or VoiceCodecShape()
        entries = self.shape.entries
        self.mel = CausalMel()
        self.heard = ResidualQuantiser(FEATURES, self.shape.heard_components, self.shape.heard_books, entries)
        self.own = ResidualQuantiser(
            LATENTS * LATENT, self.shape.own_components, self.shape.own_books, entries, reserved=SILENT + 1
        )
        self.vocoder = Vocoder()
        self.register_buffer("_resampler", torch.from_numpy(resampler())[:, None], persistent=False)

    @property
    def cardinality(self) -> int:
        return self.shape.entries

    @property
    def silence(self) -> tuple[int, ...]:
        """The codes of a silent frame of the model's own sound."""
        return (SILENT,) * self.shape.own_books

    def encode(self, samples: torch.Tensor) -> torch.Tensor:
        """The user's sound, `[B, 1, 1920 T]`, to codes `[B, books, T]`; without a stream, from a fresh state."""
        state = self._streaming_state
        heard = state.heard if state is not None else MelState.initial(len(samples), samples.device)
        return self.heard.encode(self.mel(samples[:, 0], heard)).transpose(1, 2)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """The model's own codes, `[B, books, T]`, to sound `[B, 1, 1920 T]`, which is one frame late.

        Without a stream it starts from a fresh state, so that its first frame is silent.
        """
        state = self._streaming_state or _CodecState(len(codes), codes.device)
        return torch.cat([self._decode_frame(codes[:, :, step], state) for step in range(codes.shape[2])], dim=2)

    def _decode_frame(self, codes: torch.Tensor, state: _CodecState) -> torch.Tensor:
        spoken = (codes[:, 0] != SILENT).float()
        vectors = self.own.decode(codes) * spoken[:, None]
        new = vectors.view(-1, LATENTS, LATENT).transpose(1, 2)
        state.latents = torch.cat([state.latents[:, :, LATENTS:], new], dim=2)
        sound = self.vocoder(state.latents)[:, :, REACH * LATENT_HOP - TAPS : (REACH + LATENTS) * LATENT_HOP + TAPS]
        sound = F.conv1d(sound, self._resampler, stride=DOWN).transpose(1, 2).reshape(len(codes), 1, FRAME_SAMPLES)
        before, now = state.spoken[:, :1], state.spoken[:, 1:]
        fade = torch.linspace(1, 0, FADE, device=sound.device)
        gain = now.expand(-1, FRAME_SAMPLES).clone()
        gain[:, :FADE] = torch.maximum(gain[:, :FADE], before * fade)
        state.spoken = torch.cat([now, spoken[:, None]], dim=1)
        return sound * gain[:, None]

    def _init_streaming_state(self, batch_size: int) -> _CodecState:
        return _CodecState(batch_size, self.own.mean.device)
