"""Classes and types for declaring settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Effect = Literal["now", "restart", "talk", "start"]
"""When a change takes effect: `now`: immediately; `restart`: immediately, by restarting the conversation; `talk`: with
the next conversation; `start`: on the next start of the app."""
Kind = Literal[
    "switch", "choice", "colour", "device", "model", "number", "slider", "line", "lines", "folder", "folders", "keys"
]
"""The type of input widget. `colour`: a choice shown as colours; `device`, `model`: the name of an available device or
model; `slider`: a number whose exact value doesn't matter; `keys`: a key sequence in Qt's portable text format, such as
`Ctrl+Alt+M`."""
Place = Literal["dialog", "file"]
"""Where a setting can be changed. `dialog`: in the settings dialog; `file`: elsewhere in the window, or by editing the
file."""


def tr(text: str) -> str:
    """Marks a user-visible string for translation; Qt's lupdate looks for this function name. The context is empty."""
    return text


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the settings dialog: its label, and its section headings keyed by section."""

    label: str
    sections: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of one setting.

    - `section`: the key of its section in the dialog.
    - `hint`: the type of input widget, if it can't be inferred.
    - `words`: the labels of the choices, keyed by value; `native`: what they are called in other languages.
    - `lowest`, `highest`, `step`, `unit`: the range, increment and unit of a number.
    - `special`: a value at or below `lowest` that has a special meaning, and the label for it.
    - `other_words`: what else users call it, separated by commas, closest first.
    - `presets`: the values of a number that the command palette offers.
    - `less`, `more`: what a step down and a step up are called; the first word is shown, the others are only searched.
    """

    default: Any
    label: str
    help: str
    section: str
    effect: Effect = "now"
    hint: Kind | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    native: Mapping[str, str] = field(default_factory=dict)
    lowest: float = 0
    highest: float = 0
    step: float = 1
    unit: str = ""
    special: tuple[float, str] | None = None
    place: Place = "dialog"
    name: str = ""
    other_words: str = ""
    presets: tuple[float, ...] = ()
    less: str = ""
    more: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed values; empty for numbers, switches and free text."""
        return tuple(self.words)

    @property
    def kind(self) -> Kind:
        """The type of input widget."""
        if isinstance(self.default, bool):
            return "switch"
        if isinstance(self.default, int | float):
            return self.hint or "number"
        return self.hint or ("choice" if self.words else "line")

    @property
    def is_number(self) -> bool:
        """Whether the setting is a number with a range."""
        return self.kind in ("number", "slider")

    def usable(self, value: Any) -> Any:
        """Validates `value`; returns it converted to the right type and, for a number, clamped. Raises ValueError."""
        if isinstance(self.default, float) and type(value) is int and abs(value) < 1e9:
            value = float(value)
        if type(value) is not type(self.default) or (self.words and value not in self.words):
            raise ValueError(f"{self.name} can't be {value!r}")
        if not self.is_number:
            return value
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{self.name} can't be {value!r}")
        if self.special is not None and value < self.lowest:
            return type(self.default)(self.special[0])
        return min(max(value, type(self.default)(self.lowest)), type(self.default)(self.highest))


def setting(default: Any, label: str, help: str, section: str, **more: Any) -> Any:
    """Returns a dataclass field that declares a setting. `more`: further fields of `Setting`."""
    return field(default=default, metadata={"declared": Setting(default, label, help, section, **more)})
