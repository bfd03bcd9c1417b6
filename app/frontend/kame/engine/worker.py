"""The process that loads a model and steps it, until it fails or its session's app has ended.

It ends when its standard input does, even in the middle of a call. The session's requests come on a connection of
their own. If anything fails, the process says why and ends, which frees the card for certain.
"""

from __future__ import annotations

import contextlib
import json
import logging
import mmap
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from app.frontend.kame.messages import (
    ENCODE,
    ENCODED,
    FAILED,
    REPLAY,
    RESTART,
    RESTART_LANGUAGE_MODEL,
    RESTARTED,
    SHARED_BYTES,
    SPOKEN,
    ColumnFormat,
    Frames,
    LoadRequest,
    Ready,
    read_request,
)
from app.frontend.kame.stream_engine import EngineError, StreamEngine
from app.models.catalogue import ModelError
from app.platform import nvidia
from app.platform.children import end_with_parent

NO_MEMORY = "can't allocate memory"
"""In torch's message when the machine's own memory runs out."""
Report = Callable[..., None]
"""Called with what to tell the session while the model is loading."""


def main(argv: list[str]) -> int:
    """Serves the session at the other end of the connection and shared memory that `argv` names."""
    end_with_parent()
    connection, memory = _opened(*argv)
    try:
        request = LoadRequest(**json.loads(connection.recv_bytes()))
        serve(connection, Frames(memory), lambda: _loaded(request, lambda **facts: _tell(connection, facts)))
    except EOFError:
        return 0  # the session is gone
    except BaseException as error:
        with contextlib.suppress(OSError):
            connection.send_bytes(bytes([FAILED]) + json.dumps(fault_of(error)).encode())
        return 1
    return 0


def _opened(pipe: str, memory: str) -> tuple[Connection, mmap.mmap]:
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection

        return PipeConnection(int(pipe)), mmap.mmap(-1, SHARED_BYTES, tagname=memory)  # type: ignore[return-value]
    shared = int(memory)
    try:
        return Connection(int(pipe)), mmap.mmap(shared, SHARED_BYTES)
    finally:
        os.close(shared)


def _tell(connection: Connection, facts: dict[str, Any]) -> None:
    connection.send_bytes(json.dumps(facts).encode())


def fault_of(error: BaseException) -> dict[str, str]:
    """Returns the kind of `EngineError` that an exception is, its text, and where it happened."""
    kind, text = "fault", f"{type(error).__name__}: {_first_line(error)}"
    if isinstance(error, EngineError):
        kind, text = error.kind, str(error)
    elif isinstance(error, ModelError):
        kind, text = "refused", str(error)
    elif isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or NO_MEMORY in str(error):
        kind = "memory"
    elif type(error).__name__ == "CaptureError":
        kind, text = "capture", _first_line(error)
    return {"kind": kind, "text": text, "trace": "".join(traceback.format_exception(error))[-6000:]}


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no more is known"])[0].rstrip(".")


def serve(
    connection: Connection,
    frames: Frames,
    loaded: Callable[[], contextlib.AbstractContextManager[tuple[StreamEngine, Ready]]],
) -> None:
    """Loads the engine, says that it is ready, and does what the session asks for until that has ended."""
    with loaded() as (engine, ready):
        _tell(connection, {"ready": ready.document()})
        columns = ColumnFormat(ready.own, ready.heard)
        while (message := _received(connection)) is not None:
            what, silent, oracle, number = read_request(message)
            if what == REPLAY:
                engine.replay(columns.unpack(message)[1])
            elif what == RESTART:
                engine.restart()
                connection.send_bytes(bytes([RESTARTED]))
            elif what == RESTART_LANGUAGE_MODEL:
                engine.restart_language_model()
            else:
                began = time.perf_counter()
                samples = frames.take_in(number)
                if what == ENCODE:
                    [step] = engine.encode(samples)
                else:
                    [step] = engine.step(samples, oracle, silent=silent)
                    frames.put_out(number, step.samples)
                kind = SPOKEN if step.spoken else ENCODED
                connection.send_bytes(columns.pack(kind, step.column, number, time.perf_counter() - began))


def _received(connection: Connection) -> bytes | None:
    """Returns the session's next request, or None at its end."""
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return None


@contextlib.contextmanager
def _loaded(request: LoadRequest, report: Report) -> Iterator[tuple[StreamEngine, Ready]]:
    if request.device != "cpu":
        nvidia.use_best_card()
    import torch

    from app.frontend.kame.engine.checkpoint import load
    from app.frontend.kame.engine.engine import Engine
    from app.frontend.kame.engine.plan import make_plan
    from app.models.layout import read_layout

    began = time.perf_counter()
    files = read_layout(request.folder, quickly=True)
    plan = make_plan(request, files)
    report(fit=plan.sentence)
    models = load(
        files,
        device=plan.device,
        dtype=torch.bfloat16 if plan.device == "cuda" else torch.float32,  # bf16 is slower on a processor
        precision=plan.precision,
        context=plan.context,
        report=lambda done, total: report(loaded=done, of=total),
    )
    report(stage="capture")
    known = ("use_sampling", "temp", "temp_text", "top_k", "top_k_text")
    sampling = {key: models.generation[key] for key in known if key in models.generation}
    engine = Engine(models.lm, models.mimi, sampling=sampling)
    del models
    with engine:
        tokens = engine.tokens
        ready = Ready(
            device=plan.device,
            precision=plan.precision,
            context=engine.context,
            step_seconds=engine.step_seconds,
            silence=engine.silence,
            own=engine.lm.dep_q,
            heard=engine.lm.n_q - engine.lm.dep_q,
            padding=tokens.padding,
            start=tokens.start,
            vocabulary=tokens.vocabulary,
            silent=tuple(sorted(tokens.silent)),
            load_seconds=round(time.perf_counter() - began, 2),
            loaded_bytes=sum(path.stat().st_size for path in files.all),
            card_bytes=torch.cuda.memory_reserved() if plan.device == "cuda" else 0,
            notes=plan.notes,
        )
        yield engine, ready


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    raise SystemExit(main(sys.argv[1:]))
