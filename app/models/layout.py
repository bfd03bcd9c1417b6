"""The layout of a checkpoint folder: the role of each file, and checks that none is missing, damaged or truncated.

Only the config, file sizes and the headers of safetensors files are read. No weights are loaded, and torch isn't
required.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from app.models.catalogue import ModelError
from app.models.manifest import check_against_manifest, read_object, require_file, truncated
from app.platform.files import MOST_CHARACTERS, is_plain
from app.untrusted.json_text import read_json
from app.untrusted.limits import HUB_CONFIG, WEIGHTS_HEADER

CONFIG_NAME = "config.json"
LM_NAME = "model.safetensors"
MIMI_NAME = "tokenizer-e351c8d8-checkpoint125.safetensors"
TOKENIZER_NAME = "tokenizer_spm_32k_3.model"
"""The default file names of the `moshi` package, used for files that the config doesn't name."""

SAFETENSORS_SUFFIXES = (".safetensors", ".sft", ".sfts")
SCALE = "@scale"
"""Suffix of the name under which a small model's file stores the scales of an int8 matrix."""
NOT_FOR_THE_MODEL = (
    "moshi_name mimi_name mimi_config_name tokenizer_name lora_name model_type lm_gen_config tts_config stt_config "
    "model_id"
).split()
"""Keys of config.json that are not parameters of the language model."""

NUMBERS = (
    "dim num_heads num_layers hidden_scale context text_card card n_q dep_q depformer_dim depformer_num_heads "
    "depformer_num_layers depformer_dim_feedforward"
).split()
"""Numeric keys of config.json that determine the size of the model."""

_BYTES = {
    dtype: size
    for size, dtypes in (
        (8, "F64 I64 U64"),
        (4, "F32 I32 U32"),
        (2, "F16 BF16 I16 U16"),
        (1, "I8 U8 BOOL F8_E4M3 F8_E5M2"),
    )
    for dtype in dtypes.split()
}
"""The size of an element, by its type in safetensors notation."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in a safetensors file. `dtype`: in safetensors notation, such as `BF16`; `start`: its first byte."""

    dtype: str
    shape: tuple[int, ...]
    start: int

    @property
    def bytes(self) -> int:
        return _BYTES[self.dtype] * math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """The files of a checkpoint. `lm_config`: None if there is no config.json, as with Moshi 7B."""

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
        """All files that a front-end loads."""
        return tuple(path for path in (self.lm, self.mimi, self.tokenizer, self.lora) if path is not None)


def read_layout(folder: str | Path, *, quickly: bool = False) -> CheckpointFiles:
    """Returns the files in a folder after checking that they exist, have the right type and aren't truncated.

    Unless `quickly` is set, files whose size or modification time has changed since the download are hashed, which may
    take a minute.

    Raises:
        ModelError: The message names the file and describes the problem.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ModelError(
            f"The folder {folder} is not there, so no weights can be loaded from it. Download the weights, or "
            "choose the folder that holds them."
        )
    config = _config(folder / CONFIG_NAME) if (folder / CONFIG_NAME).exists() else None
    names = config or {}
    generation = names.get("lm_gen_config") or {}
    if not isinstance(generation, dict):
        raise ModelError(f"{CONFIG_NAME} in {folder} is damaged: its lm_gen_config is no object. Download it again.")
    kind = names.get("model_type", "moshi")
    if kind not in ("moshi", "kame"):
        raise ModelError(
            f"The weights in {folder} are a “{str(kind)[:40]}” model, which doesn't converse. Choose weights of KAME "
            "or Moshi."
        )
    for key in NUMBERS:
        if type(value := names.get(key, 0)) not in (int, float, type(None)) or not 0 <= (value or 0) <= 2**31:
            raise ModelError(f"{CONFIG_NAME} in {folder} is damaged: its {key} is no number. Download it again.")
    mimi_config_name = names.get("mimi_config_name")
    files = CheckpointFiles(
        folder=folder,
        lm=_file(folder, names.get("moshi_name", LM_NAME)),
        mimi=_file(folder, names.get("mimi_name", MIMI_NAME)),
        tokenizer=_file(folder, names.get("tokenizer_name", TOKENIZER_NAME)),
        lora=_file(folder, names["lora_name"]) if names.get("lora_name") else None,
        lm_config=None if config is None else {k: v for k, v in config.items() if k not in NOT_FOR_THE_MODEL},
        mimi_config=_config(_file(folder, mimi_config_name)) if mimi_config_name else None,
        generation=dict(generation),
    )
    for path in files.all:
        require_file(path)
    for path in files.all:
        if path != files.tokenizer:
            read_header(path)
    check_against_manifest(folder, quickly=quickly)
    return files


def local_name(name: str) -> str:
    """Returns the local file name for a name in a config, which may be a reference to another repository."""
    return PurePosixPath(name.removeprefix("hf://")).name if name.startswith("hf://") else name


def read_header(path: Path) -> dict[str, Tensor]:
    """Returns the tensors listed in the header of a safetensors file.

    Raises:
        ModelError: The file has a different type, or is damaged or truncated.
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
            raise truncated(path, size, 8 + length if length < WEIGHTS_HEADER.bytes else None)
        try:
            header = read_json(file.read(min(length, WEIGHTS_HEADER.bytes + 1)), WEIGHTS_HEADER)
            entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
            places = {name: _numbers(entry["data_offsets"]) for name, entry in entries.items()}
            tensors = {
                name: Tensor(entry["dtype"], _numbers(entry["shape"]), 8 + length + places[name][0])
                for name, entry in entries.items()
            }
            end = max((place[1] for place in places.values()), default=0)
            wrong = [name for name, place in places.items() if tensors[name].bytes != place[1] - place[0]]
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ModelError(f"{path.name} is damaged: its header can't be read. Download it again.") from error
    if wrong:
        raise ModelError(f"{path.name} is damaged: the size of {wrong[0]} doesn't fit its shape. Download it again.")
    if size < 8 + length + end:
        raise truncated(path, size, 8 + length + end)
    return tensors


def _numbers(value: Any) -> tuple[int, ...]:
    """Validates a list of up to 16 sizes or offsets. Raises ValueError if it is malformed."""
    if not isinstance(value, list) or len(value) > 16 or not all(type(one) is int and one >= 0 for one in value):
        raise ValueError("no list of numbers")
    return tuple(value)


def _config(path: Path) -> dict[str, Any]:
    try:
        return read_object(path, HUB_CONFIG)
    except ValueError as error:
        raise ModelError(f"{path.name} in {path.parent} can't be read as JSON: {error}. Download it again.") from error


def _file(folder: Path, name: Any) -> Path:
    if not isinstance(name, str) or not name:
        raise ModelError(
            f"{CONFIG_NAME} in {folder} names a file by {name!r:.80}, which is no name. Download it again."
        )
    plain = local_name(name)
    if not is_plain(plain):
        raise ModelError(
            f"{CONFIG_NAME} in {folder} points to a file outside of its folder, or with a name that not every system "
            f"takes (“{name[:MOST_CHARACTERS]}”), which this app doesn't follow. Get the weights from a source that "
            "you trust."
        )
    return folder / plain
