"""Loads a checkpoint into models that are ready to step. Files are checked first and loaded completely or not at all.

Accepts the folders of KAME and Moshi as published on the hub. Moshi's weights get a neutral oracle, which leaves the
model's output exactly unchanged. A small model's file may store its matrices as int8, half the size of bfloat16, with a
float16 scale per row under the same name plus `SCALE`. They are converted back to float32 when loaded.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from moshi.models import loaders
from moshi.models.compression import MimiModel
from torch import nn
from torch.overrides import TorchFunctionMode

from app.frontend import OTHER_CODECS
from app.frontend.kame.engine.model import KameLM, neutral_oracle
from app.frontend.kame.engine.quantise import Precision, quantisable
from app.frontend.kame.engine.weights import TensorFile, places_in
from app.frontend.kame.spoken_words import read_pieces
from app.models.catalogue import ModelError
from app.models.layout import CheckpointFiles


@dataclass(slots=True)
class Loaded:
    """Models in eval mode on their device.

    `mimi`: the codec, or one of `OTHER_CODECS`; `learnt_oracle`: the checkpoint has a trained oracle (KAME).
    """

    lm: KameLM
    mimi: MimiModel
    pieces: Any
    learnt_oracle: bool
    generation: dict[str, Any] = field(default_factory=dict)


def load(
    files: CheckpointFiles,
    *,
    device: str | torch.device = "cuda",
    dtype: torch.dtype = torch.bfloat16,
    precision: Precision = "bf16",
    context: int | None = None,
    report: Callable[[int, int], object] = lambda done, total: None,
) -> Loaded:
    """Loads a checkpoint.

    Args:
        dtype: type of the language model; Mimi stays float32.
        precision: int8 and int4 quantise the language model's matrices.
        context: how many frames attention reaches back, if fewer than the model's default.
        report: called with the bytes that are loaded, and with their total.

    Raises:
        ModelError: a file or tensor is missing, damaged or doesn't match; the message names it.
    """
    device = torch.device(device)
    pieces = read_pieces(files.tokenizer)
    total, done = sum(path.stat().st_size for path in files.all if path != files.tokenizer), 0

    def read_bytes(count: int) -> None:
        nonlocal done
        done += count
        report(done, total)

    lm, learnt = _load_lm(files, device, dtype, precision, context, read_bytes)
    if pieces.vocab_size() > lm.text_card:
        raise ModelError(
            f"{files.tokenizer.name} has {pieces.vocab_size():,} pieces, but the model knows {lm.text_card:,}: they "
            "don't belong together. Download the weights again."
        )
    mimi = _load_codec(files, device, lm.dep_q, lm.n_q - lm.dep_q, read_bytes)
    if mimi.cardinality != lm.card:
        raise ModelError(
            f"{files.mimi.name} has {mimi.cardinality} codes, but the model knows {lm.card}: they don't belong "
            "together. Download the weights again."
        )
    return Loaded(lm, mimi, pieces, learnt, dict(files.generation))


def build_lm(
    config: dict[str, Any] | None, device: torch.device, dtype: torch.dtype, context: int | None = None
) -> KameLM:
    """Builds a model without weights from a config (None: Moshi's 7B). Raises ModelError if the config is invalid."""
    arguments = dict(loaders._lm_kwargs if config is None else config)
    for key in ("lora", "lora_rank", "lora_scaling", "depformer_causal"):
        arguments.pop(key, None)
    if "demux_second_stream" in arguments:
        arguments["demux_second_text_stream"] = arguments.pop("demux_second_stream")
    if context is not None:
        arguments["context"] = min(context, arguments.get("context") or context)
    try:
        if "conditioners" in arguments:
            arguments["condition_provider"] = loaders.get_conditioner_provider(arguments["dim"], device, arguments)
            del arguments["conditioners"]
        if arguments.get("fuser") is not None:
            arguments["fuser"] = loaders.get_condition_fuser(arguments)
        with _Unfilled() if device.type == "meta" else contextlib.nullcontext():
            return KameLM(device=device, dtype=dtype, **arguments)
    except (TypeError, ValueError, AssertionError, KeyError, AttributeError, RuntimeError) as error:
        raise ModelError(
            f"config.json describes no model that this app can build ({type(error).__name__}: {error}). Use weights "
            "made for KAME or Moshi, or download them again."
        ) from error


class _Unfilled(TorchFunctionMode):
    """Makes `torch.nn.init` leave tensors unchanged. The meta device has nothing to fill, but torch would spend four
    seconds importing its compiler to find out."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return (kwargs or {}).get("tensor", args[0] if args else None)
        return func(*args, **(kwargs or {}))


def _load_lm(
    files: CheckpointFiles,
    device: torch.device,
    dtype: torch.dtype,
    precision: Precision,
    context: int | None,
    read_bytes: Callable[[int], object],
) -> tuple[KameLM, bool]:
    config = files.lm_config or {}
    if config.get("quantize"):
        raise ModelError(
            f"{files.lm.name} is quantised already, in a form that the package moshi can't run in bf16. Use the "
            "bf16 weights; this app makes int8 and int4 of them itself."
        )
    lm = build_lm(files.lm_config, torch.device("meta"), dtype, context)
    with TensorFile(files.lm, device, read_bytes) as file:
        outline = file.outline()
        # Compares all names and shapes before reading any weights.
        learnt = any(name.startswith("oracle_emb.") for name in outline)
        _check_fit(lm, outline, files.lm, allow_missing_oracle=not learnt)
        places = places_in(lm, outline)
        adapters = _read_adapters(files, device, dtype, context) if files.lora is not None else {}
        small = {f"{slot.name}.weight": slot for slot in quantisable(lm, precision)}
        meta = dict(lm.state_dict(keep_vars=True))
        for name, place in sorted(places.items(), key=lambda item: (file.header[item[1].name].start, item[1].first)):
            value = file.read(place, meta[name].shape, _type_of(name, meta[name].dtype, dtype))
            if name in adapters:
                value = value + adapters.pop(name)()
            if name in small:
                small.pop(name).fill(value, device)
            else:
                _assign(lm, name, value)
            del value  # before the next one is allocated
    if not learnt:
        _add_neutral_oracle(lm, files.lm)
    lm.requires_grad_(False)
    return lm.to(device).eval(), learnt


def _read_adapters(
    files: CheckpointFiles, device: torch.device, dtype: torch.dtype, context: int | None
) -> dict[str, Callable[[], torch.Tensor]]:
    """Returns, by the names of the weights that a LoRA file changes, what computes the change."""
    assert files.lora is not None
    config = files.lm_config or {}
    scaling = config.get("lora_scaling", 2.0)
    trial = loaders.get_lora_moshi(
        build_lm(files.lm_config, torch.device("meta"), dtype, context),
        lora_rank=config.get("lora_rank", 128),
        lora_scaling=scaling,
        lora_weights=None,
        device="meta",
        dtype=dtype,
        fuse_lora=False,
    )
    with TensorFile(files.lora, device) as file:
        outline = file.outline()
        _check_fit(trial, outline, files.lora, partial=True)
        places = places_in(trial, outline)
        meta = dict(trial.state_dict(keep_vars=True))
        read = {name: file.read(place, meta[name].shape, dtype) for name, place in places.items()}
    changes: dict[str, Callable[[], torch.Tensor]] = {}
    for name, down in read.items():
        path, found, part = name.rpartition(".lora_A.")
        if found:
            changes[f"{path}.{part}"] = partial(_change, read[f"{path}.lora_B.{part}"], down, scaling)
    return changes


def _change(up: torch.Tensor, down: torch.Tensor, scaling: float) -> torch.Tensor:
    return scaling * (up @ down)


def _assign(module: nn.Module, name: str, value: torch.Tensor) -> None:
    path, _, attribute = name.rpartition(".")
    parent = module.get_submodule(path)
    is_parameter = attribute in parent._parameters
    setattr(parent, attribute, nn.Parameter(value, requires_grad=False) if is_parameter else value)


def _load_codec(
    files: CheckpointFiles, device: torch.device, own: int, heard: int, read_bytes: Callable[[int], object]
) -> Any:
    """Loads the codec with `own` codebooks for the model's audio and `heard` for the user's."""
    for load_other in OTHER_CODECS:
        if (codec := load_other(files.mimi, device, own, heard)) is not None:
            return codec
    return _load_mimi(files, device, max(own, heard), read_bytes)


def _load_mimi(
    files: CheckpointFiles, device: torch.device, codebooks: int, read_bytes: Callable[[int], object]
) -> MimiModel:
    try:
        with _Unfilled():
            outline = loaders.get_mimi(None, files.mimi_config, device="meta", num_codebooks=codebooks)
    except (TypeError, ValueError, AssertionError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"The codec's config describes none that this app can build ({type(error).__name__}: {error}). Download "
            "the weights again."
        ) from error
    with TensorFile(files.mimi, torch.device("cpu"), read_bytes) as file:
        tensors = file.outline()
        _check_fit(outline, tensors, files.mimi)
        with _Unfilled():
            mimi = loaders.get_mimi(None, files.mimi_config, device="cpu", num_codebooks=codebooks)
        state = mimi.state_dict()
        for name, place in places_in(outline, tensors).items():
            state[name].copy_(file.read(place, state[name].shape))
    mimi.requires_grad_(False)
    return mimi.to(device).eval()


def _type_of(name: str, stored: torch.dtype, dtype: torch.dtype) -> torch.dtype:
    """Returns the type of a weight, as in the package: conditioners stay float32, all other floats become `dtype`."""
    if not stored.is_floating_point:
        return stored
    return torch.float32 if name.startswith(("condition_provider.", "fuser.")) else dtype


def _add_neutral_oracle(lm: KameLM, path: Path) -> None:
    if lm.text_emb.norm is not None:
        raise ModelError(
            f"{path.name} has a normalised text embedding and no oracle, so it can't run here as Moshi. Use KAME's "
            "or Moshi's published weights."
        )
    for name, weight in lm.text_emb.named_parameters():
        value = weight.detach()
        _assign(lm.oracle_emb, name, neutral_oracle(value, lm.text_padding_token_id) if name == "weight" else value)


_SIZE_MISMATCH = re.compile(
    r"size mismatch for (\S+): .*?torch\.Size\(\[(.*?)\]\) from checkpoint.*?torch\.Size\(\[(.*?)\]\)"
)


def _check_fit(
    model: nn.Module,
    outline: dict[str, torch.Tensor],
    path: Path,
    *,
    partial: bool = False,
    allow_missing_oracle: bool = False,
) -> None:
    """Compares a file's tensors with a model's by name and shape, without loading either."""
    try:
        keys = model.load_state_dict(outline, strict=False, assign=False)
    except RuntimeError as error:
        found = _SIZE_MISMATCH.findall(str(error))
        what = "; ".join(f"{name} is [{has}] and should be [{wants}]" for name, has, wants in found[:3]) or str(error)
        raise ModelError(
            f"{path.name} doesn't fit its config: {what}. The files don't belong together; download the weights again."
        ) from error
    missing = [] if partial else list(keys.missing_keys)
    if allow_missing_oracle:
        missing = [name for name in missing if not name.startswith("oracle_emb.")]
    for names, verb in ((missing, "lacks"), (list(keys.unexpected_keys), "holds what the model doesn't know:")):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise ModelError(
                f"{path.name} {verb} {', '.join(names[:3])}{more}. The files don't belong together; download the "
                "weights again."
            )
