"""Nano KAME without torch: weights, transformers in numpy, the encoder of the user's audio, and the speech decoder.

A step of the language model is equivalent to one of moshi's `LMGen` for a model without delays. The input is the
previous step's text token and own codes, the user's codes of this frame, and the oracle token; the output is a text
token and then one code per codebook. Layers follow Moshi's, including weight names, and process one token at a time.
Matrices are stored in eight bits, other weights in half precision or float32.

The user's audio becomes causal log-mel features, quantised with residual codebooks into the same codes as the torch
implementation in `voice_codec`, which is used for training. The decoder of the packaged Piper voice, run by
onnxruntime, converts own codes to audio.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.models.catalogue import ModelError
from app.models.layout import SCALE, read_header
from app.models.onnx import cut_from, open_onnx
from app.research.nano.codec_layout import (
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
from app.tts.piper_worker import latents_of

Draw = Callable[[np.ndarray], int]
"""Draws a token from its logits."""

_REQUIRED = {
    "gating": "silu",
    "norm": "rms_norm_f32",
    "positional_embedding": "rope",
    "depformer_pos_emb": "none",
    "depformer_weights_per_step": True,
    "depformer_multi_linear": True,
    "layer_scale": None,
}


class NanoModel:
    """The state of one stream.

    `config`: the arguments of moshi's class, many of which must have fixed values in a small model.
    """

    def __init__(self, weights: Weights, config: Mapping[str, Any]) -> None:
        wrong = [name for name, value in _REQUIRED.items() if config.get(name) != value]
        if wrong or any(config["delays"]):
            raise ModelError(
                f"These weights are no small model's (by {', '.join(wrong) or 'their delays'}): they need a graphics "
                "card."
            )
        self.own_books, self.books = int(config["dep_q"]), int(config["n_q"])
        self.card, self.text_card = int(config["card"]), int(config["text_card"])
        self.padding, self.start = int(config["existing_text_padding_id"]), self.text_card
        self.end_padding = int(config.get("existing_text_end_padding_id", 0))
        self.context = int(config["context"])
        heads = int(config["num_heads"])
        size = int(config["dim"]) // heads
        self._frequencies = np.exp(np.arange(size // 2) * (-np.log(float(config["max_period"])) * 2 / size))
        self._layers = [
            Layer(weights, f"transformer.layers.{number}.", heads, self.context, [""])
            for number in range(int(config["num_layers"]))
        ]
        steps = [f"{book}." for book in range(self.own_books)]
        self._depth = [
            Layer(weights, f"depformer.layers.{number}.", int(config["depformer_num_heads"]), self.own_books, steps)
            for number in range(int(config["depformer_num_layers"]))
        ]
        self._text_emb, self._oracle_emb = weights["text_emb.weight"], weights["oracle_emb.weight"]
        self._emb = [weights[f"emb.{book}.weight"] for book in range(self.books)]
        self._norm, self._text_linear = weights["out_norm.alpha"].reshape(-1), weights["text_linear.weight"]
        self._depth_in = [weights[f"depformer_in.{book}.weight"] for book in range(self.own_books)]
        self._depth_emb = [
            weights["depformer_text_emb.weight"],
            *(weights[f"depformer_emb.{book}.weight"] for book in range(self.own_books - 1)),
        ]
        self._linears = [weights[f"linears.{book}.weight"] for book in range(self.own_books)]
        self.steps = 0
        """Number of steps since the stream began."""
        self._said: list[int] = []
        self.restart()

    def restart(self) -> None:
        """Starts a fresh stream."""
        self.steps = 0
        self._said = [self.start, *[self.card] * self.own_books]

    def step(self, user: Sequence[int], oracle: int) -> tuple[np.ndarray, np.ndarray]:
        """Processes a frame's codes; returns the text logits and the hidden vector to pass to `codes`."""
        heard = user if self.steps else [self.card] * len(user)
        x = self._text_emb[self._said[0]] + self._oracle_emb[oracle]
        for emb, code in zip(self._emb, [*self._said[1:], *heard], strict=True):
            x = x + emb[code]
        # The rotary embedding rotates adjacent pairs of numbers, here as complex factors.
        rotation = np.exp(1j * self.steps * self._frequencies).astype(np.complex64)
        for layer in self._layers:
            x = layer.step(x, self.steps, rotation)
        self.steps += 1
        out = rms_norm(x, self._norm)
        return self._text_linear @ out, out

    def codes(self, text: int, out: np.ndarray, draw: Draw) -> list[int]:
        """Returns the own codes of a step, given the chosen text token."""
        token, codes = text, []
        for book in range(self.own_books):
            x = self._depth_in[book] @ out + self._depth_emb[book][token]
            for layer in self._depth:
                x = layer.step(x, book)
            token = draw(self._linears[book] @ x)
            codes.append(token)
        return codes

    def say(self, text: int, codes: Sequence[int]) -> None:
        """Records the tokens of this step as input to the next one."""
        self._said = [text, *codes]


