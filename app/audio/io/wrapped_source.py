"""A source over another one: what most that change its sound have in common."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import numpy as np

from app.audio.io.base import AudioSource


class WrappedSource:
    """`source` itself, as an `AudioSource`: for those to build on that change only some of it."""

    def __init__(self, source: AudioSource) -> None:
        self._source = source

    @property
    def name(self) -> str:
        """The source's name."""
        return self._source.name

    @property
    def overruns(self) -> int:
        """See `AudioSource`."""
        return self._source.overruns

    @property
    def backlog(self) -> int:
        """See `AudioSource`."""
        return self._source.backlog

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """See `AudioSource`."""
        return self._source.read_frame(timeout)

    def drop_to_newest(self) -> int:
        """See `AudioSource`."""
        return self._source.drop_to_newest()

    def __enter__(self) -> Self:
        self._source.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.__exit__(kind, error, trace)
