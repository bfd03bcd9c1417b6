"""Counts what a frame asks of a card, without one, and finds what a captured frame must not contain.

A whole frame runs on FakeTensors, which have shapes, types and devices, but no values. For as much as torch asks of a
card before any calculation, `card_stub` stands in, so attention takes the path that torch itself chooses for each
generation of cards. A call that computes or copies something on the card counts as one launch. A few calls launch two
or three kernels, such as a matrix product that the library splits.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from moshi.models import loaders
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from app.diagnostics.tables import Progress, markdown, paragraphs
from app.frontend.kame.engine import engine as engines
from app.frontend.kame.engine import kernels
from app.frontend.kame.engine.checkpoint import build_lm
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.quantise import quantise
from app.frontend.kame.engine.random_weights import TINY_LM, TINY_MIMI, Size
from app.models.fit import PRECISIONS, Precision
from app.research.benches.card_stub import CAPABILITIES

_SMALL_LM = {**TINY_LM, "depformer_dim": 128, "hidden_scale": 4.5, "depformer_dim_feedforward": 576}
"""A small model whose matrices can all become int4."""
WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "unique", "is_nonzero", "equal", "bincount")
"""Operations whose result the processor waits for."""
ALIGNMENT = 16
"""In bytes, of the operands of the app's kernels."""


@dataclass(slots=True)
class Counted:
    """What one call asks of the card.

    - `launches`: how many there are, by operation. The app's own kernels count one each, by their names.
    - `temporary_bytes`: the most memory that intermediate results take.
    - `faults`: what must not be in a captured frame, and how often it is.
    - `numbers`: how often a number in the processor's memory is written where a mask says so. The package does it once
      a frame, and torch passes such a number with the launch.
    """

    launches: Counter[str] = field(default_factory=Counter)
    temporary_bytes: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    numbers: int = 0

    @property
    def fused_attention(self) -> int:
        """How often attention is calculated in one kernel, rather than in products and a softmax."""
        return sum(number for name, number in self.launches.items() if name.startswith("_scaled_dot_product"))

    def document(self) -> dict[str, Any]:
        """Returns it as JSON-compatible data."""
        return {
            "launches": dict(self.launches),
            "temporary_bytes": self.temporary_bytes,
            "faults": dict(self.faults),
            "numbers": self.numbers,
        }


class Watch(TorchDispatchMode):
    """Fills `counted` with every operation that is called."""

    def __init__(self) -> None:
        super().__init__()
        self.counted = Counted()
        self._live = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name: str = func.overloadpacket.__name__
        given, made = _tensors((args, kwargs)), _tensors(result)
        self._judge(func, name, given, made)
        known = {t.untyped_storage()._cdata for t in given}
        new = [t for t in made if t.untyped_storage()._cdata not in known]
        if (new or func._schema.is_mutable) and not name.startswith("empty") and any(t.is_cuda for t in made):
            self.counted.launches[name] += 1
        for tensor in new:
            size = tensor.untyped_storage().nbytes()
            self._live += size
            weakref.finalize(tensor, self._free, size)
        self.counted.temporary_bytes = max(self.counted.temporary_bytes, self._live)
        return result

    def own(self, name: str, *operands: torch.Tensor) -> None:
        """Counts a launch of one of the app's kernels."""
        self.counted.launches[name] += 1
        for operand in operands:
            if not operand.is_cuda:
                self.counted.faults[f"{name}: an operand in the processor's memory"] += 1
            if not operand.is_contiguous():
                self.counted.faults[f"{name}: an operand that isn't contiguous"] += 1
            if operand.storage_offset() * operand.element_size() % ALIGNMENT:
                self.counted.faults[f"{name}: an operand that isn't aligned"] += 1

    def _judge(self, func: Any, name: str, given: list[torch.Tensor], made: list[torch.Tensor]) -> None:
        devices = {t.device.type for t in (*given, *made)}
        masked = name.startswith("index") and any(t.dtype == torch.bool for t in given[1:])
        number = masked and name == "index_put_" and not given[-1].is_cuda and given[-1].numel() == 1
        if number:
            self.counted.numbers += 1
        elif name in WAITS or masked:
            self.counted.faults[f"{func}: the processor waits"] += 1
        elif len(devices) > 1:
            self.counted.faults[f"{func}: operands on both sides"] += 1
        elif devices == {"cpu"} and name not in ("lift_fresh", "detach", "empty"):
            self.counted.faults[f"{func}: on the processor"] += 1
        if any(t.dtype == torch.float64 for t in made):
            self.counted.faults[f"{func}: float64"] += 1

    def _free(self, size: int) -> None:
        self._live -= size


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


@contextlib.contextmanager
def _replaced(place: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, before)


