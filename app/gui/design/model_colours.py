"""Gives each model a colour of its own, which stays the same from conversation to conversation.

The order in which models were first met decides; it is kept in the window's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtGui import QColor

LIGHT = ("#1f5fa8", "#b04a00", "#0b6e66", "#a3246f", "#5b6a1f", "#6d4c41", "#5b4bb5", "#9c2f2f", "#2f6f3e", "#4d5b6b")
DARK = ("#7db3ff", "#f7a95a", "#4fd0bf", "#f28cc6", "#bccb62", "#cfa892", "#b0a3f5", "#f09a94", "#86d096", "#a9b7c6")
"""All have 4.5 : 1 at least against the surface of their theme."""
MOST_KEPT = 200


def _forget(names: list[str]) -> None:
    """Keeps nothing, before `load`."""


_names: list[str] = []
_remember: Callable[[list[str]], None] = _forget


def load(names: Iterable[str], remember: Callable[[list[str]], None]) -> None:
    """Sets the names of the models that were met earlier; `remember` is called with all names when one is added."""
    global _remember
    _names[:] = list(names)[:MOST_KEPT]
    _remember = remember


def forget() -> None:
    """Remembers no more models: the window is gone."""
    global _remember
    _remember = _forget


def place_of(backend: str, model: str) -> int:
    """The place of a model among all that were met; a new one is added."""
    name = (model or backend).lower()
    if name in _names:
        return _names.index(name)
    if not name or len(_names) >= MOST_KEPT:
        return 0
    _names.append(name)
    _remember(list(_names))
    return len(_names) - 1


def model_colour(backend: str, model: str, dark: bool) -> QColor:
    """The colour of a model. After the last colour the first one is used again."""
    colours = DARK if dark else LIGHT
    return QColor(colours[place_of(backend, model) % len(colours)])
