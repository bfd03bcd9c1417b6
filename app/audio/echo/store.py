"""Stores learned echo paths on disk for each pair of devices, for use at the start of the next session.

The file contains only impulse responses and clock drifts, no speech. It may be deleted at any time.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.audio.echo.adaptive_filter import PARTITIONS
from app.audio.echo.known_path import HOP, KnownEchoPath
from app.audio.io.clock_loop import MOST_PPM
from app.platform.files import private_folder, whole_file

MOST_PAIRS = 8
"""Maximum number of device pairs; the least recently stored are dropped. Each takes 23 kB."""

_log = logging.getLogger(__name__)


class EchoStore:
    """Echo paths in the file `path`, read by the constructor and written by `save`; in memory only if `path` is None.

    Errors in reading or writing the file are only logged; unreadable paths are relearned.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, KnownEchoPath] = {}
        self._changed = False
        self.pair: Callable[[], str] = str
        """Returns a key for the microphone and loudspeaker currently in use."""
        if path is None:
            return
        try:
            # Opened explicitly, because NumPy doesn't close a malformed file.
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                for pair, response, drift in zip(file["pairs"], file["responses"], file["drifts"], strict=True):
                    if response.shape == (PARTITIONS * HOP,) and np.isfinite(response).all() and abs(drift) <= MOST_PPM:
                        self._known[str(pair)] = KnownEchoPath(response.astype(np.float32), float(drift))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            _log.warning("The stored echo paths can't be read (%s): they are learned again.", type(error).__name__)

    def get(self, pair: str) -> KnownEchoPath | None:
        """Returns the echo path for a pair of devices, or None."""
        return self._known.get(pair)

    def put(self, pair: str, known: KnownEchoPath) -> None:
        """Sets the echo path for a pair of devices; `save` writes it to disk."""
        self._known.pop(pair, None)
        self._known[pair] = known
        for oldest in list(self._known)[:-MOST_PAIRS]:
            del self._known[oldest]
        self._changed = True

    def save(self) -> None:
        """Writes the file if anything has changed."""
        if self._path is None or not self._changed:
            return
        self._changed = False
        try:
            private_folder(self._path.parent)
            with whole_file(self._path) as file:
                np.savez(
                    file,
                    pairs=np.array(list(self._known)),
                    responses=np.array([known.response for known in self._known.values()], np.float16),
                    drifts=np.array([known.drift_ppm for known in self._known.values()], np.float32),
                )
        except OSError as error:
            _log.warning("The learned echo paths can't be stored (%s).", type(error).__name__)
