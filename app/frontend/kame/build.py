"""Creates the front-ends `kame` and `moshi` with the device, precision and context length that suit this machine."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from app.frontend import FrontEndOptions
from app.frontend.base import FrontEndError
from app.frontend.kame.checkpoint import Loaded, load
from app.frontend.kame.frontend import LABELS, KameFrontEnd, KameSettings
from app.frontend.kame.quantise import kernels
from app.models.catalogue import ModelError
from app.models.fit import PRECISIONS, Precision, judge, shape_of
from app.models.layout import CheckpointFiles, read_layout
from app.platform import single_instance


@dataclass(frozen=True, slots=True)
class Prepared:
    """The checkpoint to load, and how to run it.

    - `files`: the checkpoint.
    - `device`, `precision`: where and how the model runs.
    - `context`: context length in frames; None for the model's default.
    - `needs`: a message stating the graphics card requirements.
    """

    files: CheckpointFiles
    device: str
    precision: Precision
    context: int | None
    needs: str = ""


def free_bytes() -> int | None:
    """Returns the free memory of the CUDA card in bytes, or None without a card."""
    if not torch.cuda.is_available():
        return None
    # Memory that torch has reserved but not allocated is free too.
    return torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()


def prepare(name: str, options: FrontEndOptions) -> Prepared:
    """Decides how to run the model before anything is loaded.

    Raises:
        FrontEndError: there are no weights, no card, or not enough memory; the message suggests alternatives.
    """
    label = LABELS[name]
    if options.precision not in ("auto", *PRECISIONS):
        raise FrontEndError(f"There is no precision “{options.precision}”. There are: auto, {', '.join(PRECISIONS)}.")
    if options.device not in ("auto", "cuda", "cpu"):
        raise FrontEndError(f"There is no device “{options.device}”. There are: auto, cuda, cpu.")
    free = None if options.device == "cpu" else free_bytes()
    if free is None and options.device != "cpu":
        raise FrontEndError(judge(None, "bf16", name=label).sentence)
    if options.weights is None or not options.weights.is_dir():
        where = f" in {options.weights}" if options.weights else ""
        raise FrontEndError(
            f"{label}'s weights are not there{where}. Get them with “{single_instance.command()} models get {name}” "
            "(about 16 GB), or set the folder that holds them."
        )
    try:
        files = read_layout(options.weights)
    except ModelError as error:
        raise FrontEndError(str(error)) from error
    precision: Precision = "bf16" if options.precision == "auto" else options.precision  # type: ignore[assignment]
    context = options.context or None
    if free is None:
        return Prepared(files, "cpu", precision, context)
    shape = shape_of(files.lm_config, context)
    fit = judge(free, precision, context=context, shape=shape, name=label, reserved=options.reserved)
    if fit.plan is not None:
        return Prepared(files, "cuda", fit.plan.precision, context, fit.sentence)
    if options.precision == "auto" and fit.offers:
        best = fit.offers[0]
        return Prepared(files, "cuda", best.precision, best.context, fit.sentence)
    raise FrontEndError(fit.sentence)


def make(name: str, options: FrontEndOptions) -> KameFrontEnd:
    """Creates the front-end without entering it. Raises FrontEndError for the same reasons as `prepare`."""
    plan = prepare(name, options)

    def models() -> Loaded:
        if plan.device == "cuda" and plan.precision != "bf16" and plan.precision not in kernels():
            raise FrontEndError(
                f"{plan.precision} isn't available on this card with this driver. Choose bf16 if it has 24 GB, or the "
                "built-in voice; the log has the details."
            )
        # On the CPU, bf16 is slower than float32, and only small models run there.
        dtype = torch.bfloat16 if plan.device == "cuda" else torch.float32
        loaded = load(plan.files, device=plan.device, dtype=dtype, precision=plan.precision, context=plan.context)
        if name == "kame" and not loaded.learnt_oracle:
            raise FrontEndError(
                f"The weights in {plan.files.folder} have never learnt to hear an oracle: they are Moshi's. Choose "
                "Moshi as the voice, or KAME's weights."
            )
        if name == "moshi" and loaded.learnt_oracle:
            raise FrontEndError(
                f"The weights in {plan.files.folder} are KAME's, which is not Moshi without its oracle. Choose KAME as "
                "the voice, or Moshi's weights."
            )
        return loaded

    return KameFrontEnd(models, KameSettings(name, plan.needs, alone=plan.device == "cuda"), options.dials)
