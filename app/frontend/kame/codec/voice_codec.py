"""The codec of a voice: the user's sound to codes, and the model's codes to the sound of a Piper voice.

It has what the engine uses of Mimi's class: `encode` and `decode` of one or more frames of 80 ms, in streams. The
user's sound becomes causal log-mel features, eight mel frames of 10 ms for each frame. A residual quantiser turns
vectors to codes and back: principal components, then several codebooks, each of which codes what is left. The vocoder
is the decoder of VITS (arXiv 2106.06103), a HiFi-GAN generator in the shape of Piper's medium voices: 192 latents in
256 samples, three upsamplings, and for each of them three residual blocks of two dilated convolutions (HiFi-GAN's V3,
arXiv 2010.05646).
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
from moshi.modules.streaming import State, StreamingModule
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.frontend import CODEC_VOICE
from app.frontend.kame.codec.layout import (
    BANDS,
    DOWN,
    FADE,
    FFT,
    LATENT,
    LATENT_HOP,
    LATENTS,
    LEVEL_DECAY,
    LOWEST_LEVEL,
    MEL_HOP,
    QUIETEST,
    REACH,
    SILENT,
    START_LEVEL,
    TAPS,
    WINDOW,
    hann_window,
    mel_filters,
    resampler,
)
from app.models.catalogue import ModelError
from app.models.locations import model_path
from app.models.onnx import weights_of


class ResidualQuantiser(nn.Module):
    """Codes vectors of `size` numbers over `books` codebooks of `entries` vectors of `components` numbers.

    The weights are loaded, or fitted by `app.research.training.nano.start`. `reserved`: entries at the start of the
    first codebook that stand for no vector, and that `encode` never gives.
    """

    mean: torch.Tensor
    basis: torch.Tensor
    books: torch.Tensor

    def __init__(self, size: int, components: int, books: int, entries: int, reserved: int = 0) -> None:
        super().__init__()
        self.reserved = reserved
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("basis", torch.zeros(size, components))
        self.register_buffer("books", torch.zeros(books, entries, components))

    def encode(self, vectors: torch.Tensor) -> torch.Tensor:
        """`[..., size]` to codes `[..., books]`."""
        rest = (vectors - self.mean) @ self.basis
        codes = []
        for index, book in enumerate(self.books):
            first = self.reserved if index == 0 else 0
            # The nearest entry: |x - b|² without |x|², which is the same for all.
            code = (book[first:].square().sum(1) - 2 * rest @ book[first:].T).argmin(-1) + first
            codes.append(code)
            rest = rest - book[code]
        return torch.stack(codes, dim=-1)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Codes `[..., books]` to the vectors that they stand for, `[..., size]`."""
        total = sum(book[codes[..., index]] for index, book in enumerate(self.books))
        return total @ self.basis.T + self.mean


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


_DECODER = "vocoder."
_SHAPE = "voice_codec"
"""The metadata's key that holds the shape; a file without it holds Mimi."""


def save_codec(codec: VoiceCodec, path: Path, *, decoder: bool = True) -> None:
    """Writes the weights in half precision. `decoder`: with those of the voice, which its own package has, too."""
    weights = {
        name: value.half().contiguous()
        for name, value in codec.state_dict().items()
        if decoder or not name.startswith(_DECODER)
    }
    save_file(weights, path, metadata={_SHAPE: json.dumps(dataclasses.asdict(codec.shape))})


def is_voice_codec(path: Path) -> bool:
    """Whether the file holds a voice's codec."""
    with safe_open(path, framework="pt") as file:
        return _SHAPE in (file.metadata() or {})


def load_codec(path: Path, device: torch.device | str = "cpu") -> VoiceCodec:
    """Reads a codec, in float32; without a decoder in the file, with that of the packaged voice.

    Raises:
        ModelError: the file is damaged or holds no such codec.
    """
    try:
        with safe_open(path, framework="pt") as file:
            shape = VoiceCodecShape(**json.loads((file.metadata() or {})[_SHAPE]))
        codec = VoiceCodec(shape)
        weights = {name: value.float() for name, value in load_file(path).items()}
        if not any(name.startswith(_DECODER) for name in weights):
            weights |= decoder_weights(model_path(CODEC_VOICE))
        codec.load_state_dict(weights)
    except (KeyError, OSError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelError(
            f"{path.name} holds no codec that this app can read ({type(error).__name__}). Get the weights again."
        ) from error
    return codec.requires_grad_(False).to(device).eval()


def decoder_weights(voice: Path) -> dict[str, torch.Tensor]:
    """The weights of the decoder in a Piper voice's file, by their names in a codec."""
    found = weights_of(voice.read_bytes(), "dec.")
    return {f"{_DECODER}{name}": torch.from_numpy(value.copy()) for name, value in found.items()}


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
