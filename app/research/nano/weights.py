"""Reads a small model's weights without torch: matrices in eight bits, all else in half precision or float32."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from app.frontend.kame.codec.layout import SCALE
from app.models.errors import ModelError
from app.models.layout import read_header

_TYPES = {"I8": np.int8, "F16": np.float16, "F32": np.float32}


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """The weights of a safetensors file by their names, in float32.

    Raises:
        ModelError: the file is damaged, or has weights in another type.
    """
    read_header(path)  # refuses what is damaged or cut short
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        if entry["dtype"] not in _TYPES:
            raise ModelError(
                f"{path.name} has weights of the type {entry['dtype']}. A small model runs on a processor when it was "
                "written with “train merge --compact”."
            )
        begin, end = entry["data_offsets"]
        values = np.frombuffer(raw[8 + length + begin : 8 + length + end], _TYPES[entry["dtype"]])
        found[name] = values.reshape(entry["shape"]).astype(np.float32)
    for name in [name for name in found if name.endswith(SCALE)]:
        found[name.removesuffix(SCALE)] *= found.pop(name)[:, None]
    return found
