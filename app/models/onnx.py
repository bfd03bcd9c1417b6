"""Opens models with onnxruntime, with its telemetry switched off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.models.onnx_outputs import with_output_of


def import_onnxruntime() -> Any:
    """Return the library without telemetry: on Linux `app/__init__.py` disables it, on Windows only this call does."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_onnx(model: Path | str, *, errors_only: bool = False, threads: int = 1, output_of: str = "") -> Any:
    """Return a session of an ONNX file on the CPU.

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
