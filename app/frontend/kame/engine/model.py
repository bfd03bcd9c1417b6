"""KAME's language model, which is Moshi's with an additional embedding for the oracle's tokens.

It subclasses the package's model without changing its step: the oracle embedding is added to the output of the text
embedding, as KAME does (arXiv 2510.02327, public code). Its key-value cache is the package's, except that it can return
only the filled positions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from moshi.models.lm import LMModel
from moshi.models.lm_utils import ScaledEmbedding, _init_layer
from moshi.modules.transformer import KVCacheResult, RingKVCache
from torch import nn

from app.frontend.kame.engine.fused import replace_layers


class FilledKVCache(RingKVCache):
    """The package's ring cache, limited to its first `slots` positions (None: all).

    The ring fills from position 0, so the first `slots` positions contain everything as long as at most `slots` steps
    have been made. The caller must ensure that.
    """

    slots: int | None = None

    @classmethod
    def take_over(cls, ring: RingKVCache) -> FilledKVCache:
        """Returns a cache of this type that takes over the memory and state of `ring`."""
        cache = cls.__new__(cls)
        cache.__dict__.update(ring.__dict__)
        return cache

    def complete(self, k: torch.Tensor, v: torch.Tensor, exec_mask: torch.Tensor) -> KVCacheResult:
        """Like the package's method, but returns only `slots` positions."""
        keys, values, positions = super().complete(k, v, exec_mask)
        if self.slots is None:
            return KVCacheResult(keys, values, positions)
        return KVCacheResult(keys[:, :, : self.slots], values[:, :, : self.slots], positions[:, : self.slots])


class KameLM(LMModel):
    """`moshi.models.lm.LMModel` with `oracle_emb`, an embedding like `text_emb`. Takes the same arguments.

    The input of the temporal transformer at each step is the sum of the audio embeddings + (text embedding + oracle
    embedding), then the sum of the conditions. The order of these additions matters in bf16.
    """

    oracle_emb: ScaledEmbedding

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        replace_layers(self)
        self._oracle = _OracleHook(self.oracle_emb)
        self.text_emb.register_forward_hook(self._oracle)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "text_emb" and "oracle_emb" not in self._modules:
            # Created at the same point as in the reference, between the text embedding and the rest, so that the
            # order of parameters and random draws matches and the package casts it with the others.
            super().__setattr__("oracle_emb", _twin(value))

    def _init_weights(self) -> None:
        """Initialises weights as the package does, with the oracle embedding after the text embedding."""
        if self.text_emb.weight.is_meta:
            return  # nothing to fill, and torch would spend seconds on imports
        parts: list[nn.Module | None] = [*self.emb, *(self.depformer_emb or ())]
        parts += [self.text_emb, self.oracle_emb, self.depformer_text_emb, self.text_linear]
        for part in parts:
            if part is not None:
                _init_layer(part)
        for layer in self.transformer.layers:
            layer.apply(_init_layer)
        for linear in self.linears:
            _init_layer(linear)

    def forward_text(
        self,
        sequence: torch.Tensor,
        sum_condition: torch.Tensor | None = None,
        cross_attention_src: torch.Tensor | None = None,
        oracle_tokens: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Runs the temporal transformer, as in the package. `oracle_tokens`: `[B, 1, S]`, aligned with `sequence`."""
        if oracle_tokens is None:
            return super().forward_text(sequence, sum_condition, cross_attention_src)
        with self._with_oracle(oracle_tokens):
            return super().forward_text(sequence, sum_condition, cross_attention_src)

    @contextlib.contextmanager
    def _with_oracle(self, oracle_tokens: torch.Tensor) -> Iterator[None]:
        self._oracle.tokens = oracle_tokens[:, 0]
        try:
            yield
        finally:
            self._oracle.tokens = None


class _OracleHook:
    """A forward hook that adds the oracle embedding to the output of the text embedding while there are tokens.

    It references the embedding instead of the model to avoid a reference cycle. The model's 16 GB must be freed with
    its last reference and can't wait for the garbage collector.
    """

    def __init__(self, embedding: ScaledEmbedding) -> None:
        self.tokens: torch.Tensor | None = None
        self._embedding = embedding

    def __call__(self, _module: nn.Module, _args: Any, text: torch.Tensor) -> torch.Tensor | None:
        return None if self.tokens is None else text + self._embedding(self.tokens)


def _twin(text_emb: ScaledEmbedding) -> ScaledEmbedding:
    """Creates an embedding with the same settings as `text_emb`."""
    return ScaledEmbedding(
        text_emb.num_embeddings,
        text_emb.embedding_dim,
        norm=text_emb.norm is not None,
        zero_idx=text_emb.zero_idx,
        demux_second_stream=text_emb.demux_second_stream,
        device=text_emb.weight.device,
        dtype=text_emb.weight.dtype,
    )


def neutral_oracle(text_emb: torch.Tensor, padding: int) -> torch.Tensor:
    """Returns weights for `oracle_emb` that leave a model trained without an oracle unchanged.

    They are `text_emb - text_emb[padding]`, so that padding, the token of every step without an oracle, adds exactly
    zero. A plain copy of `text_emb` would add the padding vector to every frame.
    """
    return text_emb - text_emb[padding]
