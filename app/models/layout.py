"""A checkpoint's folder, as the hub lays it out: which file is what, and whether each is whole.

Reads config, file sizes and the headers of safetensors files; loads no weights and knows nothing of torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from app.models.errors import ModelError

CONFIG_NAME = "config.json"
MANIFEST_NAME = "weights.json"
LM_NAME = "model.safetensors"
MIMI_NAME = "tokenizer-e351c8d8-checkpoint125.safetensors"
TOKENIZER_NAME = "tokenizer_spm_32k_3.model"
"""The names of files in folders that have no config: the package moshi's own."""

SAFETENSORS_SUFFIXES = (".safetensors", ".sft", ".sfts")
NOT_FOR_THE_MODEL = (
    "moshi_name",
    "mimi_name",
    "mimi_config_name",
    "tokenizer_name",
    "lora_name",
    "model_type",
    "lm_gen_config",
    "tts_config",
    "stt_config",
    "model_id",
)
"""Keys of config.json that are no arguments of the language model."""

_BYTES = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "U16": 2,
    "U32": 4,
    "U64": 8,
}


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a file: its type as safetensors writes it (`BF16`), and its shape."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Its size."""
        return _BYTES[self.dtype] * math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """What `folder` holds. `lm_config` is None for a folder without config.json (Moshi's own 7B, then)."""

    folder: Path
    lm: Path
    mimi: Path
    tokenizer: Path
    lora: Path | None = None
    lm_config: dict[str, Any] | None = None
    mimi_config: dict[str, Any] | None = None
    generation: dict[str, Any] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Path, ...]:
        """All files that loading reads."""
        return tuple(path for path in (self.lm, self.mimi, self.tokenizer, self.lora) if path is not None)


def read_layout(folder: str | Path, *, quickly: bool = False) -> CheckpointFiles:
    """What the folder holds; every file that loading needs is there, is no pickle, and is whole in size.

    Files that a download brought and that seem touched since are hashed, which may take a minute, unless `quickly`.

    Raises:
        ModelError: a sentence that names the file and what is wrong with it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ModelError(
            f"The folder {folder} is not there, so no weights can be loaded from it. Download the weights, or "
            "choose the folder that holds them."
        )
    config = _read_json(folder / CONFIG_NAME) if (folder / CONFIG_NAME).exists() else None
    names = config or {}
    kind = names.get("model_type", "moshi")
    if kind not in ("moshi", "kame"):
        raise ModelError(
            f"The weights in {folder} are a “{kind}” model, which doesn't converse. Choose KAME or Moshi weights."
        )
    mimi_config_name = names.get("mimi_config_name")
    files = CheckpointFiles(
        folder=folder,
        lm=_file(folder, names.get("moshi_name", LM_NAME)),
        mimi=_file(folder, names.get("mimi_name", MIMI_NAME)),
        tokenizer=_file(folder, names.get("tokenizer_name", TOKENIZER_NAME)),
        lora=_file(folder, names["lora_name"]) if names.get("lora_name") else None,
        lm_config=None if config is None else {k: v for k, v in config.items() if k not in NOT_FOR_THE_MODEL},
        mimi_config=_read_json(_file(folder, mimi_config_name)) if mimi_config_name else None,
        generation=dict(names.get("lm_gen_config") or {}),
    )
    for path in files.all:
        _check_there(path)
    for path in (files.lm, files.mimi, files.lora):
        if path is not None:
            read_header(path)
    check_against_manifest(folder, quickly=quickly)
    return files


def local_name(name: str) -> str:
    """A file's name in our folder for a name in a config, which may point into another repository."""
    return PurePosixPath(name.removeprefix("hf://")).name if name.startswith("hf://") else name


