"""Loads cuBLAS, which CTranslate2 needs to use a graphics card, from the installed packages.

CTranslate2 opens the library by its name alone, so it must be in the process already. torch would load it, but takes
seconds to import and holds memory on the card.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

_PLACES = {
    "linux": ("nvidia", "cublas/lib", ("libcublasLt.so.12", "libcublas.so.12")),
    "win32": ("torch", "lib", ("cublasLt64_12.dll", "cublas64_12.dll")),
}
"""The package that contains the libraries, their folder in it, and their names. The second one needs the first."""

_log = logging.getLogger(__name__)


def load_cublas() -> None:
    """Loads the libraries if they are installed. If not, CTranslate2 raises RuntimeError on its first use of a card."""
    for folder, names in _folders():
        if not all((folder / name).is_file() for name in names):
            continue
        try:
            if sys.platform == "win32":
                os.add_dll_directory(str(folder))
            for name in names:
                ctypes.CDLL(str(folder / name))
            return
        except OSError as error:
            _log.warning("cuBLAS could not be loaded from %s: %s", folder, error)


def _folders() -> Iterator[tuple[Path, tuple[str, ...]]]:
    if sys.platform not in _PLACES:
        return
    package, folder, names = _PLACES[sys.platform]
    with suppress(ValueError):  # a module that is loaded, but not from a package
        found = find_spec(package)  # doesn't import it
        for place in (found and found.submodule_search_locations) or ():
            yield Path(place) / folder, names
