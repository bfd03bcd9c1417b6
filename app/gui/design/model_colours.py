"""Assigns each model a colour that stays the same across conversations.

Colours are assigned in the order in which models are first seen. That order is stored in the window's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtGui import QColor

LIGHT = ("#1f5fa8", "#b04a00", "#0b6e66", "#a3246f", "#5b6a1f", "#6d4c41", "#5b4bb5", "#9c2f2f", "#2f6f3e", "#4d5b6b")
DARK = ("#7db3ff", "#f7a95a", "#4fd0bf", "#f28cc6", "#bccb62", "#cfa892", "#b0a3f5", "#f09a94", "#86d096", "#a9b7c6")
"""The colours in both palettes have a contrast ratio of at least 4.5 : 1 against the surface of their theme."""
MOST_KEPT = 200


_names: list[str] = []
_remember: Callable[[list[str]], None] | None = None


def load(names: Iterable[str], remember: Callable[[list[str]], None]) -> None:
    """Sets the names of the models seen so far. `remember` is called with the full list whenever a model is added."""
    global _remember
    _names[:] = list(names)[:MOST_KEPT]
    _remember = remember


def forget() -> None:
    """Stops calling `remember`. Called when the window is destroyed."""
    global _remember
    _remember = None


def place_of(backend: str, model: str) -> int:
    """Returns the index of a model in the list of models seen, adding it if it is new. Returns 0 for an empty name, or
    if the list is full.
    """
    name = (model or backend).lower()
    if name in _names:
        return _names.index(name)
    if not name or len(_names) >= MOST_KEPT:
        return 0
    _names.append(name)
    if _remember is not None:
        _remember(list(_names))
    return len(_names) - 1


def model_colour(backend: str, model: str, dark: bool) -> QColor:
    """Returns a model's colour. Colours are reused once all have been assigned."""
    colours = DARK if dark else LIGHT
    return QColor(colours[place_of(backend, model) % len(colours)])
