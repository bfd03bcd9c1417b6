"""Opens models with onnxruntime, without the reports that it makes of their use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.models.onnx_outputs import with_output_of


def import_onnxruntime() -> Any:
    """The library, its reports switched off: on Linux `app/__init__.py` has done so, on Windows only a call does."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_onnx(model: Path | str, *, errors_only: bool = False, threads: int = 1, output_of: str = "") -> Any:
    """The session of an ONNX file, on the CPU, on one core unless `threads` says otherwise.

    `errors_only`: it does not warn on standard error. `output_of`: an operator that the model has one node of, whose
    result comes as one more output; raises ValueError when there is not exactly one.
    """
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    if errors_only:
        options.log_severity_level = 4
    source = with_output_of(Path(model).read_bytes(), output_of) if output_of else str(model)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # which it keeps to open the model anew elsewhere: as much memory again
    return session
