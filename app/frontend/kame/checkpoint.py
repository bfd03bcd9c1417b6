"""Loads a checkpoint's files into models that are ready to step: checked first, loaded whole or not at all.

Takes KAME's and Moshi's folders as the hub has them. Moshi's own weights get a neutral oracle, with which the model is
unchanged to the bit. A small model's file may hold its matrices as int8, half the size of bfloat16: each row has a
scale in float16 under the same name and `SCALE`, and what is loaded is float32 again.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from moshi.models import loaders
from moshi.models.compression import MimiModel
from safetensors.torch import load_file, save_file
from torch import nn
from torch.overrides import TorchFunctionMode

from app.frontend.kame.codec.layout import SCALE
from app.frontend.kame.codec.voice_codec import VoiceCodec, is_voice_codec, load_codec
from app.frontend.kame.model import KameLM, neutral_oracle
from app.frontend.kame.quantise import Precision, quantise
from app.models.catalogue import ModelError
from app.models.layout import CheckpointFiles, Tensor, read_header

_LEAST_COLUMNS = 64


def save_compact(state: Mapping[str, torch.Tensor], path: Path) -> None:
    """Writes weights: matrices in eight bits, all else in float16."""
    out: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        value = value.detach().float()
        if value.dim() == 2 and value.shape[1] >= _LEAST_COLUMNS:
            scale = (value.abs().amax(1) / 127).clamp(min=1e-8).half().float().clamp(min=2**-24)
            out[name] = (value / scale[:, None]).round().clamp(-127, 127).to(torch.int8)
            out[name + SCALE] = scale.half()
        else:
            out[name] = value.half()
    save_file({name: value.contiguous() for name, value in out.items()}, path)


def load_whole(path: Path, device: str = "cpu") -> dict[str, torch.Tensor]:
    """Reads weights of either form; those in eight bits become float32."""
    stored = load_file(path, device=device)
    scales = {name: stored.pop(name) for name in list(stored) if name.endswith(SCALE)}
    for name, scale in scales.items():
        matrix = name.removesuffix(SCALE)
        stored[matrix] = stored[matrix].float() * scale.float()[:, None]
    return stored


@dataclass(slots=True)
class Loaded:
    """Models in eval mode on their device. `learnt_oracle`: the checkpoint has an oracle of its own (KAME)."""

    lm: KameLM
    mimi: MimiModel | VoiceCodec
    pieces: sentencepiece.SentencePieceProcessor
    learnt_oracle: bool
    generation: dict[str, Any] = field(default_factory=dict)


def load(
    files: CheckpointFiles,
    *,
    device: str | torch.device = "cuda",
    dtype: torch.dtype = torch.bfloat16,
    precision: Precision = "bf16",
    context: int | None = None,
) -> Loaded:
    """Loads a checkpoint.

    Args:
        dtype: of the language model; Mimi stays float32. `precision` int8 and int4 shrink its matrices.
        context: frames that attention reaches back, if fewer than the model was made for.

    Raises:
        ModelError: what is missing, damaged or doesn't fit, by file and tensor.
    """
    device = torch.device(device)
    pieces = _load_pieces(files.tokenizer)
    lm, learnt = _load_lm(files, device, dtype, precision, context)
    if pieces.vocab_size() > lm.text_card:
        raise ModelError(
            f"{files.tokenizer.name} has {pieces.vocab_size():,} pieces, but the model knows {lm.text_card:,}: they "
            "don't belong together. Download the weights again."
        )
    mimi = _load_codec(files, device, lm.dep_q, lm.n_q - lm.dep_q)
    if mimi.cardinality != lm.card:
        raise ModelError(
            f"{files.mimi.name} has {mimi.cardinality} codes, but the model knows {lm.card}: they don't belong "
            "together. Download the weights again."
        )
    return Loaded(lm, mimi, pieces, learnt, dict(files.generation))


def build_lm(
    config: dict[str, Any] | None, device: torch.device, dtype: torch.dtype, context: int | None = None
) -> KameLM:
    """An empty model of a config (None: Moshi's 7B). Raises ModelError when it makes no model."""
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
    """Makes `torch.nn.init` leave tensors as they are: on the meta device there is nothing to fill, and torch would
    import four seconds' worth of compiler to find that out."""

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
) -> tuple[KameLM, bool]:
    config = files.lm_config or {}
    if config.get("quantize"):
        raise ModelError(
            f"{files.lm.name} is quantised already, in a form that the package moshi can't run in bf16. Use the "
            "bf16 weights; this app makes int8 and int4 of them itself."
        )
    header = {name: tensor for name, tensor in read_header(files.lm).items() if not name.endswith(SCALE)}
    lm = build_lm(files.lm_config, torch.device("meta"), dtype, context)
    # All names and shapes are compared before any weight is read.
    learnt = any(name.startswith("oracle_emb.") for name in header)
    _check_fit(lm, header, files.lm, allow_missing_oracle=not learnt)
    if files.lora is not None:
        trial = loaders.get_lora_moshi(
            build_lm(files.lm_config, torch.device("meta"), dtype, context),
            lora_rank=config.get("lora_rank", 128),
            lora_scaling=config.get("lora_scaling", 2.0),
            lora_weights=None,
            device="meta",
            dtype=dtype,
            fuse_lora=False,
        )
        _check_fit(trial, read_header(files.lora), files.lora, partial=True)
    # Small packages of the model's bytes go to the device one by one: it never lies there twice.
    staging = device if precision == "bf16" else torch.device("cpu")
    state = {name: _cast(name, value, dtype) for name, value in load_whole(files.lm, str(staging)).items()}
    if not learnt:
        _add_neutral_oracle(state, lm, files.lm)
    lm.load_state_dict(state, assign=True)
    del state
    if files.lora is not None:
        loaders.get_lora_moshi(  # in place
            lm,
            lora_rank=config.get("lora_rank", 128),
            lora_scaling=config.get("lora_scaling", 2.0),
            lora_weights=files.lora,
            device=staging,
            dtype=dtype,
            fuse_lora=True,
        )
    lm.requires_grad_(False)
    quantise(lm, precision, device)
    lm.to(device)
    return lm.eval(), learnt