def read_header(path: Path) -> dict[str, Tensor]:
    """The tensors that a safetensors file says it holds. Reads its header only.

    Raises:
        ModelError: it is a pickle or something else, or is cut short.
    """
    if path.suffix not in SAFETENSORS_SUFFIXES:
        raise ModelError(
            f"{path.name} is not a safetensors file. Files of other kinds (pickles) can run programs when they are "
            "opened, so this app never opens one. Get the weights as safetensors, or convert them."
        )
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise _truncated(path, size, 8 + length if length < 100_000_000 else None)
        try:
            header = json.loads(file.read(length))
            entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
            tensors = {name: Tensor(entry["dtype"], tuple(entry["shape"])) for name, entry in entries.items()}
            end = max((entry["data_offsets"][1] for entry in entries.values()), default=0)
            wrong = [
                name
                for name, entry in entries.items()
                if tensors[name].bytes != entry["data_offsets"][1] - entry["data_offsets"][0]
            ]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{path.name} is damaged: its header can't be read. Download it again.") from error
    if wrong:
        raise ModelError(f"{path.name} is damaged: the size of {wrong[0]} doesn't fit its shape. Download it again.")
    if size < 8 + length + end:
        raise _truncated(path, size, 8 + length + end)
    return tensors


def check_against_manifest(folder: Path, *, thoroughly: bool = False, quickly: bool = False) -> int:
    """Compares the folder with what its download recorded; returns how many files were compared (0: none recorded).

    A file whose size and time are the recorded ones is taken as whole; any other, or every one if `thoroughly`, is
    read and hashed, and its time recorded anew. `quickly`: sizes only.

    Raises:
        ModelError: a file is not what was downloaded.
    """
    manifest_path = folder / MANIFEST_NAME
    if not manifest_path.exists():
        return 0
    manifest = _read_json(manifest_path)
    changed = False
    try:
        records = dict(manifest["files"])
        for name, known in records.items():
            path, size = folder / name, int(known["size"])
            _check_there(path)
            stat = path.stat()
            if stat.st_size < size:
                raise _truncated(path, stat.st_size, size)
            untouched = stat.st_size == size and stat.st_mtime_ns == known.get("mtime_ns")
            if quickly or not known.get("sha256") or (untouched and not thoroughly):
                continue
            if sha256_of(path) != known["sha256"]:
                raise ModelError(
                    f"{name} is not the file that was downloaded: its contents have changed (the SHA-256 differs). "
                    "Delete it and download the weights again."
                )
            changed, known["mtime_ns"] = changed or not untouched, stat.st_mtime_ns
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{MANIFEST_NAME} in {folder} is damaged. Delete it and download the weights again; what is whole is kept."
        ) from error
    if changed:
        with contextlib.suppress(OSError):  # a folder that can't be written to is hashed again next time
            manifest_path.write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return len(records)


def sha256_of(path: Path, progress: Callable[[int], None] | None = None) -> str:
    """The file's SHA-256 in hexadecimal; `progress` gets the bytes read since the last call."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
            if progress is not None:
                progress(len(block))
    return digest.hexdigest()


def _file(folder: Path, name: Any) -> Path:
    if not isinstance(name, str) or not name:
        raise ModelError(f"{CONFIG_NAME} in {folder} names a file by {name!r}, which is no name. Download it again.")
    plain = local_name(name)
    parts = PurePosixPath(plain).parts
    if os.path.isabs(plain) or ".." in parts or "\\" in plain or ":" in plain:
        raise ModelError(
            f"{CONFIG_NAME} in {folder} points to a file outside of its folder (“{name}”), which this app doesn't "
            "follow. Get the weights from a source that you trust."
        )
    return folder / plain


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise ModelError(
            f"{path.name} is missing from {path.parent}. The weights are not complete; download them again, and "
            "only what is missing is fetched."
        )


def _truncated(path: Path, size: int, wanted: int | None) -> ModelError:
    more = f" of {wanted:,}" if wanted else ""
    return ModelError(
        f"{path.name} is cut short: it has {size:,}{more} bytes. Download it again, and the rest is fetched."
    )


def _read_json(path: Path) -> dict[str, Any]:
    _check_there(path)
    try:
        value = json.loads(path.read_text("utf-8"))
    except (ValueError, OSError) as error:
        raise ModelError(f"{path.name} in {path.parent} can't be read as JSON. Download it again.") from error
    if not isinstance(value, dict):
        raise ModelError(f"{path.name} in {path.parent} holds no object. Download it again.")
    return value
