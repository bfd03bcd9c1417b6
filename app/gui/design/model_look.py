"""One name and one colour for each model, the same everywhere in the window.

A model is its back-end's name, as events give it, and its own id. So neither depends on the window's language. A model
gets a colour when it is first used, not when it is listed, and keeps it: the assignments are stored in the window's
state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor

from app.gui.design.theme import tokens
from app.services.model_service import language_model_labels

LIGHT = ("#1f5fa8", "#b04a00", "#0b6e66", "#a3246f", "#5b6a1f", "#6d4c41", "#5b4bb5", "#9c2f2f", "#2f6f3e", "#4d5b6b")
DARK = ("#7db3ff", "#f7a95a", "#4fd0bf", "#f28cc6", "#bccb62", "#cfa892", "#b0a3f5", "#f09a94", "#86d096", "#a9b7c6")
"""The colours in both palettes have a contrast ratio of at least 4.5 : 1 against the surface of their theme."""
MOST_KEPT = 200

MODEL_STYLE = "model"
"""Before a colour's number in the kind of a piece of text in a card."""

ModelId = tuple[str, str]
"""A back-end's name, and the model's own id there."""

_places: dict[ModelId, int] = {}
"""The index of each model's colour, in the order of first use."""
_server_names: dict[str, str] = {}
_remember: Callable[[list[Any]], None] | None = None


def load(kept: Iterable[Any], remember: Callable[[list[Any]], None]) -> None:
    """Restores the colours from the window's state. `remember` gets all of them whenever a model is added."""
    global _remember
    _places.clear()
    for row in kept:
        match row:
            case [str(backend), str(model), int(place)] if 0 <= place < len(LIGHT):
                _places[backend, model] = place
    _remember = remember


def forget() -> None:
    """Stops calling `remember`. Called when the window is destroyed."""
    global _remember
    _remember = None


def set_server_names(names: Mapping[str, str]) -> None:
    """Sets what the user calls their servers, by the names that events have for them: host and port."""
    _server_names.clear()
    _server_names.update(names)


def backend_name(backend: str) -> str:
    """Returns the display name of a back-end: what the user calls the server, or the provider's name."""
    return _server_names.get(backend) or QCoreApplication.translate("", backend)


def model_name(backend: str, model: str) -> str:
    """Returns the display name of a model, or of its back-end if the model is unknown."""
    return language_model_labels().get(model, model) or backend_name(backend)


def model_words(backend: str, model: str) -> str:
    """Returns the display name of a model followed by its back-end, such as "gemma3 (Ollama)"; either may be empty."""
    name, by = model_name(backend, model), backend_name(backend)
    return f"{name} ({by})" if model and backend else name or by


def known_colour(backend: str, model: str) -> QColor | None:
    """Returns a model's colour, or None if it has not been used yet."""
    place = _places.get((backend, model))
    return colour_at(place, dark=tokens().dark) if place is not None else None


def colour_at(place: int, *, dark: bool) -> QColor:
    """Returns the colour of this number in the light or dark palette."""
    colours = DARK if dark else LIGHT
    return QColor(colours[place % len(colours)])


def model_style(backend: str, model: str) -> str:
    """Returns the style of text in the colour of a model that is in use; see `MODEL_STYLE`."""
    model_colour(backend, model)
    return f"{MODEL_STYLE}{_places.get((backend, model), 0)}"


def model_colour(backend: str, model: str) -> QColor:
    """Returns the colour of a model that is in use; assigns one that is free, or the one that fewest others have."""
    key = backend, model
    if not any(key) or (key not in _places and len(_places) >= MOST_KEPT):
        return QColor(tokens().dim)
    if key not in _places:
        taken = Counter(_places.values())
        _places[key] = min(range(len(LIGHT)), key=lambda place: taken[place])
        if _remember is not None:
            _remember([[*one, place] for one, place in _places.items()])
    return colour_at(_places[key], dark=tokens().dark)
