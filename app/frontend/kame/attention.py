"""A key-value cache like the package's that hands out only the places that are filled."""

from __future__ import annotations

import torch
from moshi.modules.transformer import KVCacheResult, RingKVCache


class FilledKVCache(RingKVCache):
    """The package's ring; `slots` places of it are handed out (None: all).

    The ring fills from place 0 on, so that the first `slots` places hold everything as long as at most
    `slots` steps were made. The caller sees to that.
    """

    slots: int | None = None

    @classmethod
    def take_over(cls, ring: RingKVCache) -> FilledKVCache:
        """`ring` as a cache of this kind, with its memory and places unchanged."""
        cache = cls.__new__(cls)
        cache.__dict__.update(ring.__dict__)
        return cache

    def complete(self, k: torch.Tensor, v: torch.Tensor, exec_mask: torch.Tensor) -> KVCacheResult:
        """As in the package, cut to `slots` places."""
        keys, values, positions = super().complete(k, v, exec_mask)
        if self.slots is None:
            return KVCacheResult(keys, values, positions)
        return KVCacheResult(keys[:, :, : self.slots], values[:, :, : self.slots], positions[:, : self.slots])
