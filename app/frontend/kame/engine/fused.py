"""The package's layers with fewer launches, for single steps at batch size 1.

`replace_layers` gives a model these classes. They do exactly what the package's do, except within `fused`: there,
positions, rotation and mask are computed once a step and shared by all layers, and the app's own kernels (`kernels.py`)
do in one launch what takes plain torch several, if the card has proven them.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from moshi.models.lm import LMModel
from moshi.modules.gating import ActivationGating
from moshi.modules.transformer import RMSNorm, StreamingMultiheadAttention, StreamingTransformer, _MHAState
from torch import nn

from app.frontend.kame.engine import kernels


def replace_layers(model: nn.Module) -> None:
    """Gives the norms, gates and attentions in `model` the classes of this module."""
    kinds: dict[type[nn.Module], type[nn.Module]] = {
        RMSNorm: FusedNorm,
        ActivationGating: FusedGate,
        StreamingMultiheadAttention: FusedAttention,
    }
    for part in model.modules():
        if (kind := kinds.get(type(part))) is not None:
            part.__class__ = kind


@contextlib.contextmanager
def fused(model: LMModel) -> Iterator[None]:
    """Lets a model that streams at batch size 1, a position a step, use the fused forms until it stops streaming."""
    parts = [part for part in model.modules() if isinstance(part, FusedNorm | FusedGate | FusedAttention)]
    temporal = model.transformer
    assert isinstance(temporal, StreamingTransformer)
    sharing = [part for part in temporal.modules() if isinstance(part, FusedAttention)]
    hooks = []
    if all(part.may_share for part in sharing):
        states = [part._streaming_state for part in sharing if part._streaming_state is not None]
        positions = SharedPositions(states, temporal.rope.max_period if temporal.rope else None)
        hooks.append(temporal.register_forward_pre_hook(lambda *_: positions.begin()))
        hooks.append(temporal.register_forward_hook(lambda *_: positions.end()))
        for attention in sharing:
            attention.positions = positions
    for part in parts:
        part.fused = True
    try:
        yield
    finally:
        for part in parts:
            part.fused = False
        for attention in sharing:
            attention.positions = None
        for hook in hooks:
            hook.remove()


class FusedNorm(RMSNorm):
    """A root mean square norm."""

    fused = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if (
            self.fused
            and self.dtype == torch.float32  # the package's `rms_norm_f32`
            and self.eps == kernels.EPSILON
            and kernels.usable("rms_norm", x, self.alpha)
            and kernels.fits(x, self.alpha)
        ):
            return kernels.rms_norm(x, self.alpha)
        return super().forward(x)


class FusedGate(ActivationGating):
    """A gated feed-forward layer."""

    fused = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.fused:
            return super().forward(x)
        both = self.linear_in(x)
        gate, value = both.chunk(2, dim=-1)
        if self.activation is F.silu and kernels.usable("silu_gate", both) and kernels.fits(gate, value):
            return self.linear_out(kernels.silu_gate(both))
        return self.linear_out(self.activation(gate) * value)


class SharedPositions:
    """What all layers of a stream share at a step, for batch size 1: positions, rotation and mask.

    With one position a step, the ring holds the newest `capacity` positions, and attention reaches all of them. So the
    mask leaves out only the places that hold nothing yet.

    - `states`: the layers' states, whose counts of steps become the same tensor.
    - `period`: the longest period of the rotation (arXiv 2104.09864); None if there is none.
    """

    mask: torch.Tensor
    """`[1, 1, 1, slots]`: 0 for places that are attended to, -inf for the others."""
    slot: torch.Tensor
    """The place of the new position, int64 `[1]`."""
    rotation: torch.Tensor | None = None
    """complex64 `[D / 2]`."""

    def __init__(self, states: Sequence[_MHAState], period: float | None) -> None:
        first = states[0]
        assert first.kv_cache is not None
        for state in states:
            assert state.kv_cache is not None
            state.offset = state.kv_cache.end_offset = first.offset
        ring = first.kv_cache.cache
        *_, self._capacity, size = ring.shape
        self._state = first
        # In rows of a multiple of 8, which torch's memory-efficient attention would otherwise copy the mask to.
        self._places = torch.arange(_padded(self._capacity), device=ring.device)
        self._zero, self._minus_infinity = ring.new_zeros(()), ring.new_full((), -torch.inf)
        self._frequencies: torch.Tensor | None = None
        if period is not None:
            pairs = torch.arange(size // 2, device=ring.device, dtype=torch.float32)
            self._frequencies = torch.exp(pairs * (-math.log(period) * 2 / size))

    def begin(self) -> None:
        """Computes what the layers need. Called before the first of them."""
        state = self._state
        slots = getattr(state.kv_cache, "slots", None) or self._capacity
        self.slot = state.offset % self._capacity
        # As in the package, a step that isn't executed writes its position but doesn't count it.
        held = self._places[: _padded(slots)] < state.offset + state.exec_mask
        self.mask = torch.where(held, self._zero, self._minus_infinity)[None, None, None, :slots]
        if self._frequencies is not None:
            angles = self._frequencies * state.offset.float()
            self.rotation = torch.complex(torch.cos(angles), torch.sin(angles))

    def end(self) -> None:
        """Counts the step. Called after the last layer."""
        self._state.offset.add_(self._state.exec_mask)


class FusedAttention(StreamingMultiheadAttention):
    """Attention to a ring of positions, or, in the depth transformer, to the codebooks of a frame.

    `positions`: what the layers of the temporal transformer share while they stream.
    """

    fused = False
    positions: SharedPositions | None = None

    @property
    def may_share(self) -> bool:
        """Whether the layer is in a form whose positions can be shared."""
        streams = self._streaming_state is not None and self._streaming_state.kv_cache is not None
        return streams and self._is_plain and not self.weights_per_step and (not self.rope or self.rope.interleave)

    @property
    def _is_plain(self) -> bool:
        return self.causal and not self.cross_attention and self.kv_repeat == 1

    @property
    def _by_codebook(self) -> bool:
        return self.fused and self._is_plain and self.weights_per_step > 0 and self.rope is None and not self.context

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        state = self._streaming_state
        if state is None or state.kv_cache is None:
            return super().forward(query, key, value)
        ring = state.kv_cache.cache
        if self.positions is not None:
            out = self._attend(self.in_projs[0](query), ring, self.positions)
            state.offset_cpu += 1
            return self.out_projs[0](out)
        if self._by_codebook:
            at, schedule = state.offset_cpu, self.weights_per_step_schedule
            which = 0 if len(self.in_projs) == 1 else schedule[at] if schedule else at
            out = self._attend_to_codebooks(self.in_projs[which](query), ring, at)
            state.offset_cpu += 1
            return self.out_projs[which](out)
        return super().forward(query, key, value)

    def _attend(self, projected: torch.Tensor, ring: torch.Tensor, positions: SharedPositions) -> torch.Tensor:
        """Writes a position to the ring and returns what it attends to, `[1, 1, C]`."""
        rotation = positions.rotation
        if rotation is not None and _suits_kernel(projected, ring):
            query = kernels.rope_write(projected, rotation, positions.slot, ring)
        else:
            parts = projected.view(3, 1, self.num_heads, 1, -1)
            query, key, value = parts
            if rotation is not None:
                query, key = _rotated(parts[:2], rotation)
            ring[0].index_copy_(2, positions.slot, key)
            ring[1].index_copy_(2, positions.slot, value)
        slots = positions.mask.shape[-1]
        return self._product(query, ring[:, :, :, :slots], positions.mask)

    def _attend_to_codebooks(self, projected: torch.Tensor, ring: torch.Tensor, at: int) -> torch.Tensor:
        """Writes codebook `at` of a frame to the cache and returns what it attends to, `[1, 1, C]`."""
        parts = projected.view(3, 1, self.num_heads, 1, -1)
        ring[:, :, :, at : at + 1].copy_(parts[1:])
        return self._product(parts[0], ring[:, :, :, : at + 1], None)

    def _product(self, query: torch.Tensor, filled: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        out = F.scaled_dot_product_attention(query, filled[0], filled[1], mask)
        return out.reshape(self.embed_dim)[None, None]


def _padded(length: int) -> int:
    return -(-length // 8) * 8


def _suits_kernel(projected: torch.Tensor, ring: torch.Tensor) -> bool:
    same = projected.dtype == ring.dtype == torch.bfloat16
    return same and projected.storage_offset() % 2 == 0 and kernels.usable("rope_write", projected, ring)


def _rotated(vectors: torch.Tensor, rotation: torch.Tensor) -> torch.Tensor:
    """Rotates each pair of neighbouring values of vectors, `[..., D]`, as complex numbers."""
    pairs = torch.view_as_complex(vectors.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * rotation).flatten(-2).to(vectors.dtype)
