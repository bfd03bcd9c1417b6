"""Multinomial logistic regression over the router's kinds of question."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.routing.classifier import KINDS

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
