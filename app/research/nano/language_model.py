"""A small KAME's language model, stepped in numpy: temporal transformer, text, and the codes of its own sound.

The step is that of moshi's `LMGen` for a model without delays: the text and the own codes of the step before, the
user's codes of this frame and the oracle's token go in; text is drawn, and then one codebook after another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from app.models.errors import ModelError
from app.research.nano.layers import Layer, Rotation, Weights, rms_norm

Draw = Callable[[np.ndarray], int]
"""Draws a token by its logits."""

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
    """One stream. `config`: the arguments of moshi's class, of which a small model has fixed ones."""

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
        self._rotation = Rotation(int(config["dim"]) // heads, float(config["max_period"]))
        self._layers = [
            Layer(weights, f"transformer.layers.{number}.", heads, self.context, [""])
            for number in range(int(config["num_layers"]))
        ]
        steps = [f"{book}." for book in range(self.own_books)]
        self._depth = [
            Layer(
                weights,
                f"depformer.layers.{number}.",
                int(config["depformer_num_heads"]),
                self.own_books,
                steps,
            )
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
        """Steps since the stream began."""
        self._said: list[int] = []
        self.restart()

    def restart(self) -> None:
        """Starts a fresh stream."""
        self.steps = 0
        self._said = [self.start, *[self.card] * self.own_books]

    def step(self, user: Sequence[int], oracle: int) -> tuple[np.ndarray, np.ndarray]:
        """Hears a frame's codes; returns the logits of the text, and the vector that the own codes follow from."""
        heard = user if self.steps else [self.card] * len(user)
        x = self._text_emb[self._said[0]] + self._oracle_emb[oracle]
        for emb, code in zip(self._emb, [*self._said[1:], *heard], strict=True):
            x = x + emb[code]
        rotation = self._rotation.at(self.steps)
        for layer in self._layers:
            x = layer.step(x, self.steps, rotation)
        self.steps += 1
        out = rms_norm(x, self._norm)
        return self._text_linear @ out, out

    def codes(self, text: int, out: np.ndarray, draw: Draw) -> list[int]:
        """The own codes of a step, for the text that was chosen."""
        token, codes = text, []
        for book in range(self.own_books):
            x = self._depth_in[book] @ out + self._depth_emb[book][token]
            for layer in self._depth:
                x = layer.step(x, book)
            token = draw(self._linears[book] @ x)
            codes.append(token)
        return codes

    def say(self, text: int, codes: Sequence[int]) -> None:
        """Tells the next step what this one has said."""
        self._said = [text, *codes]
