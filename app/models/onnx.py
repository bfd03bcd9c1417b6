"""Opens ONNX models with onnxruntime, with its telemetry switched off, and with one more output if required.

An output is added without the package `onnx`. A model is a protocol buffer (onnx.proto of the ONNX project: field 7 of
ModelProto is the graph; in GraphProto field 1 are nodes and field 12 outputs; in NodeProto field 2 are output names and
field 4 is the operator). Parsers merge a message with another one that is appended to it, so appending a graph with
only an output adds that output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

_GRAPH, _NODE, _OUTPUT = 7, 1, 12
_NODE_OUTPUT, _NODE_OPERATOR = 2, 4
_NAME = 1  # of ValueInfoProto
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5


def import_onnxruntime() -> Any:
    """Returns the library without telemetry: on Linux `app/__init__.py` disables it, on Windows only this call does."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_onnx(model: Path | str, *, errors_only: bool = False, threads: int = 1, output_of: str = "") -> Any:
    """Returns a session of an ONNX file on the CPU.

    `errors_only`: no warnings on standard error. `output_of`: an operator of which the model has one node, whose result
    becomes one more output; raises ValueError when there is not exactly one.
    """
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    if errors_only:
        options.log_severity_level = 4
    source = with_output_of(Path(model).read_bytes(), output_of) if output_of else str(model)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # kept to open the model again elsewhere: as much memory again
    return session


def with_output_of(model: bytes, operator: str) -> bytes:
    """Returns `model` with one more output at the end: the result of its only node of that operator.

    Raises ValueError when there is not exactly one.
    """
    view = memoryview(model)
    names = [
        _first_field(node, _NODE_OUTPUT)
        for graph in _fields(view, _GRAPH)
        for node in _fields(graph, _NODE)
        if _first_field(node, _NODE_OPERATOR) == operator.encode()
    ]
    if len(names) != 1:
        raise ValueError(f"the model has {len(names)} nodes {operator}, and not one")
    return model + _field(_GRAPH, _field(_OUTPUT, _field(_NAME, names[0])))


def _first_field(message: memoryview, number: int) -> bytes:
    """Returns the first field with a number; empty when there is none."""
    return bytes(next(_fields(message, number), b""))


def _fields(message: memoryview, number: int) -> Iterator[memoryview]:
    """Yields all fields with a number that hold bytes."""
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _read_varint(message, at)
        elif kind == _BYTES:
            length, at = _read_varint(message, at)
            if tag >> 3 == number:
                yield message[at : at + length]
            at += length
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            at += 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError("this is no ONNX model")


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
