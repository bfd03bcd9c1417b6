"""Decides how a model runs on this machine: device, precision and context. In the process that is going to load it."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from app.frontend.kame.engine.proofs import notes_of, prove
from app.frontend.kame.messages import LoadRequest
from app.frontend.kame.stream_engine import EngineError
from app.models.fit import LEAST_CONTEXT, Plan, Precision, judge, shape_of, usable_bytes
from app.models.layout import CheckpointFiles

PRODUCTS: dict[Precision, tuple[Precision, ...]] = {"bf16": (), "int8": ("int8",), "int4": ("int4", "int8")}
"""The forms of the matrices of each precision; the output heads of int4 are int8."""
BF16_FROM = (8, 0)
"""The least capability of a card that calculates in bf16. Older cards (Turing) emulate it.

There, torch (2.9) has no kernel for attention in bf16. At each step, it converts the whole cache to float32, scales the
keys, and multiplies. For each of a frame's 4,096 keys and values, 28 bytes are read or written in each of 32 layers.
With 3,000 frames, these are 11 GB, which take 18 ms at 616 GB/s (RTX 2080 Ti) and 34 ms at 320 GB/s (T4). With 750
frames, they are a quarter of that.
"""


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """How to run the model.

    `context`: in frames, None for the model's own; `sentence`: the memory that it needs; `notes`: see `Ready`.
    """

    device: str
    precision: Precision
    context: int | None
    sentence: str = ""
    notes: tuple[str, ...] = ()


def make_plan(request: LoadRequest, files: CheckpointFiles) -> EnginePlan:
    """Chooses what fits the memory that is free now, and limits this process to it. If no context is asked for, it is
    as long as fits with a desktop.

    On cards that emulate bf16, the context is `LEAST_CONTEXT` and the best precision int8, whose kernels calculate in
    float32, unless the request says otherwise. With a cache in float16, torch would have a kernel for a longer context,
    but the range of float16 is smaller, and whether all keys are within it isn't known.

    Raises EngineError (`refused`): there is no card, not enough memory, or no way to run that precision.
    """
    on_card = request.device != "cpu"
    if on_card and not torch.cuda.is_available():
        raise EngineError("refused", judge(None, "bf16", name=request.label).sentence)
    emulated = on_card and torch.cuda.get_device_capability() < BF16_FROM
    best: Precision = "int8" if emulated else "bf16"
    precision: Precision = best if request.precision == "auto" else request.precision  # type: ignore[assignment]
    context = request.context or (LEAST_CONTEXT if emulated else None)
    if not on_card:
        return EnginePlan("cpu", precision, context)
    free, total = torch.cuda.mem_get_info()
    shape = shape_of(files.lm_config, context)
    auto = request.precision == "auto"
    free_to_choose = auto or not request.context  # what the user asks for in full may take all that is free
    for room in (usable_bytes(free, total), free) if free_to_choose else (free,):
        fit = judge(room, precision, context=context, shape=shape, name=request.label, reserved=request.reserved)
        shorter = (offer for offer in fit.offers if auto or (not request.context and offer.precision == precision))
        plan = fit.plan or next(shorter, None)
        if plan is not None:
            break
    if plan is None:
        raise EngineError("refused", fit.sentence)
    failing = prove()
    if any(f"gemv_{form}" in failing for form in PRODUCTS[plan.precision]):
        refusal = EngineError(
            "refused",
            f"{plan.precision} isn't available on this card with this driver. Choose bf16 if it has 24 GB, or the "
            "built-in voice; the log has the details.",
        )
        refusal.add_note("\n".join(notes_of(failing)))
        raise refusal
    limit_memory(plan, total)
    sentence = fit.sentence
    if emulated and not request.context and plan.context == LEAST_CONTEXT:
        sentence += (
            f" It remembers {plan.context * 0.08:.0f} s: on cards older than the RTX 30 series, more takes too long."
        )
    return EnginePlan("cuda", plan.precision, plan.context, sentence, notes_of(failing))


def limit_memory(plan: Plan, total: int) -> None:
    """Limits this process to the memory of its plan. Without a limit, the Windows driver moves memory that doesn't fit
    to the machine's own, and frames take seconds, where torch would have raised an error."""
    torch.cuda.set_per_process_memory_fraction(min(1.0, plan.bytes / total))
