"""Fits the codec's quantisers: principal components, then k-means for each codebook over what is left."""

from __future__ import annotations

from collections.abc import Callable

import torch

from app.frontend.kame.codec.quantiser import ResidualQuantiser

ROUNDS = 30
"""Rounds of Lloyd's algorithm for each codebook."""
_CHUNK = 16_384


def fit_quantiser(
    quantiser: ResidualQuantiser, vectors: torch.Tensor, report: Callable[[int, float], None] = lambda book, left: None
) -> list[float]:
    """Fits `quantiser` to `vectors`, `[N, size]`; returns the share of variance that is left after each codebook.

    `report` is called with the same after each codebook.
    """
    random = torch.Generator().manual_seed(0)
    components = quantiser.basis.shape[1]
    quantiser.mean.copy_(vectors.mean(0))
    centred = vectors - quantiser.mean
    variance = centred.square().sum(1).mean()
    # eigh gives the largest eigenvalues last.
    basis = torch.linalg.eigh(centred.T @ centred / len(centred)).eigenvectors.flip(1)[:, :components]
    quantiser.basis.copy_(basis)
    rest = centred @ basis
    lost = variance - rest.square().sum(1).mean()
    left = []
    for index, book in enumerate(quantiser.books):
        entries = book[quantiser.reserved :] if index == 0 else book
        entries.copy_(_k_means(rest, len(entries), random))
        rest = rest - entries[_nearest(rest, entries)]
        left.append(float((lost + rest.square().sum(1).mean()) / variance))
        report(index, left[-1])
    return left


def _k_means(points: torch.Tensor, entries: int, random: torch.Generator) -> torch.Tensor:
    """`entries` centres of `points`, by Lloyd's algorithm from random points; empty centres move to far points."""
    centres = points[torch.randperm(len(points), generator=random)[:entries]].clone()
    for _ in range(ROUNDS):
        nearest = _nearest(points, centres)
        counts = torch.bincount(nearest, minlength=entries)
        sums = torch.zeros_like(centres).index_add_(0, nearest, points)
        centres = torch.where(counts[:, None] > 0, sums / counts[:, None].clamp(min=1), centres)
        empty = (counts == 0).nonzero()[:, 0]
        if len(empty):
            far = (points - centres[nearest]).square().sum(1).topk(len(empty)).indices
            centres[empty] = points[far]
    return centres


def _nearest(points: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    squares = centres.square().sum(1)
    return torch.cat([(squares - 2 * chunk @ centres.T).argmin(1) for chunk in points.split(_CHUNK)])
