"""Reads tensors from safetensors files, one by one through one buffer, straight to their place.

The `safetensors` package maps a whole file into memory, even for a card. On Windows that reserves 16 GB of the paging
file and fails without it. Here, the machine's memory holds no more than the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from app.models.catalogue import ModelError
from app.models.layout import SCALE, Tensor, read_header
from app.models.manifest import truncated

BUFFER_BYTES = 1 << 26
"""The size of the buffer, 64 MiB: large enough for the full speed of a disk and of a card's bus."""
DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
"""Torch's types by their names in safetensors files."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a parameter is in a file: `count` elements of tensor `name`, from the element `first`."""

    name: str
    first: int
    count: int


class TensorFile:
    """A safetensors file whose tensors are read to `device`. A context manager.

    - `read_bytes`: called with the number of bytes after each read.

    Raises ModelError if the file is damaged, is truncated, or has a type that torch doesn't know.
    """

    def __init__(
        self,
        path: Path,
        device: torch.device,
        read_bytes: Callable[[int], object] = lambda count: None,
    ) -> None:
        self.header = read_header(path)
        self._path, self._device, self._read_bytes = path, device, read_bytes
        for name, tensor in self.header.items():
            if tensor.dtype not in DTYPES:
                raise ModelError(f"{path.name} stores {name} as {tensor.dtype}, which this app can't load.")
        self._buffer = torch.empty(BUFFER_BYTES, dtype=torch.uint8, pin_memory=device.type == "cuda")
        self._bytes = memoryview(self._buffer.numpy())

    def __enter__(self) -> TensorFile:
        self._file = self._path.open("rb", buffering=0)
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def outline(self) -> dict[str, torch.Tensor]:
        """Returns an empty tensor on the meta device for each one in the file, without the scales of int8 matrices.

        These matrices are float32 here, which they become when they are read.
        """
        return {
            name: torch.empty(
                tensor.shape,
                dtype=torch.float32 if name + SCALE in self.header else DTYPES[tensor.dtype],
                device="meta",
            )
            for name, tensor in self.header.items()
            if not name.endswith(SCALE)
        }

    def read(self, place: Place, shape: Iterable[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        """Reads part of a tensor as `dtype` (None: as it is stored). An int8 matrix with scales becomes float32."""
        scale = self.header.get(place.name + SCALE)
        if scale is not None:
            return self._read_scaled(place, scale, tuple(shape), dtype)
        tensor = self.header[place.name]
        stored = DTYPES[tensor.dtype]
        out = torch.empty(place.count, dtype=dtype or stored, device=self._device)
        size = stored.itemsize
        self._file.seek(tensor.start + place.first * size)
        for first in range(0, place.count, BUFFER_BYTES // size):
            part = out[first : first + BUFFER_BYTES // size]
            self._fill(len(part) * size)
            part.copy_(self._buffer[: len(part) * size].view(stored))
        return out.view(tuple(shape))

    def _read_scaled(
        self, place: Place, scale: Tensor, shape: tuple[int, ...], dtype: torch.dtype | None
    ) -> torch.Tensor:
        columns = shape[-1]
        rows = Place(place.name + SCALE, place.first // columns, place.count // columns)
        scales = self.read(rows, (rows.count, 1), torch.float32)
        tensor = self.header[place.name]
        matrix = torch.empty(rows.count, columns, dtype=torch.float32, device=self._device)
        self._file.seek(tensor.start + place.first)
        step = max(1, BUFFER_BYTES // columns)
        for first in range(0, rows.count, step):
            part = matrix[first : first + step]
            self._fill(part.numel())
            part.copy_(self._buffer[: part.numel()].view(torch.int8).view(part.shape))
        return (matrix * scales).to(dtype or torch.float32).view(shape)

    def _fill(self, count: int) -> None:
        done = 0
        while done < count:
            got = self._file.readinto(self._bytes[done:count])
            if not got:
                raise truncated(self._path, self._path.stat().st_size, None)
            done += got
        self._read_bytes(count)


def places_in(module: nn.Module, outline: dict[str, torch.Tensor]) -> dict[str, Place]:
    """Returns where each parameter and buffer of `module`, which is on the meta device, is in a file.

    The package renames and divides the tensors of older files when they are loaded. To follow that, the outlines
    themselves are loaded: a part of a tensor then shares its storage, at an offset.
    """
    names = {tensor.untyped_storage()._cdata: name for name, tensor in outline.items()}
    module.load_state_dict(outline, strict=False, assign=True)
    found = {}
    for name, value in module.state_dict(keep_vars=True).items():
        source = names.get(value.untyped_storage()._cdata)
        if source is not None:
            found[name] = Place(source, value.storage_offset(), value.numel())
    return found
