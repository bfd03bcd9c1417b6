"""Engines for tests: in this process, where their models can be hooked, rather than in one of their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from app.frontend.kame.engine.checkpoint import Loaded
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.spoken_words import Pieces
from app.frontend.kame.stream_engine import StreamEngine


class InProcess:
    """A source that loads the models with `load` and steps them here, greedily unless `sampling` says otherwise."""

    progress, loaded_again = "", False

    def __init__(self, load: Callable[[], Loaded], sampling: dict[str, Any] | None = None) -> None:
        self._load = load
        self._sampling = {"use_sampling": False} if sampling is None else sampling
        self._stack = ExitStack()
        self.engine: Engine | None = None

    def open(self) -> tuple[StreamEngine, Pieces]:
        loaded = self._load()
        self.engine = self._stack.enter_context(Engine(loaded.lm, loaded.mimi, sampling=self._sampling))
        return self.engine, loaded.pieces

    def close(self, *, failed: bool) -> None:
        self.engine = None
        self._stack.close()

    def cancel(self) -> None: ...