def _load_codec(files: CheckpointFiles, device: torch.device, own: int, heard: int) -> MimiModel | VoiceCodec:
    """The codec for `own` codebooks of the model's sound and `heard` of the user's."""
    if not is_voice_codec(files.mimi):
        return _load_mimi(files, device, max(own, heard))
    codec = load_codec(files.mimi, device)
    if (codec.shape.own_books, codec.shape.heard_books) != (own, heard):
        raise ModelError(
            f"{files.mimi.name} has {codec.shape.own_books} and {codec.shape.heard_books} codebooks, but the model "
            f"knows {own} and {heard}: they don't belong together. Get the weights again."
        )
    return codec


def _load_mimi(files: CheckpointFiles, device: torch.device, codebooks: int) -> MimiModel:
    header = read_header(files.mimi)
    try:
        with _Unfilled():
            outline = loaders.get_mimi(None, files.mimi_config, device="meta", num_codebooks=codebooks)
    except (TypeError, ValueError, AssertionError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"The codec's config describes none that this app can build ({type(error).__name__}: {error}). Download "
            "the weights again."
        ) from error
    _check_fit(outline, header, files.mimi)
    with _Unfilled():
        mimi = loaders.get_mimi(None, files.mimi_config, device="cpu", num_codebooks=codebooks)
    mimi.load_state_dict(load_file(files.mimi, device="cpu"))
    mimi.requires_grad_(False)
    return mimi.to(device).eval()


def _load_pieces(path: Path) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
    except (RuntimeError, OSError) as error:
        raise ModelError(f"{path.name} is damaged: it is no SentencePiece model. Download it again.") from error


def _cast(name: str, value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """As the package does: the conditioners stay float32, all other weights become `dtype`."""
    if not value.dtype.is_floating_point:
        return value
    return value.float() if name.startswith(("condition_provider.", "fuser.")) else value.to(dtype)


def _add_neutral_oracle(state: dict[str, torch.Tensor], lm: KameLM, path: Path) -> None:
    if lm.text_emb.norm is not None:
        raise ModelError(
            f"{path.name} has a normalised text embedding and no oracle, so it can't run here as Moshi. Use KAME's "
            "or Moshi's published weights."
        )
    for name in [name for name in state if name.startswith("text_emb.")]:
        value = state[name]
        if name == "text_emb.weight":
            value = neutral_oracle(value, lm.text_padding_token_id)
        state["oracle_emb" + name.removeprefix("text_emb")] = value


_SIZE_MISMATCH = re.compile(
    r"size mismatch for (\S+): .*?torch\.Size\(\[(.*?)\]\) from checkpoint.*?torch\.Size\(\[(.*?)\]\)"
)


def _check_fit(
    model: nn.Module,
    header: dict[str, Tensor],
    path: Path,
    *,
    partial: bool = False,
    allow_missing_oracle: bool = False,
) -> None:
    """Compares a file's tensors with a model's, by name and shape, without a byte of either."""
    outline = {name: torch.empty(tensor.shape, device="meta") for name, tensor in header.items()}
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
