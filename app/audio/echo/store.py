"""Keeps on disk what was learned of the echo, by pairs of devices, for the next talk's beginning.

Impulse responses and clock drifts only: nothing in the file was said by anybody. It may be deleted at any time.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.audio.devices.drift import MOST_PPM
from app.audio.echo.adaptive_filter import HOP, PARTITIONS
from app.audio.echo.known_path import KnownEchoPath
from app.platform.atomic_files import whole_file

MOST_PAIRS = 8
"""Those that were used last: 23 kB each."""

_log = logging.getLogger(__name__)


class EchoStore:
    """An `EchoMemory` in the file `path`, which is read when this is made and written by `save`. None: in memory alone.

    A file that can't be read or written costs what was learned, and nothing else: the log tells.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, KnownEchoPath] = {}
        self._changed = False
        self.pair: Callable[[], str] = str
        if path is None:
            return
        try:
            # Opened here: NumPy leaves a file open that turns out to be broken.
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                for pair, response, drift in zip(file["pairs"], file["responses"], file["drifts"], strict=True):
                    if response.shape == (PARTITIONS * HOP,) and np.isfinite(response).all() and abs(drift) <= MOST_PPM:
                        self._known[str(pair)] = KnownEchoPath(response.astype(np.float32), float(drift))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            _log.warning("What was known of the echo can't be read (%s): it is learned anew.", type(error).__name__)

    def recall(self, pair: str) -> KnownEchoPath | None:
        """See `EchoMemory`."""
        return self._known.get(pair)

    def keep(self, pair: str, known: KnownEchoPath) -> None:
        """See `EchoMemory`."""
        self._known.pop(pair, None)
        self._known[pair] = known
        for oldest in list(self._known)[:-MOST_PAIRS]:
            del self._known[oldest]
        self._changed = True

    def save(self) -> None:
        """See `EchoMemory`."""
        if self._path is None or not self._changed:
            return
        self._changed = False
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(self._path) as file:
                np.savez(
                    file,
                    pairs=np.array(list(self._known)),
                    responses=np.array([known.response for known in self._known.values()], np.float16),
                    drifts=np.array([known.drift_ppm for known in self._known.values()], np.float32),
                )
        except OSError as error:
            _log.warning("What was learned of the echo can't be kept (%s).", type(error).__name__)
