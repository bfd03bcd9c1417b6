"""Whether a front-end fits a graphics card before anything is loaded, and what does.

Arithmetic on the model's shape, checked by `bench frame`; knows nothing of torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Precision = Literal["bf16", "int8", "int4"]
"""How the matrices are kept, largest first."""
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

MIMI_BYTES = 390_000_000
"""Mimi's weights in float32, with its streaming state."""
WORKING_BYTES = 900_000_000
"""The CUDA context, graphs, kernels and activations. An allowance, not a measurement."""
LEAST_CONTEXT = 750
"""Frames below which a talk loses its thread (60 s)."""

_7B = {
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
"""Moshi's published shape, which KAME has too."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Parameters of a model: in matrices that a frame reads, in the two output heads, in embeddings."""

    matrices: int
    heads: int
    embeddings: int
    cache_bytes_a_frame: int
    context: int

    @property
    def parameters(self) -> int:
        """All of them, norms left out."""
        return self.matrices + self.heads + self.embeddings

    def weight_bytes(self, precision: Precision) -> int:
        """Resident bytes of the weights. The heads stay int8 under int4; embeddings are always bf16."""
        per = {"bf16": 2.0, "int8": 1.0, "int4": 0.5 + 4 / 128}[precision]
        heads = 2.0 if precision == "bf16" else 1.0
        return round(self.matrices * per + self.heads * heads + self.embeddings * 2)

    def frame_bytes(self, precision: Precision, filled: int | None = None) -> int:
        """Bytes that a step reads at least: all matrices, and the cache's `filled` frames (None: all)."""
        slots = self.context if filled is None else filled
        return self.weight_bytes(precision) - self.embeddings * 2 + slots * self.cache_bytes_a_frame


def shape_of(config: dict[str, Any] | None, context: int | None = None) -> Shape:
    """The shape of a model from its config (None: the published 7B)."""
    # A config that leaves a width of the depth transformer out means the package's rule, not the 7B's width.
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
    """The inner width of a gated layer, as the package moshi chooses it."""
    return 21 * dim // 8 if feedforward == 4 * dim else 2 * feedforward // 3


@dataclass(frozen=True, slots=True)
class Plan:
    """A way to run that fits. `bytes` is what it takes on the card."""

    precision: Precision
    context: int
    bytes: int

    @property
    def words(self) -> str:
        """For the user."""
        return f"{self.precision}, {self.context * 0.08:.0f} s of context, {self.bytes / 1e9:.1f} GB"


@dataclass(frozen=True, slots=True)
class Fit:
    """The verdict: `plan` fits as asked, or `offers` does, best first; `sentence` says it to the user."""

    plan: Plan | None
    offers: tuple[Plan, ...]
    sentence: str


def needed_bytes(shape: Shape, precision: Precision, context: int | None = None) -> int:
    """Bytes on the card: weights, the cache of `context` frames, Mimi, and what working takes."""
    frames = min(context or shape.context, shape.context)
    return shape.weight_bytes(precision) + frames * shape.cache_bytes_a_frame + MIMI_BYTES + WORKING_BYTES


def judge(
    free_bytes: int | None,
    precision: Precision,
    *,
    context: int | None = None,
    shape: Shape | None = None,
    name: str = "The front-end",
    reserved: int = 0,
) -> Fit:
    """Whether `precision` with `context` frames fits into `free_bytes` of a card (None: there is no CUDA card), of
    which speech recognition takes `reserved`.
    """
    shape = shape or shape_of(None)
    asked = min(context or shape.context, shape.context)
    if free_bytes is None:
        return Fit(
            None,
            (),
            f"{name} needs an NVIDIA graphics card with CUDA, and this machine shows none. Choose the embedded voice "
            "(cascade), which runs on the processor.",
        )
    beside = f", {reserved / 1e9:.1f} GB of them for speech recognition" if reserved else ""
    free = f"{free_bytes / 1e9:.1f} GB"
    free_bytes -= reserved
    wanted = Plan(precision, asked, needed_bytes(shape, precision, asked))
    if wanted.bytes <= free_bytes:
        return Fit(wanted, (), f"{name} fits: {wanted.words} of {free} free{beside}.")
    offers = []
    for smaller in PRECISIONS[PRECISIONS.index(precision) :]:
        for frames in dict.fromkeys((asked, asked // 2, max(LEAST_CONTEXT, asked // 4))):
            if frames < min(LEAST_CONTEXT, asked) or (smaller, frames) == (precision, asked):
                continue
            plan = Plan(smaller, frames, needed_bytes(shape, smaller, frames))
            if plan.bytes <= free_bytes:
                offers.append(plan)
                break  # the longest context that fits at this precision
    have = f"{wanted.bytes / 1e9:.1f} GB in {precision}, and {free} of the card are free{beside}"
    if not offers:
        smaller = "Choose a smaller speech recognition, close" if reserved else "Close"
        return Fit(
            None,
            (),
            f"{name} needs {have}; no smaller form fits either. {smaller} other programs that use the card, or talk "
            "with the embedded voice (cascade).",
        )
    return Fit(None, tuple(offers), f"{name} needs {have}. This fits: {'; or '.join(p.words for p in offers)}.")
