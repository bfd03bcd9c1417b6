"""Layers of a transformer that are stepped one token at a time, in numpy: Moshi's, by the names of its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Weights = Mapping[str, np.ndarray]
_EPSILON = 1e-8  # of moshi's norm "rms_norm_f32"


def rms_norm(x: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Scales `x` to a mean square of 1, and by `alpha`."""
    return x * (alpha / np.sqrt(np.mean(x * x) + _EPSILON))


class Rotation:
    """Rotary embedding of pairs of neighbouring numbers, by positions that count from 0."""

    def __init__(self, size: int, period: float) -> None:
        self._frequencies = np.exp(np.arange(size // 2) * (-np.log(period) * 2 / size))

    def at(self, position: int) -> np.ndarray:
        """The rotation of a position, to be multiplied with pairs as complex numbers, `[size / 2]`."""
        return np.exp(1j * position * self._frequencies).astype(np.complex64)


def rotated(heads: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Rotates `[heads, size]`."""
    pairs = np.ascontiguousarray(heads).view(np.complex64)
    return (pairs * rotation).view(np.float32)


class Layer:
    """One layer. With several `steps` each step has weights of its own, and there are no more steps than those.

    `prefix`: of the names. `context`: steps that attention reaches back, this one included.
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
        """Steps along one token, `[size]`. Steps are taken in order, from position 0 on."""
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
