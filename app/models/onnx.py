"""ONNX sessions in onnxruntime, with telemetry disabled and optionally with modified outputs.

Outputs are changed and weights are read without the package `onnx`: a model is a protocol buffer, of which only the
fields that are used here are declared. All others are kept as they are.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


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
    more = _model_type()()
    more.graph.output.add(name=_result_of(_parse(model).graph, operator))
    return model + bytes(more.SerializeToString())  # parsers merge a message with another one that is appended to it


def cut_at(model: bytes, result: str, operator: str) -> bytes:
    """Returns the part of `model` that computes two outputs: the value named `result`, and the result of `operator`.

    onnxruntime runs all nodes, even those that no output depends on. Raises ValueError if there isn't exactly one node
    with that operator.
    """
    parsed = _parse(model)
    outputs = [result, _result_of(parsed.graph, operator)]
    _keep_nodes_for(parsed.graph, set(outputs))
    del parsed.graph.output[:]
    for name in outputs:
        parsed.graph.output.add(name=name)
    return bytes(parsed.SerializeToString())


def cut_from(model: bytes, value: str) -> bytes:
    """Returns the part of `model` after `value`, a named float32 value that becomes its only input.

    Raises ValueError if the outputs also depend on another input.
    """
    parsed = _parse(model)
    graph = parsed.graph
    needed = _keep_nodes_for(graph, {output.name for output in graph.output}, given=value)
    if value not in needed or needed & {one.name for one in graph.input}:
        raise ValueError(f"the model's outputs don't follow from {value} alone")
    weights = [weight for weight in graph.initializer if weight.name in needed]
    del graph.initializer[:]
    graph.initializer.extend(weights)
    del graph.input[:]
    # The type is a TypeProto: in its field 1, a tensor, field 1 is the type of the elements, 1 for float32.
    graph.input.add(name=value, type=b"\x0a\x02\x08\x01")
    return bytes(parsed.SerializeToString())


def weights_of(model: bytes, prefix: str) -> dict[str, np.ndarray]:
    """Returns the float32 weights whose names start with `prefix`, keyed by the rest of the name."""
    found = {}
    for weight in _parse(model).graph.initializer:
        if weight.name.startswith(prefix):
            raw = weight.raw_data
            numbers = np.frombuffer(raw, "<f4") if raw else np.array(weight.float_data, np.float32)
            found[weight.name.removeprefix(prefix)] = numbers.reshape(weight.dims)
    return found


def _keep_nodes_for(graph: Any, needed: set[str], given: str = "") -> set[str]:
    """Removes the nodes that none of the values `needed` needs; returns all values that are needed then.

    `given`: a value that is there without a node.
    """
    kept = []
    for node in reversed(graph.node):  # the nodes are in the order in which they run
        if given not in node.output and needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    kept.reverse()
    del graph.node[:]
    graph.node.extend(kept)
    return needed


def _result_of(graph: Any, operator: str) -> str:
    """Returns the name of the result of the only node with the given operator."""
    names = [node.output[0] for node in graph.node if node.op_type == operator]
    if len(names) != 1:
        raise ValueError(f"the model has {len(names)} nodes {operator}, and not one")
    return str(names[0])


_MESSAGES = {
    "ModelProto": [("graph", 7, "GraphProto", 1)],
    "GraphProto": [
        ("node", 1, "NodeProto", 3),
        ("initializer", 5, "TensorProto", 3),
        ("input", 11, "ValueInfoProto", 3),
        ("output", 12, "ValueInfoProto", 3),
    ],
    "NodeProto": [("input", 1, "string", 3), ("output", 2, "string", 3), ("op_type", 4, "string", 1)],
    "ValueInfoProto": [("name", 1, "string", 1), ("type", 2, "bytes", 1)],
    "TensorProto": [
        ("dims", 1, "int64", 3),
        ("float_data", 4, "float", 3),
        ("name", 8, "string", 1),
        ("raw_data", 9, "bytes", 1),
    ],
}
"""The used part of onnx.proto: each field's name, number, type and label (1: optional, 3: repeated)."""
_TYPES = {"float": 2, "int64": 3, "string": 9, "bytes": 12}


@cache
def _model_type() -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="kame/onnx.proto", package="kame.onnx", syntax="proto2")
    for message, fields in _MESSAGES.items():
        declared = file.message_type.add(name=message)
        for name, number, kind, label in fields:
            field = declared.field.add(name=name, number=number, label=label, type=_TYPES.get(kind, 11))
            if kind in _MESSAGES:
                field.type_name = f".kame.onnx.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("kame.onnx.ModelProto"))


def _parse(model: bytes) -> Any:
    """Returns a model as a message, whose other fields are kept. Raises ValueError where it is none."""
    from google.protobuf.message import DecodeError

    try:
        return _model_type().FromString(model)
    except DecodeError as error:
        raise ValueError("this is no ONNX model") from error
