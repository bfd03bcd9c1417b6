"""Assigns each model a colour that stays the same across conversations.

The assignment follows the order in which models were first seen, which is stored in the window's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtGui import QColor

LIGHT = ("#1f5fa8", "#b04a00", "#0b6e66", "#a3246f", "#5b6a1f", "#6d4c41", "#5b4bb5", "#9c2f2f", "#2f6f3e", "#4d5b6b")
DARK = ("#7db3ff", "#f7a95a", "#4fd0bf", "#f28cc6", "#bccb62", "#cfa892", "#b0a3f5", "#f09a94", "#86d096", "#a9b7c6")
"""Both palettes have a contrast of at least 4.5 : 1 against their theme's surface."""
MOST_KEPT = 200


def _forget(names: list[str]) -> None:
    """Stores nothing; used until `load` is called."""


_names: list[str] = []
_remember: Callable[[list[str]], None] = _forget


def load(names: Iterable[str], remember: Callable[[list[str]], None]) -> None:
    """Sets the names of models seen earlier; `remember` is called with the full list whenever one is added."""
    global _remember
    _names[:] = list(names)[:MOST_KEPT]
    _remember = remember


def forget() -> None:
    """Stops storing new models, because the window has been destroyed."""
    global _remember
    _remember = _forget


def place_of(backend: str, model: str) -> int:
    """Returns the index of a model among all models seen, adding it if it is new; 0 if it has no name or the list is
    full.
    """
    name = (model or backend).lower()
    if name in _names:
        return _names.index(name)
    if not name or len(_names) >= MOST_KEPT:
        return 0
    _names.append(name)
    _remember(list(_names))
    return len(_names) - 1


def model_colour(backend: str, model: str, dark: bool) -> QColor:
    """Returns a model's colour. Colours repeat once all have been assigned."""
    colours = DARK if dark else LIGHT
    return QColor(colours[place_of(backend, model) % len(colours)])