@contextlib.contextmanager
def _own_kernels(watch: Watch) -> Iterator[None]:
    """Has the app's kernels counted where they would be launched, as if the card had proven all of them."""

    def launch(name: str, blocks: int, threads: int, *args: torch.Tensor | int) -> None:
        watch.own(name, *(one for one in args if isinstance(one, torch.Tensor)))

    with _replaced(kernels, "launch", launch), _replaced(kernels, "_proven", set(kernels.NAMES)):
        yield


def count(size: Size, precision: Precision, capability: int) -> dict[str, Counted]:
    """Counts a whole `frame` with a full cache, and an `encode`, on a card of `capability`.

    `load_card_stub` must have been called before torch was loaded.
    """
    device = torch.device("cuda", CAPABILITIES.index(capability))
    assert torch.cuda.get_device_capability(device) == divmod(capability, 10)
    tiny = size == "tiny"
    meta = torch.device("meta")
    lm = build_lm(dict(_SMALL_LM) if tiny else None, meta, torch.bfloat16)
    with meta:
        mimi = loaders.get_mimi(None, TINY_MIMI if tiny else None, device=meta, num_codebooks=8)
    with contextlib.ExitStack() as stack:
        # Libraries that look for a card would begin to use it.
        stack.enter_context(_replaced(torch.cuda, "is_available", lambda: False))
        stack.enter_context(_replaced(engines, "_host", lambda tensor, pinned: tensor))
        stack.enter_context(_replaced(Engine, "_warm_up", lambda self: None))
        stack.enter_context(torch.cuda.device(device))
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=False))
        stack.enter_context(torch.no_grad())
        for model in (lm, mimi):
            _move(model.eval(), device)
        quantise(lm, precision)
        setattr(mimi, "silence", (0,) * lm.dep_q)  # noqa: B010 - what would be learnt from values
        engine = stack.enter_context(Engine(lm, mimi, graphs=False))
        engine._attend(engine.context)
        mimi.decode(torch.zeros(1, lm.dep_q, 1, dtype=torch.long, device=device))  # makes tables on the first call
        return {
            "encode": _watched(engine, engine._encode, engine._samples),
            "frame": _watched(engine, engine._frame, engine._samples, engine._oracle),
        }


def _watched(engine: Engine, function: Any, *args: torch.Tensor) -> Counted:
    captured = engine.graphs.in_place(function)
    watch = Watch()
    with _own_kernels(watch), watch:
        captured(*args)
    return watch.counted


def _move(module: nn.Module, device: torch.device) -> None:
    for part in module.modules():
        for name, value in list(part.named_parameters(recurse=False)):
            moved = torch.empty(value.shape, dtype=value.dtype, device=device)
            part._parameters[name] = nn.Parameter(moved, requires_grad=False)
        for name, buffer in list(part.named_buffers(recurse=False)):
            part._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device=device)


@dataclass(slots=True)
class LaunchesBench:
    """The results of `bench launches`, by precision and capability."""

    size: Size
    counted: dict[tuple[Precision, int], dict[str, Counted]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether a frame and an encode can be captured on every card."""
        return not any(one.faults for both in self.counted.values() for one in both.values())

    def table(self) -> str:
        """Returns the launches of a frame as a Markdown table, and what was found in them."""
        cards = list(dict.fromkeys(card for _, card in self.counted))
        rows: list[Sequence[object]] = []
        for precision in dict.fromkeys(precision for precision, _ in self.counted):
            both = [self.counted[precision, card] for card in cards]
            rows += [
                (f"{precision}, a frame", *(one["frame"].launches.total() for one in both)),
                ("… of these, to encode", *(one["encode"].launches.total() for one in both)),
                ("… own kernels", *(_own(one["frame"]) for one in both)),
                ("… fused attention", *(one["frame"].fused_attention for one in both)),
                ("temporary MB", *(f"{one['frame'].temporary_bytes / 1e6:.1f}" for one in both)),
            ]
        lines = markdown((f"launches, {self.size}", *(f"sm_{card}" for card in cards)), rows)
        faults = [
            f"{precision}, sm_{card}, {name}: {fault} ({number})"
            for (precision, card), both in self.counted.items()
            for name, one in both.items()
            for fault, number in one.faults.items()
        ]
        return "\n".join([*lines, *paragraphs(faults)])

    def document(self) -> dict[str, Any]:
        """Returns the results as JSON-compatible data."""
        return {
            "size": self.size,
            "counted": [
                {"precision": precision, "card": card, "call": name, **one.document()}
                for (precision, card), both in self.counted.items()
                for name, one in both.items()
            ],
        }


def _own(counted: Counted) -> int:
    return sum(number for name, number in counted.launches.items() if name in kernels.NAMES)


def run_launches(size: Size, progress: Progress) -> LaunchesBench:
    """Counts all combinations of precision and card."""
    bench = LaunchesBench(size)
    for precision in PRECISIONS:
        for card in CAPABILITIES:
            progress(f"Counting {size} in {precision} on sm_{card} …")
            bench.counted[precision, card] = count(size, precision, card)
    return bench
