"""Writes a codec to a safetensors file, and reads it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from app.frontend.kame.codec.voice_codec import VoiceCodec, VoiceCodecShape
from app.models.errors import ModelError

_SHAPE = "voice_codec"
"""The metadata's key that holds the shape; a file without it holds Mimi."""


def save_codec(codec: VoiceCodec, path: Path) -> None:
    """Writes the weights in half precision."""
    weights = {name: value.half().contiguous() for name, value in codec.state_dict().items()}
    save_file(weights, path, metadata={_SHAPE: json.dumps(dataclasses.asdict(codec.shape))})


def is_voice_codec(path: Path) -> bool:
    """Whether the file holds a voice's codec."""
    with safe_open(path, framework="pt") as file:
        return _SHAPE in (file.metadata() or {})


def load_codec(path: Path, device: torch.device | str = "cpu") -> VoiceCodec:
    """Reads a codec, in float32.

    Raises:
        ModelError: the file is damaged or holds no such codec.
    """
    try:
        with safe_open(path, framework="pt") as file:
            shape = VoiceCodecShape(**json.loads((file.metadata() or {})[_SHAPE]))
        codec = VoiceCodec(shape)
        codec.load_state_dict({name: value.float() for name, value in load_file(path).items()})
    except (KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelError(
            f"{path.name} holds no codec that this app can read ({type(error).__name__}). Get the weights again."
        ) from error
    return codec.requires_grad_(False).to(device).eval()
