"""Opens ONNX models with onnxruntime, with its telemetry switched off, and with other outputs if required.

Outputs are changed and weights are read without the package `onnx`. A model is a protocol buffer (onnx.proto of the
ONNX project: field 7 of ModelProto is the graph; in GraphProto field 1 are nodes, field 5 weights, field 11 inputs and
field 12 outputs; in NodeProto field 2 are output names and field 4 is the operator; in TensorProto field 1 are the
sizes, field 8 is the name and field 9 the numbers). Parsers merge a message with another one that is appended to it, so
appending a graph with only an output adds that output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

_GRAPH, _NODE, _WEIGHT, _INPUT, _OUTPUT = 7, 1, 5, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATOR = 1, 2, 4
_NAME = 1  # of ValueInfoProto
_SIZE, _FLOAT_DATA, _WEIGHT_NAME, _RAW_DATA = 1, 4, 8, 9
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5


def import_onnxruntime() -> Any:
    """Returns the library without telemetry: on Linux `app/__init__.py` disables it, on Windows only this call does."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_onnx(model: Path | str | bytes, *, errors_only: bool = False, threads: int = 1, output_of: str = "") -> Any:
    """Returns a session of an ONNX file, or of a model in memory, on the CPU.

    `errors_only`: no warnings on standard error. `output_of`: an operator of which the model has one node, whose result
    becomes one more output; raises ValueError when there is not exactly one.
    """
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    if errors_only:
        options.log_severity_level = 4
    source = model if isinstance(model, bytes) else str(model)
    if output_of:
        source = with_output_of(model if isinstance(model, bytes) else Path(model).read_bytes(), output_of)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # kept to open the model again elsewhere: as much memory again
    return session


def with_output_of(model: bytes, operator: str) -> bytes:
    """Returns `model` with one more output at the end: the result of its only node of that operator.

    Raises ValueError when there is not exactly one.
    """
    view = memoryview(model)
    name = _result_of(view, operator)
    return model + _field(_GRAPH, _field(_OUTPUT, _field(_NAME, name)))


def cut_at(model: bytes, result: str, operator: str) -> bytes:
    """Returns the part of `model` that leads to two outputs: the value named `result`, and what `operator` gives.

    onnxruntime runs all nodes, also those that no output needs. Raises ValueError when there is not exactly one node
    of that operator.
    """
    view = memoryview(model)
    outputs = [result.encode(), _result_of(view, operator)]
    graph = b"".join(_fields(view, _GRAPH))
    nodes = list(_fields(memoryview(graph), _NODE))
    needed, kept = set(outputs), set()
    for place in reversed(range(len(nodes))):  # the nodes are in the order in which they run
        if needed.intersection(bytes(name) for name in _fields(nodes[place], _NODE_OUTPUT)):
            kept.add(place)
            needed.update(bytes(name) for name in _fields(nodes[place], _NODE_INPUT))
    rest = b"".join(field for number, field in _whole_fields(view) if number != _GRAPH)
    others = b"".join(field for number, field in _whole_fields(memoryview(graph)) if number not in (_NODE, _OUTPUT))
    parts = [_field(_NODE, bytes(nodes[place])) for place in sorted(kept)]
    parts += [_field(_OUTPUT, _field(_NAME, name)) for name in outputs]
    return rest + _field(_GRAPH, b"".join([*parts, others]))


