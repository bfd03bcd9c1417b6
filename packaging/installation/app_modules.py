"""Use modules of the app that need only the standard library, before its packages are installed."""

from __future__ import annotations

import functools
import importlib.util
import os
from pathlib import Path
from types import ModuleType

from installation.exclusion import try_lock


@functools.lru_cache(maxsize=None)
def app_module(name: str) -> ModuleType:
    """Load a module of the folder `app` by its path: importing `app` needs packages that may not be installed yet."""
    path = Path(__file__).resolve().parents[2] / "app" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"kame_desktop_{name.replace('/', '_')}", str(path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def window_is_open() -> bool:
    """Tell whether the app's window is open: it holds a lock meanwhile."""
    lock = os.path.join(app_module("platform/single_instance").folder(), "window.lock")
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)
