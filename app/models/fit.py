"""Estimates whether a front-end fits in a graphics card's memory, given its model's shape.

`bench card` verifies the estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Precision = Literal["bf16", "int8", "int4"]
"""The data type of the weight matrices, largest first."""
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

MIMI_BYTES = 420_000_000
"""The size of Mimi's float32 weights and streaming state: 0.39 to 0.42 GB, counted."""
WORKING_BYTES = 900_000_000
"""Memory for the CUDA context, graphs, kernels and activations; an allowance rather than a measurement."""
DESKTOP_BYTES = 1_000_000_000
"""What a desktop takes of the card that shows it: 0.5 to 1 GB."""
DRIVER_BYTES = 500_000_000
"""The part of a card's memory that the driver keeps for itself, at most. CUDA doesn't count it, NVML does."""
LEAST_CONTEXT = 750
"""The minimum context, in frames, for a coherent conversation (60 s)."""

_7B: dict[str, Any] = {
    "dim": 4096,
    "num_heads": 32,
    "num_layers": 32,
    "hidden_scale": 4.125,
    "context": 3000,
    "text_card": 32000,
    "card": 2048,
    "n_q": 16,
    "dep_q": 8,
    "depformer_dim": 1024,
    "depformer_dim_feedforward": 4224,
    "depformer_num_layers": 6,
}
"""The published configuration of Moshi, which KAME shares."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a model.

    - `matrices`, `heads`, `embeddings`: the number of parameters in the weight matrices, output heads and embeddings.
    - `cache_bytes_a_frame`: the size of one frame in the KV cache, in bytes.
    - `context`: the capacity of the KV cache, in frames.
    """

    matrices: int
    heads: int
    embeddings: int
    cache_bytes_a_frame: int
    context: int

    @property
    def parameters(self) -> int:
        """The number of parameters, excluding those of normalization layers."""
        return self.matrices + self.heads + self.embeddings

    def weight_bytes(self, precision: Precision) -> int:
        """Returns the weights' size on the card in bytes. With int4, the heads are int8. Embeddings are always bf16."""
        per = {"bf16": 2.0, "int8": 1.0, "int4": 0.5 + 4 / 128}[precision]
        heads = 2.0 if precision == "bf16" else 1.0
        return round(self.matrices * per + self.heads * heads + self.embeddings * 2)

    def frame_bytes(self, precision: Precision) -> int:
        """Returns the minimum number of bytes read per frame with a full cache: all matrices, and the cache."""
        return self.weight_bytes(precision) - self.embeddings * 2 + self.context * self.cache_bytes_a_frame


def shape_of(config: dict[str, Any] | None, context: int | None = None) -> Shape:
    """Returns the shape of a model, given its config (None: the published 7B model).

    `context`: the number of frames in the cache, if less than the config allows.
    """
    # If a config omits the depth transformer's width, the package derives it rather than using the 7B's.
    c = {**_7B, "depformer_dim_feedforward": None, **config} if config else _7B
    dim, depth_dim = c["dim"], c["depformer_dim"]
    hidden = _gate_width(dim, int(c["hidden_scale"] * dim))
    depth_hidden = _gate_width(depth_dim, c.get("depformer_dim_feedforward") or int(c["hidden_scale"] * depth_dim))
    temporal = c["num_layers"] * (4 * dim * dim + 3 * dim * hidden)
    depth = c["dep_q"] * c.get("depformer_num_layers", 6) * (4 * depth_dim**2 + 3 * depth_dim * depth_hidden)
    joints = c["dep_q"] * dim * depth_dim
    heads = dim * c["text_card"] + c["dep_q"] * depth_dim * c["card"]
    embeddings = c["n_q"] * (c["card"] + 1) * dim + 2 * (c["text_card"] + 1) * dim
    embeddings += (c["dep_q"] - 1) * (c["card"] + 1) * depth_dim + (c["text_card"] + 1) * depth_dim
    length = min(context or c["context"], c["context"])
    return Shape(temporal + depth + joints, heads, embeddings, 2 * c["num_layers"] * dim * 2, length)


