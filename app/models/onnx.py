"""ONNX sessions in onnxruntime, with telemetry disabled and optionally with modified outputs.

Models are modified and weights read without the `onnx` package. A model is a protocol buffer (onnx.proto of the ONNX
project): in ModelProto, field 7 is the graph; in GraphProto, 1 are the nodes, 5 weights, 11 inputs and 12 outputs; in
NodeProto, 2 are the output names and 4 is the operator; in TensorProto, 1 are the dimensions, 8 is the name and 9 the
raw data. Parsers merge a message with another one appended to it, so appending a graph that has only an output adds
that output.
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
    """Imports onnxruntime without telemetry: on Linux `app/__init__.py` disables it, on Windows only this call does."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_onnx(model: Path | str | bytes, *, errors_only: bool = False, threads: int = 1, output_of: str = "") -> Any:
    """Opens a CPU session for an ONNX file or an in-memory model.

    `errors_only`: suppresses warnings on standard error. `output_of`: an operator that occurs in exactly one node,
    whose result becomes an additional output; raises ValueError if there isn't exactly one.
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
    session._model_bytes = None  # kept only to reopen the model, at the cost of twice the memory
    return session


def with_output_of(model: bytes, operator: str) -> bytes:
    """Appends an output to `model`: the result of its only node with the given operator.

    Raises ValueError if there isn't exactly one such node.
    """
    view = memoryview(model)
    name = _result_of(view, operator)
    return model + _field(_GRAPH, _field(_OUTPUT, _field(_NAME, name)))


def cut_at(model: bytes, result: str, operator: str) -> bytes:
    """Returns the part of `model` that computes two outputs: the value named `result`, and the result of `operator`.

    onnxruntime runs all nodes, even those that no output depends on. Raises ValueError if there isn't exactly one node
    with that operator.
    """
    view = memoryview(model)
    outputs = [result.encode(), _result_of(view, operator)]
    graph = b"".join(_fields(view, _GRAPH))
    nodes = list(_fields(memoryview(graph), _NODE))
    needed, kept = set(outputs), set()
    for place in reversed(range(len(nodes))):  # nodes are in execution order
        if needed.intersection(bytes(name) for name in _fields(nodes[place], _NODE_OUTPUT)):
            kept.add(place)
            needed.update(bytes(name) for name in _fields(nodes[place], _NODE_INPUT))
    rest = b"".join(field for number, field in _whole_fields(view) if number != _GRAPH)
    others = b"".join(field for number, field in _whole_fields(memoryview(graph)) if number not in (_NODE, _OUTPUT))
    parts = [_field(_NODE, bytes(nodes[place])) for place in sorted(kept)]
    parts += [_field(_OUTPUT, _field(_NAME, name)) for name in outputs]
    return rest + _field(_GRAPH, b"".join([*parts, others]))


def cut_from(model: bytes, value: str) -> bytes:
    """Returns the part of `model` after `value`, a named float32 value that becomes its only input.

    Raises ValueError if the outputs also depend on another input.
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
    """Returns the float32 weights whose names start with `prefix`, keyed by the rest of the name."""
    found = {}
    for graph in _fields(memoryview(model), _GRAPH):
        for weight in _fields(graph, _WEIGHT):
            name = _first_field(weight, _WEIGHT_NAME).decode()
            if name.startswith(prefix):
                raw = _first_field(weight, _RAW_DATA) or _first_field(weight, _FLOAT_DATA)
                found[name.removeprefix(prefix)] = np.frombuffer(raw, "<f4").reshape(_sizes(weight))
    return found


def _result_of(model: memoryview, operator: str) -> bytes:
    """Returns the name of the result of the only node with the given operator."""
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
    """Returns a weight's dimensions, whether or not they are packed into one field."""
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
    """Returns the first field with a given number; empty if there is none."""
    return bytes(next(_fields(message, number), b""))


def _fields(message: memoryview, number: int) -> Iterator[memoryview]:
    """Yields all length-delimited fields with a given number."""
    for tag, _, start, end in _walk(message):
        if tag == number << 3 | _BYTES:
            yield message[start:end]


def _varints(message: memoryview) -> Iterator[tuple[int, int]]:
    """Yields the number and value of all varint fields."""
    for tag, _, start, _ in _walk(message):
        if tag & 7 == _VARINT:
            yield tag >> 3, _read_varint(message, start)[0]


def _whole_fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yields the number and bytes of all fields, including their tags and lengths."""
    for tag, begin, _, end in _walk(message):
        yield tag >> 3, message[begin:end]


def _walk(message: memoryview) -> Iterator[tuple[int, int, int, int]]:
    """Yields each field's tag, and the offsets of its start, its content and its end."""
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
