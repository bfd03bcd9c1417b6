"""Opens models with onnxruntime, without the reports that it makes of their use."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def import_onnxruntime() -> Any:
    """The library, its reports switched off: on Linux `app/__init__.py` has done so, on Windows only a call does."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_onnx(model: Path | str, *, errors_only: bool = False) -> Any:
    """The session of an ONNX file, on one core of the CPU. `errors_only`: it does not warn on standard error."""
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if errors_only:
        options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
