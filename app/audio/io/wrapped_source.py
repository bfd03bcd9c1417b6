"""A base class for sources that change the sound of another source."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import numpy as np

from app.audio.io.base import AudioSource


class WrappedSource:
    """An `AudioSource` that passes everything on to `source`; subclasses override what they change."""

    def __init__(self, source: AudioSource) -> None:
        self._source = source

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def overruns(self) -> int:
        return self._source.overruns

    @property
    def backlog(self) -> int:
        return self._source.backlog

    def read_frame(self, timeout: float) -> np.ndarray | None:
        return self._source.read_frame(timeout)

    def drop_to_newest(self) -> int:
        return self._source.drop_to_newest()

    def __enter__(self) -> Self:
        self._source.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.__exit__(kind, error, trace)