def _gate_width(dim: int, feedforward: int) -> int:
    """Returns the inner width of a gated layer, computed as in the `moshi` package."""
    return 21 * dim // 8 if feedforward == 4 * dim else 2 * feedforward // 3


@dataclass(frozen=True, slots=True)
class Plan:
    """A precision and context, with the memory that they require on the card (`bytes`)."""

    precision: Precision
    context: int
    bytes: int

    @property
    def words(self) -> str:
        """The plan as user-facing text."""
        return f"{self.precision}, {self.context * 0.08:.0f} s of context, {self.bytes / 1e9:.1f} GB"


@dataclass(frozen=True, slots=True)
class Fit:
    """The result of `judge`: a `plan` if the request fits, otherwise alternative `offers`, best first.

    `sentence`: a user-facing explanation.
    """

    plan: Plan | None
    offers: tuple[Plan, ...]
    sentence: str


def needed_bytes(shape: Shape, precision: Precision, context: int | None = None) -> int:
    """Returns the required memory on the card: weights, cache for `context` frames, Mimi and working memory."""
    frames = min(context or shape.context, shape.context)
    return shape.weight_bytes(precision) + frames * shape.cache_bytes_a_frame + MIMI_BYTES + WORKING_BYTES


def usable_bytes(free: int, total: int) -> int:
    """Returns how much of a card's free memory models may take, so that the desktop has its share even if it hardly
    uses any now.

    `total`: the card's memory, without the driver's own.
    """
    return min(free, total - DESKTOP_BYTES)


def judge(
    free_bytes: int | None,
    precision: Precision,
    *,
    context: int | None = None,
    shape: Shape | None = None,
    name: str = "The voice engine",
    reserved: int = 0,
) -> Fit:
    """Determines whether a model fits in the free memory of a card.

    - `free_bytes`: the free memory of the card; None if there is no CUDA card.
    - `context`: the number of frames; None for the model's maximum.
    - `shape`: the shape of the model; None for the published 7B model.
    - `name`: the model's name, used as the subject of the message.
    - `reserved`: how much of the free memory speech recognition will use.
    """
    shape = shape or shape_of(None)
    asked = min(context or shape.context, shape.context)
    if free_bytes is None:
        return Fit(
            None,
            (),
            f"{name} needs an NVIDIA graphics card with CUDA, and this machine shows none. Choose the built-in voice "
            "(cascade), which runs on the processor.",
        )
    beside = f", {reserved / 1e9:.1f} GB of them for speech recognition" if reserved else ""
    free = f"{free_bytes / 1e9:.1f} GB"
    free_bytes -= reserved
    requested = Plan(precision, asked, needed_bytes(shape, precision, asked))
    if requested.bytes <= free_bytes:
        return Fit(requested, (), f"{name} fits: {requested.words} of {free} free{beside}.")
    offers = _smaller_plans(shape, requested, free_bytes)
    have = f"{requested.bytes / 1e9:.1f} GB in {precision}, and {free} of the card are free{beside}"
    if offers:
        return Fit(None, offers, f"{name} needs {have}. This fits: {'; or '.join(p.words for p in offers)}.")
    advice = "Choose a smaller speech recognition, close" if reserved else "Close"
    return Fit(
        None,
        (),
        f"{name} needs {have}; no smaller form fits either. {advice} other programs that use the card, or talk "
        "with the built-in voice (cascade).",
    )


def _smaller_plans(shape: Shape, requested: Plan, free_bytes: int) -> tuple[Plan, ...]:
    """Returns, for the requested precision and each smaller one, the plan with the longest context that fits."""
    offers = []
    contexts = dict.fromkeys((requested.context, requested.context // 2, max(LEAST_CONTEXT, requested.context // 4)))
    for precision in PRECISIONS[PRECISIONS.index(requested.precision) :]:
        for frames in contexts:
            plan = Plan(precision, frames, needed_bytes(shape, precision, frames))
            if plan != requested and frames >= min(LEAST_CONTEXT, requested.context) and plan.bytes <= free_bytes:
                offers.append(plan)
                break
    return tuple(offers)
