"""Where the front-ends KAME and Moshi get the engine that they step: a process that outlives their conversation."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Protocol

from app.frontend.kame.engine_process import EngineProcess
from app.frontend.kame.messages import LoadRequest
from app.frontend.kame.spoken_words import Pieces, read_pieces
from app.frontend.kame.stream_engine import EngineError, StreamEngine
from app.models.catalogue import ModelError
from app.models.layout import CheckpointFiles
from app.models.pool import MODELS, ModelKey, model_key
from app.platform.supervision import CARD, CardBusyError

POOL = "engine"
"""The pool's name for loaded models of front-ends."""

log = logging.getLogger(__name__)


class EngineSource(Protocol):
    """Lends an engine for one conversation. `progress`: how far loading has come, as a user-facing message."""

    progress: str

    @property
    def loaded_again(self) -> bool:
        """Whether an engine is loaded, after one has failed, and not in use."""
        ...

    def open(self) -> tuple[StreamEngine, Pieces]:
        """Returns a loaded engine with a fresh stream, and its text vocabulary. Raises EngineError."""
        ...

    def close(self, *, failed: bool) -> None:
        """Takes the engine back. `failed`: it has raised EngineError. May be called twice."""
        ...

    def cancel(self) -> None:
        """Makes `open`, on another thread, end soon."""
        ...


class ProcessSource:
    """Lends the process with the model, which the pool keeps from one conversation to the next.

    A process that has failed is ended, which frees the card, and another one is loaded.

    - `files`, `request`: the checkpoint, and how to load it.
    - `real_time`: see `EngineProcess`.
    """

    def __init__(self, files: CheckpointFiles, request: LoadRequest, *, real_time: bool = True) -> None:
        self.progress = ""
        self._files, self._request, self._real_time = files, request, real_time
        self._key = _key_of(files, request)
        self._held = ExitStack()
        self._process: EngineProcess | None = None
        self._cancelled = False

    @property
    def loaded_again(self) -> bool:
        """Whether an engine is loaded, after one has failed, and not in use."""
        return self._process is None and MODELS.holds(POOL)

    def open(self) -> tuple[StreamEngine, Pieces]:
        """Returns a loaded engine with a fresh stream, and its text vocabulary. Raises EngineError."""
        try:
            pieces = read_pieces(self._files.tokenizer)
            self._held.enter_context(CARD.hold(self._request.label))
            self._process = self._kept()
            if self._process is None:
                MODELS.drop(POOL)  # another model or precision: there is no room for two
                self._process = EngineProcess()
                if self._cancelled:
                    raise EngineError("lost", "it was cancelled")
                _load(self._process, self._request, self._note)
                self._process.restart()
            self._process.real_time = self._real_time
        except (ModelError, CardBusyError) as error:
            raise EngineError("refused", str(error)) from error
        return self._process, pieces

    def _kept(self) -> EngineProcess | None:
        """Returns the process from an earlier conversation, if there is one and it still works: a machine that was
        asleep may have lost the card."""
        kept: EngineProcess | None = MODELS.acquire(self._key)
        if kept is not None:
            try:
                kept.restart()
            except EngineError as error:
                log.warning("the model's process no longer works: %s", error)
                kept.close()
                return None
        return kept

    def close(self, *, failed: bool) -> None:
        """Returns the process to the pool, or ends one that has failed and has another one loaded."""
        process, self._process = self._process, None
        if process is not None:
            if process.alive() and not failed:
                MODELS.release(self._key, process)
            else:
                process.close()
                if failed and MODELS.keeps and not self._cancelled:
                    threading.Thread(target=self._reload, name="load the model again", daemon=True).start()
        self._held.close()

    def cancel(self) -> None:
        """Makes `open`, on another thread, end soon."""
        self._cancelled = True
        if (process := self._process) is not None:
            process.close()

    def _reload(self) -> None:
        """Loads the model into the pool."""
        process = EngineProcess()
        try:
            with CARD.hold(self._request.label):
                if MODELS.holds(POOL):  # a conversation was faster; there is no room for two
                    return
                _load(process, self._request, self._note)
                MODELS.release(self._key, process)
        except (EngineError, CardBusyError) as error:
            process.close()
            log.warning("%s could not be loaded again: %s", self._request.label, error)

    def _note(self, facts: dict[str, Any]) -> None:
        label = self._request.label
        if "fit" in facts:
            self.progress = facts["fit"]
        elif "loaded" in facts:
            done, total = facts["loaded"] / 1e9, facts["of"] / 1e9
            self.progress = f"{label} is loading: {done:.1f} of {total:.1f} GB."
        elif facts.get("stage") == "capture":
            self.progress = f"{label} is being prepared on the graphics card."


def _load(process: EngineProcess, request: LoadRequest, note: Callable[[dict[str, Any]], object]) -> None:
    """Loads the model. Until it is known how much of the card that takes, no other model is loaded there."""
    with ExitStack() as planning:
        planning.enter_context(CARD.work(request.label))

        def report(facts: dict[str, Any]) -> None:
            if "fit" in facts:
                planning.close()
            note(facts)

        process.load(request, report)


def _key_of(files: CheckpointFiles, request: LoadRequest) -> ModelKey:
    return model_key(POOL, *files.all, request.device, request.precision, request.context)
