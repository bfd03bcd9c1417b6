"""Vectors to codes and back: principal components, then several codebooks, each of which codes what is left."""

from __future__ import annotations

import torch
from torch import nn


class ResidualQuantiser(nn.Module):
    """Codes vectors of `size` numbers over `books` codebooks of `entries` vectors of `components` numbers.

    The weights are loaded, or fitted by `app.research.training.nano.start`. `reserved`: entries at the start of the
    first codebook that stand for no vector, and that `encode` never gives.
    """

    mean: torch.Tensor
    basis: torch.Tensor
    books: torch.Tensor

    def __init__(self, size: int, components: int, books: int, entries: int, reserved: int = 0) -> None:
        super().__init__()
        self.reserved = reserved
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("basis", torch.zeros(size, components))
        self.register_buffer("books", torch.zeros(books, entries, components))

    def encode(self, vectors: torch.Tensor) -> torch.Tensor:
        """`[..., size]` to codes `[..., books]`."""
        rest = (vectors - self.mean) @ self.basis
        codes = []
        for index, book in enumerate(self.books):
            first = self.reserved if index == 0 else 0
            # The nearest entry: |x - b|² without |x|², which is the same for all.
            code = (book[first:].square().sum(1) - 2 * rest @ book[first:].T).argmin(-1) + first
            codes.append(code)
            rest = rest - book[code]
        return torch.stack(codes, dim=-1)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Codes `[..., books]` to the vectors that they stand for, `[..., size]`."""
        total = sum(book[codes[..., index]] for index, book in enumerate(self.books))
        return total @ self.basis.T + self.mean