Weights = Mapping[str, np.ndarray]
_EPSILON = 1e-8  # the value of moshi's norm "rms_norm_f32"


def rms_norm(x: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Normalises `x` to a mean square of 1 and scales it by `alpha`."""
    return x * (alpha / np.sqrt(np.mean(x * x) + _EPSILON))


def rotated(heads: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Applies a rotation to `[heads, size]`."""
    pairs = np.ascontiguousarray(heads).view(np.complex64)
    return (pairs * rotation).view(np.float32)


class Layer:
    """One transformer layer.

    - `prefix`: prefix of the weight names
    - `context`: number of steps that attention covers, including the current one
    - `steps`: with several entries, each step has its own weights, and there are no further steps
    """

    def __init__(self, weights: Weights, prefix: str, heads: int, context: int, steps: Sequence[str]) -> None:
        self._norms = [weights[f"{prefix}norm{number}.alpha"].reshape(-1) for number in (1, 2)]
        self._in = [weights[f"{prefix}self_attn.in_projs.{step}.weight"] for step in range(len(steps))]
        self._out = [weights[f"{prefix}self_attn.out_projs.{step}.weight"] for step in range(len(steps))]
        self._up = [weights[f"{prefix}gating.{step}linear_in.weight"] for step in steps]
        self._down = [weights[f"{prefix}gating.{step}linear_out.weight"] for step in steps]
        size = len(self._norms[0])
        self._heads, self._context = heads, context
        self._keys = np.zeros((heads, context, size // heads), np.float32)
        self._values = np.zeros_like(self._keys)

    def step(self, x: np.ndarray, position: int, rotation: np.ndarray | None = None) -> np.ndarray:
        """Processes the token at `position`, `[size]`. Positions must be passed in order, starting at 0."""
        which = position if len(self._in) > 1 else 0
        query, key, value = (self._in[which] @ rms_norm(x, self._norms[0])).reshape(3, self._heads, -1)
        if rotation is not None:
            query, key = rotated(query, rotation), rotated(key, rotation)
        place = position % self._context
        self._keys[:, place], self._values[:, place] = key, value
        filled = min(position + 1, self._context)
        scores = np.matmul(self._keys[:, :filled], query[:, :, None])[:, :, 0] * query.shape[1] ** -0.5
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
        mixed = np.matmul(scores[:, None], self._values[:, :filled])[:, 0].reshape(-1)
        x = x + self._out[which] @ mixed
        gate, content = (self._up[which] @ rms_norm(x, self._norms[1])).reshape(2, -1)
        return x + self._down[which] @ (gate / (1 + np.exp(-gate)) * content)


_TYPES = {"I8": np.int8, "F16": np.float16, "F32": np.float32}


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Reads the weights of a safetensors file as float32, keyed by name.

    Raises ModelError if the file is damaged or contains weights of an unsupported type.
    """
    read_header(path)  # rejects damaged or truncated files
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        if entry["dtype"] not in _TYPES:
            raise ModelError(
                f"{path.name} has weights of the type {entry['dtype']}. A small model runs on a processor when it was "
                "written with “train merge --compact”."
            )
        begin, end = entry["data_offsets"]
        values = np.frombuffer(raw[8 + length + begin : 8 + length + end], _TYPES[entry["dtype"]])
        found[name] = values.reshape(entry["shape"]).astype(np.float32)
    for name in [name for name in found if name.endswith(SCALE)]:
        found[name.removesuffix(SCALE)] *= found.pop(name)[:, None]
    return found


class Quantiser:
    """Principal components followed by residual codebooks. `prefix`: prefix of the weight names."""

    def __init__(self, weights: Weights, prefix: str) -> None:
        self._mean, self._basis = weights[f"{prefix}mean"], weights[f"{prefix}basis"]
        self._books = weights[f"{prefix}books"]
        self._squares = np.square(self._books).sum(2)

    @property
    def count(self) -> int:
        """The number of codebooks."""
        return len(self._books)

    def encode(self, vector: np.ndarray) -> tuple[int, ...]:
        """Returns the codes of a vector."""
        rest = (vector - self._mean) @ self._basis
        codes = []
        for book, squares in zip(self._books, self._squares, strict=True):
            code = int(np.argmin(squares - 2 * (book @ rest)))
            codes.append(code)
            rest = rest - book[code]
        return tuple(codes)

    def decode(self, codes: tuple[int, ...]) -> np.ndarray:
        """Returns the vector that the codes represent."""
        total = self._books[np.arange(len(codes)), list(codes)].sum(0)
        return self._basis @ total + self._mean


class Hearing:
    """Encodes one stream of the user's audio."""

    def __init__(self, weights: Weights) -> None:
        self._quantiser = Quantiser(weights, "heard.")
        self._window, self._filters = hann_window(), mel_filters()
        self.restart()

    def restart(self) -> None:
        """Starts a fresh stream."""
        self._tail = np.zeros(WINDOW - MEL_HOP, np.float32)
        self._level = START_LEVEL

    def encode(self, samples: np.ndarray) -> tuple[int, ...]:
        """Returns the codes of a frame, float32 `[1920]`."""
        joined = np.concatenate([self._tail, samples])
        self._tail = joined[len(joined) - (WINDOW - MEL_HOP) :]
        frames = np.lib.stride_tricks.sliding_window_view(joined, WINDOW)[::MEL_HOP] * self._window
        power = np.square(np.abs(np.fft.rfft(frames, FFT))) / (WINDOW * WINDOW / 16)
        mel = np.log(np.maximum(power @ self._filters, QUIETEST))
        energy = math.log(float(np.mean(np.square(samples, dtype=np.float64))) + QUIETEST)
        self._level = max(energy, self._level - LEVEL_DECAY, LOWEST_LEVEL)
        return self._quantiser.encode((mel.reshape(-1) - self._level).astype(np.float32))


class CodeVoice:
    """Decodes one stream of speech, delayed by one frame. `model`: the voice's file."""

    def __init__(self, weights: Weights, model: Path) -> None:
        self._quantiser = Quantiser(weights, "own.")
        whole = model.read_bytes()
        self._latents_name = latents_of(whole)
        self._decoder = open_onnx(cut_from(whole, self._latents_name), errors_only=True)
        self._resampler = resampler()
        self.silence = (SILENT,) * self._quantiser.count
        self.restart()

    def restart(self) -> None:
        """Starts a fresh stream."""
        self._latents: np.ndarray = np.zeros((LATENT, REACH + 2 * LATENTS), np.float32)
        self._spoke, self._speaks = False, False

    def decode(self, codes: tuple[int, ...]) -> np.ndarray:
        """Returns the audio of the previous frame, float32 `[1920]`."""
        spoken = codes[0] != SILENT
        new = np.zeros((LATENT, LATENTS), np.float32)
        if spoken:
            new = self._quantiser.decode(codes).reshape(LATENTS, LATENT).T
        self._latents = np.concatenate([self._latents[:, LATENTS:], new], axis=1)
        before, now = self._spoke, self._speaks
        self._spoke, self._speaks = now, spoken
        if not (before or now):
            return np.zeros(FRAME_SAMPLES, np.float32)
        sound = self._decoder.run(None, {self._latents_name: self._latents[None]})[0].reshape(-1)
        sound = sound[REACH * LATENT_HOP - TAPS : (REACH + LATENTS) * LATENT_HOP + TAPS]
        windows = np.lib.stride_tricks.sliding_window_view(sound, DOWN + 2 * TAPS)[::DOWN]
        samples = (windows @ self._resampler.T).reshape(-1)
        if not now:  # fade out the end of the speech
            samples = samples * np.pad(np.linspace(1, 0, FADE, dtype=np.float32), (0, FRAME_SAMPLES - FADE))
        return samples.astype(np.float32)
