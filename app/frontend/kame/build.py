"""Creates the front-ends `kame` and `moshi`, after checking what can be checked without torch."""

from __future__ import annotations

from app.frontend import FrontEndOptions
from app.frontend.base import FrontEndError
from app.frontend.kame.engine_source import ProcessSource
from app.frontend.kame.frontend import LABELS, KameFrontEnd
from app.frontend.kame.messages import LoadRequest
from app.models.catalogue import ModelError
from app.models.fit import PRECISIONS, judge
from app.models.layout import CheckpointFiles, read_header, read_layout
from app.platform import nvidia, single_instance


def make(name: str, options: FrontEndOptions) -> KameFrontEnd:
    """Creates the front-end without entering it.

    Raises FrontEndError if there are no weights or no card; the message suggests alternatives.
    """
    label = LABELS[name]
    if options.precision not in ("auto", *PRECISIONS):
        raise FrontEndError(f"There is no precision “{options.precision}”. There are: auto, {', '.join(PRECISIONS)}.")
    if options.device not in ("auto", "cuda", "cpu"):
        raise FrontEndError(f"There is no device “{options.device}”. There are: auto, cuda, cpu.")
    if options.device != "cpu":
        _require_card(label)
    if options.weights is None or not options.weights.is_dir():
        where = f" in {options.weights}" if options.weights else ""
        raise FrontEndError(
            f"{label}'s weights are not there{where}. Get them with “{single_instance.command()} models get {name}” "
            "(about 16 GB), or set the folder that holds them."
        )
    try:
        files = read_layout(options.weights)
        _require_kind(name, files)
    except ModelError as error:
        raise FrontEndError(str(error)) from error
    request = LoadRequest(
        folder=str(files.folder),
        label=label,
        device=options.device,
        precision=options.precision,
        context=options.context,
        reserved=options.reserved,
    )
    source = ProcessSource(files, request, real_time=options.real_time)
    return KameFrontEnd(source, name, options.dials)


def _require_card(label: str) -> None:
    """Raises FrontEndError if there is no card that KAME can run on."""
    driver = nvidia.look()
    card = nvidia.best_card(driver) if driver is not None else None
    if driver is None or (card is None and not driver.trouble):
        raise FrontEndError(judge(None, "bf16", name=label).sentence)
    if trouble := nvidia.obstacle(driver):
        raise FrontEndError(trouble)


def _require_kind(name: str, files: CheckpointFiles) -> None:
    """Raises FrontEndError if these are the weights of the other model."""
    has_oracle = any(tensor.startswith("oracle_emb.") for tensor in read_header(files.lm))
    if name == "kame" and not has_oracle:
        raise FrontEndError(
            f"The weights in {files.folder} have never learnt to hear an oracle: they are Moshi's. Choose Moshi as the "
            "voice, or KAME's weights."
        )
    if name == "moshi" and has_oracle:
        raise FrontEndError(
            f"The weights in {files.folder} are KAME's, which is not Moshi without its oracle. Choose KAME as the "
            "voice, or Moshi's weights."
        )
