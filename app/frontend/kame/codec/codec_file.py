"""Writes a codec to a safetensors file, and reads it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from app.frontend import CODEC_VOICE
from app.frontend.kame.codec.voice_codec import VoiceCodec, VoiceCodecShape
from app.models.errors import ModelError
from app.models.locations import model_path
from app.models.onnx import weights_of

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
