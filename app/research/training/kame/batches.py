"""Draws batches of dialogues from a corpus, in an order that only the seed and the number of the step decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from app.research.corpus.shards import Corpus

NONE = -1
"""The token of a place that holds nothing: behind a dialogue that is shorter than the longest of its batch."""


class Batches:
    """The dialogues of corpora, shuffled again in each epoch. `batch`: dialogues a step.

    `rank` of `count` processes: each gets its part of a step's `batch` x `count` dialogues.
    """

    def __init__(self, corpora: Sequence[Corpus], batch: int, seed: int, rank: int = 0, count: int = 1) -> None:
        self._dialogues = [dialogue for corpus in corpora for dialogue in corpus.dialogues()]
        self._batch, self._seed = batch, seed
        self._rank, self._count = rank, count
        self._order: tuple[int, np.ndarray] | None = None

    def __len__(self) -> int:
        """Steps in an epoch; dialogues that fill no batch are left for another order."""
        return max(1, len(self._dialogues) // (self._batch * self._count))

    @property
    def longest(self) -> int:
        """Frames of the longest dialogue."""
        return max((dialogue.shape[1] for dialogue in self._dialogues), default=0)

    def at(self, step: int) -> torch.Tensor:
        """The batch of a step, `[batch, streams, frames]`, int64."""
        epoch, place = divmod(step, len(self))
        if self._order is None or self._order[0] != epoch:
            self._order = epoch, np.random.default_rng((self._seed, epoch)).permutation(len(self._dialogues))
        start = (place * self._count + self._rank) * self._batch
        chosen = self._order[1].take(range(start, start + self._batch), mode="wrap")
        rows = [self._dialogues[number] for number in chosen]
        longest = max(row.shape[1] for row in rows)
        out = np.full((len(rows), rows[0].shape[0], longest), NONE, np.int64)
        for place, row in enumerate(rows):
            out[place, :, : row.shape[1]] = row
        return torch.from_numpy(out)
