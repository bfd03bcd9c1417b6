"""A linear question classifier with word pieces as features.

Each word piece, and each pair of adjacent pieces known from the training data, has one weight per kind of question. The
sum of the weights is divided by the square root of the number of pieces, a bias is added, and a temperature-scaled
softmax is applied. The weights are stored in `resources/routing` and trained by `app.research.training.routing`.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from app.platform.installation import resource

KINDS: tuple[str, ...] = ("everyday", "reasoning", "stem", "humanities", "creative")
TABLE = "table.npz"
TOKENIZER = "tokenizer.json"
LONGEST = 1500
"""Maximum number of characters to classify; the rest of a longer text is ignored, which bounds the run time."""
START = -1
"""Stands for the start of the text as the first element of a pair."""


class KindClassifier:
    """A classifier that uses the weights in `folder` (default: `resources/routing`).

    `made_from`: the digest of the training questions. The constructor raises OSError, ValueError or KeyError if the
    weights are missing or invalid.
    """

    def __init__(self, folder: Path | None = None) -> None:
        folder = resource("routing") if folder is None else folder
        with np.load(folder / TABLE, allow_pickle=False) as table:
            kinds = tuple(str(kind) for kind in table["kinds"])
            if kinds != KINDS:
                raise ValueError(f"the table in {folder} is for other kinds: {', '.join(kinds)}")
            self.made_from = str(table["questions"])
            self._pieces = table["pieces"].astype(np.float32) * table["piece_scale"]
            self._bias = table["bias"].astype(np.float32)
            self._temperature = float(table["temperature"])
            pairs = table["pairs"].astype(np.float32) * table["pair_scale"]
            keys = [tuple(key) for key in table["pair_keys"].tolist()]
        self._pairs = dict(zip(keys, pairs, strict=True))
        self._tokenizer = Tokenizer.from_buffer((folder / TOKENIZER).read_bytes())
        if self._tokenizer.get_vocab_size() != len(self._pieces):
            raise ValueError(f"table and tokenizer in {folder} don't belong together")

    def scores(self, text: str) -> dict[str, float]:
        """Returns the probability of each kind, in the order of KINDS; all are equal if the text contains no words."""
        ids = self._tokenizer.encode(text[:LONGEST], add_special_tokens=False).ids
        if not ids or not any(character.isalnum() for character in text):
            return dict.fromkeys(KINDS, 1 / len(KINDS))
        total = self._pieces[ids].sum(axis=0)
        previous = START
        for piece in ids:
            pair = self._pairs.get((previous, piece))
            if pair is not None:
                total = total + pair
            previous = piece
        logits = (total / math.sqrt(len(ids)) + self._bias) / self._temperature
        logits = np.exp(logits.astype(np.float64) - logits.max())
        return dict(zip(KINDS, (logits / logits.sum()).tolist(), strict=True))
