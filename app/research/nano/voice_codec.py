"""The codec of a voice: encodes the user's audio, and decodes the model's codes to the audio of a Piper voice.

It provides the part of Mimi's interface that the engine uses: streaming `encode` and `decode` of one or more 80 ms
frames. The user's audio becomes causal log-mel features, with eight 10 ms mel frames per frame. A residual quantiser
converts between vectors and codes with principal components and several codebooks, each coding the residual of the one
before. The vocoder is the decoder of VITS (arXiv 2106.06103), a HiFi-GAN generator with the dimensions of Piper's
medium voices: latents of 192 values for 256 samples each, three upsampling stages, each with three residual blocks of
two dilated convolutions (V3 of HiFi-GAN, arXiv 2010.05646).
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
from app.models.catalogue import ModelError
from app.models.locations import model_path
from app.models.onnx import weights_of
from app.research.nano.codec_layout import (
    BANDS,
    CODEC_VOICE,
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


class ResidualQuantiser(nn.Module):
    """Quantises vectors with several codebooks.

    - `size`: values per vector.
    - `components`: principal components, which are the values per codebook vector.
    - `books`, `entries`: the number of codebooks, and of entries in each.
    - `reserved`: entries at the start of the first codebook that represent no vector and that `encode` never returns.

    The weights are either loaded or fitted by `app.research.training.nano.start`.
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
        """Encodes vectors `[..., size]` as codes `[..., books]`."""
        rest = (vectors - self.mean) @ self.basis
        codes = []
        for index, book in enumerate(self.books):
            first = self.reserved if index == 0 else 0
            # The nearest entry: |x - b|² without the constant |x|².
            code = (book[first:].square().sum(1) - 2 * rest @ book[first:].T).argmin(-1) + first
            codes.append(code)
            rest = rest - book[code]
        return torch.stack(codes, dim=-1)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Decodes codes `[..., books]` to vectors `[..., size]`."""
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
    """Converts latents `[B, 192, T]` to samples `[B, 1, 256 T]` in [-1, 1]. The weights are named as in the voice."""

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
    """The state of a stream: its last samples `[B, 240]` and its speech level `[B]`."""

    tail: torch.Tensor
    level: torch.Tensor

    @staticmethod
    def initial(batch: int, device: torch.device) -> MelState:
        return MelState(
            torch.zeros(batch, WINDOW - MEL_HOP, device=device), torch.full((batch,), START_LEVEL, device=device)
        )


class CausalMel(nn.Module):
    """Converts samples `[B, 1920 T]` to features `[B, T, 512]`, relative to the speech level.

    The level rises immediately with a louder frame and falls slowly, so that quiet and loud microphones yield the same
    features shortly after the onset of speech.
    """

    window: torch.Tensor
    filters: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.from_numpy(hann_window()), persistent=False)
        self.register_buffer("filters", torch.from_numpy(mel_filters()), persistent=False)

    def forward(self, samples: torch.Tensor, state: MelState) -> torch.Tensor:
        """Returns the features and updates `state`."""
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
    """Returns the level after each frame, `[B, T]`: the maximum of the decayed energies so far."""
    steps = torch.arange(1, energy.shape[1] + 1, device=energy.device) * LEVEL_DECAY
    peaks = torch.cummax(torch.maximum(energy + steps, before[:, None]), dim=1).values - steps
    return torch.clamp(peaks, min=LOWEST_LEVEL)


_DECODER = "vocoder."
_SHAPE = "voice_codec"
"""Metadata key of the codec's shape. A file without it contains Mimi."""


def save_codec(codec: VoiceCodec, path: Path, *, decoder: bool = True) -> None:
    """Writes the weights in half precision. `decoder`: whether to include the decoder, which the voice contains too."""
    weights = {
        name: value.half().contiguous()
        for name, value in codec.state_dict().items()
        if decoder or not name.startswith(_DECODER)
    }
    save_file(weights, path, metadata={_SHAPE: json.dumps(dataclasses.asdict(codec.shape))})


def is_voice_codec(path: Path) -> bool:
    """Returns whether the file contains a voice codec."""
    with safe_open(path, framework="pt") as file:
        return _SHAPE in (file.metadata() or {})


def load_codec(path: Path, device: torch.device | str = "cpu") -> VoiceCodec:
    """Loads a codec in float32. If the file has no decoder, uses that of the packaged voice.

    Raises:
        ModelError: the file is damaged or isn't a voice codec.
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


def load_codec_for(path: Path, device: torch.device, own: int, heard: int) -> VoiceCodec | None:
    """Loads a codec with `own` codebooks for the model's audio and `heard` for the user's; see `OTHER_CODECS`.

    Raises ModelError if it has other numbers of codebooks.
    """
    if not is_voice_codec(path):
        return None
    codec = load_codec(path, device)
    if (codec.shape.own_books, codec.shape.heard_books) != (own, heard):
        raise ModelError(
            f"{path.name} has {codec.shape.own_books} and {codec.shape.heard_books} codebooks, but the model knows "
            f"{own} and {heard}: they don't belong together. Get the weights again."
        )
    return codec


def decoder_weights(voice: Path) -> dict[str, torch.Tensor]:
    """Returns the decoder weights from a Piper voice's file, with their names in the codec."""
    found = weights_of(voice.read_bytes(), "dec.")
    return {f"{_DECODER}{name}": torch.from_numpy(value.copy()) for name, value in found.items()}


@dataclass(frozen=True, slots=True)
class VoiceCodecShape:
    """The sizes of the codebooks for the model's own audio (`own`) and the user's (`heard`).

    - `own_books`, `heard_books`: number of codebooks.
    - `entries`: entries per codebook.
    - `own_components`, `heard_components`: values per entry.
    """

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
    """A codec with 80 ms frames. Decoded audio is one frame late, since a frame depends on the next one."""

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
        """The codes of a silent frame of the model's own audio."""
        return (SILENT,) * self.shape.own_books

    def encode(self, samples: torch.Tensor) -> torch.Tensor:
        """Encodes the user's audio `[B, 1, 1920 T]` as codes `[B, books, T]`; without a stream, from a fresh state."""
        state = self._streaming_state
        heard = state.heard if state is not None else MelState.initial(len(samples), samples.device)
        return self.heard.encode(self.mel(samples[:, 0], heard)).transpose(1, 2)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Decodes the model's own codes `[B, books, T]` to audio `[B, 1, 1920 T]`, one frame late.

        Without a stream, decoding starts from a fresh state, so the first frame is silent.
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