def cut_from(model: bytes, value: str) -> bytes:
    """Returns the part of `model` that leads from the value named `value`, float32, to its outputs, as its only input.

    Raises ValueError when the outputs need another input, too.
    """
    view = memoryview(model)
    graph = memoryview(b"".join(_fields(view, _GRAPH)))
    nodes, start = list(_fields(graph, _NODE)), value.encode()
    needed = {_first_field(output, _NAME) for output in _fields(graph, _OUTPUT)}
    kept = set()
    for place in reversed(range(len(nodes))):
        results = {bytes(name) for name in _fields(nodes[place], _NODE_OUTPUT)}
        if start not in results and needed & results:
            kept.add(place)
            needed.update(bytes(name) for name in _fields(nodes[place], _NODE_INPUT))
    if start not in needed or needed & {_first_field(one, _NAME) for one in _fields(graph, _INPUT)}:
        raise ValueError(f"the model's outputs don't follow from {value} alone")
    rest = b"".join(field for number, field in _whole_fields(view) if number != _GRAPH)
    others = b"".join(
        field
        for number, field in _whole_fields(graph)
        if number not in (_NODE, _INPUT, _WEIGHT)
        or (number == _WEIGHT and _first_field(next(_fields(memoryview(field), _WEIGHT)), _WEIGHT_NAME) in needed)
    )
    parts = [_field(_NODE, bytes(nodes[place])) for place in sorted(kept)]
    # ValueInfoProto: field 2 is the type; in TypeProto field 1 is a tensor; in it field 1 is 1 for float32.
    tensor = _field(1, _varint(1 << 3 | _VARINT) + _varint(1))
    parts.append(_field(_INPUT, _field(_NAME, start) + _field(2, tensor)))
    return rest + _field(_GRAPH, b"".join([*parts, others]))


def weights_of(model: bytes, prefix: str) -> dict[str, np.ndarray]:
    """Returns the float32 weights whose names start with `prefix`, without it."""
    found = {}
    for graph in _fields(memoryview(model), _GRAPH):
        for weight in _fields(graph, _WEIGHT):
            name = _first_field(weight, _WEIGHT_NAME).decode()
            if name.startswith(prefix):
                raw = _first_field(weight, _RAW_DATA) or _first_field(weight, _FLOAT_DATA)
                found[name.removeprefix(prefix)] = np.frombuffer(raw, "<f4").reshape(_sizes(weight))
    return found


def _result_of(model: memoryview, operator: str) -> bytes:
    """Returns the name of the result of the only node of that operator."""
    names = [
        _first_field(node, _NODE_OUTPUT)
        for graph in _fields(model, _GRAPH)
        for node in _fields(graph, _NODE)
        if _first_field(node, _NODE_OPERATOR) == operator.encode()
    ]
    if len(names) != 1:
        raise ValueError(f"the model has {len(names)} nodes {operator}, and not one")
    return names[0]


def _sizes(weight: memoryview) -> list[int]:
    """Returns a weight's sizes, whether they are packed into one field or not."""
    sizes = []
    for number, value in _varints(weight):
        if number == _SIZE:
            sizes.append(value)
    for packed in _fields(weight, _SIZE):
        at = 0
        while at < len(packed):
            value, at = _read_varint(packed, at)
            sizes.append(value)
    return sizes


def _first_field(message: memoryview, number: int) -> bytes:
    """Returns the first field with a number; empty when there is none."""
    return bytes(next(_fields(message, number), b""))


def _fields(message: memoryview, number: int) -> Iterator[memoryview]:
    """Yields all fields with a number that hold bytes."""
    for tag, _, start, end in _walk(message):
        if tag == number << 3 | _BYTES:
            yield message[start:end]


def _varints(message: memoryview) -> Iterator[tuple[int, int]]:
    """Yields number and value of all fields that hold one integer."""
    for tag, _, start, _ in _walk(message):
        if tag & 7 == _VARINT:
            yield tag >> 3, _read_varint(message, start)[0]


def _whole_fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yields number and bytes of all fields, their tags and lengths included."""
    for tag, begin, _, end in _walk(message):
        yield tag >> 3, message[begin:end]


def _walk(message: memoryview) -> Iterator[tuple[int, int, int, int]]:
    """Yields the tag of each field, and the places where the field, its content and the next field begin."""
    at = 0
    while at < len(message):
        begin = at
        tag, start = _read_varint(message, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _read_varint(message, start)
        elif kind == _BYTES:
            length, start = _read_varint(message, start)
            at = start + length
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            at = start + (8 if kind == _EIGHT_BYTES else 4)
        else:
            raise ValueError("this is no ONNX model")
        yield tag, begin, start, at


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
