"""Functions that take ONNX models apart: into one that ends at a value, one that begins there, and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.models.onnx import parse, result_of


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


def weights_of(model: bytes, prefix: str) -> dict[str, np.ndarray]:
    """Returns the float32 weights whose names start with `prefix`, keyed by the remainder of the name."""
    found = {}
    for weight in parse(model).graph.initializer:
        if weight.name.startswith(prefix):
            raw = weight.raw_data
            numbers = np.frombuffer(raw, "<f4") if raw else np.array(weight.float_data, np.float32)
            found[weight.name.removeprefix(prefix)] = numbers.reshape(weight.dims)
    return found


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
