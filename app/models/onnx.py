"""Functions that open ONNX models in onnxruntime, without telemetry, read them, and take them apart.

The `onnx` package isn't required: a model is a protobuf message, and the fields used here are declared in this module.
All other fields are preserved.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


def import_onnxruntime() -> Any:
    """Imports onnxruntime and disables its telemetry, which on Linux `app/__init__.py` has already done."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_onnx(model: Path | str | bytes, *, errors_only: bool = False, threads: int = 1, output_of: str = "") -> Any:
    """Opens a CPU session for an ONNX file or an in-memory model.

    - `errors_only`: suppresses warnings on standard error.
    - `threads`: the number of threads per operator.
    - `output_of`: an operator whose result becomes an additional output; see `with_output_of`.
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
    session._model_bytes = None  # only used to reopen the model, and doubles the memory usage
    return session


def with_output_of(model: bytes, operator: str) -> bytes:
    """Returns `model` with an additional output: the result of its only node with the given operator.

    Raises ValueError if there isn't exactly one such node.
    """
    more = _model_type()()
    more.graph.output.add(name=result_of(parse(model).graph, operator))
    return model + bytes(more.SerializeToString())  # concatenated protobuf messages are merged when parsed


def result_of(graph: Any, operator: str) -> str:
    """Returns the name of the result of the only node with the given operator. Raises ValueError."""
    names = [node.output[0] for node in graph.node if node.op_type == operator]
    if len(names) != 1:
        raise ValueError(f"the model has {len(names)} nodes {operator}, and not one")
    return str(names[0])


def cut_at(model: bytes, result: str, operator: str) -> bytes:
    """Returns the part of `model` that computes the value named `result` and the result of the node with `operator`.

    This saves time, since onnxruntime runs all nodes, including those on which no output depends. Raises ValueError
    unless exactly one node has that operator.
    """
    parsed = parse(model)
    outputs = [result, result_of(parsed.graph, operator)]
    _keep_nodes_for(parsed.graph, set(outputs))
    del parsed.graph.output[:]
    for name in outputs:
        parsed.graph.output.add(name=name)
    return bytes(parsed.SerializeToString())


def cut_from(model: bytes, value: str) -> bytes:
    """Returns the part of `model` downstream of the float32 value named `value`, which becomes its only input.

    Raises ValueError if the outputs also depend on other inputs.
    """
    parsed = parse(model)
    graph = parsed.graph
    needed = _keep_nodes_for(graph, {output.name for output in graph.output}, given=value)
    if value not in needed or needed & {one.name for one in graph.input}:
        raise ValueError(f"the model's outputs don't follow from {value} alone")
    weights = [weight for weight in graph.initializer if weight.name in needed]
    del graph.initializer[:]
    graph.initializer.extend(weights)
    del graph.input[:]
    # A serialized TypeProto: its field 1 is a tensor type, whose field 1 is the element type (1 for float32).
    graph.input.add(name=value, type=b"\x0a\x02\x08\x01")
    return bytes(parsed.SerializeToString())


def input_of(model: bytes, node: str) -> str:
    """Returns the name of the first input of the only node named `node`. Raises ValueError."""
    names = [one.input[0] for one in parse(model).graph.node if one.name == node]
    if len(names) != 1:
        raise ValueError(f"the model has {len(names)} nodes {node}, and not one")
    return str(names[0])


def weights_of(model: bytes, prefix: str) -> dict[str, np.ndarray]:
    """Returns the float32 weights whose names start with `prefix`, keyed by the remainder of the name."""
    found = {}
    for weight in parse(model).graph.initializer:
        if weight.name.startswith(prefix):
            raw = weight.raw_data
            numbers = np.frombuffer(raw, "<f4") if raw else np.array(weight.float_data, np.float32)
            found[weight.name.removeprefix(prefix)] = numbers.reshape(weight.dims)
    return found


_MESSAGES = {
    "ModelProto": [("graph", 7, "GraphProto", 1)],
    "GraphProto": [
        ("node", 1, "NodeProto", 3),
        ("initializer", 5, "TensorProto", 3),
        ("input", 11, "ValueInfoProto", 3),
        ("output", 12, "ValueInfoProto", 3),
    ],
    "NodeProto": [
        ("input", 1, "string", 3),
        ("output", 2, "string", 3),
        ("name", 3, "string", 1),
        ("op_type", 4, "string", 1),
    ],
    "ValueInfoProto": [("name", 1, "string", 1), ("type", 2, "bytes", 1)],
    "TensorProto": [
        ("dims", 1, "int64", 3),
        ("float_data", 4, "float", 3),
        ("name", 8, "string", 1),
        ("raw_data", 9, "bytes", 1),
    ],
}
"""The parts of onnx.proto that are used here: name, number, type and label (1: optional, 3: repeated) of each field."""
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


def parse(model: bytes) -> Any:
    """Parses a model as a protobuf message. Raises ValueError if it isn't an ONNX model."""
    from google.protobuf.message import DecodeError

    try:
        return _model_type().FromString(model)
    except DecodeError as error:
        raise ValueError("this is no ONNX model") from error


def _keep_nodes_for(graph: Any, needed: set[str], given: str = "") -> set[str]:
    """Removes all nodes that don't contribute to the values in `needed`; returns all values that are still used.

    `given`: a value to be provided as an input, so that the node computing it is removed too.
    """
    kept = []
    for node in reversed(graph.node):  # nodes are in topological order
        if given not in node.output and needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    kept.reverse()
    del graph.node[:]
    graph.node.extend(kept)
    return needed
