"""The declaration of a setting: type, default, label, help, section, range, and when it takes effect."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Effect = Literal["now", "restart", "talk", "start"]
"""When a change takes effect: immediately; immediately, by restarting the conversation; with the next conversation; or
on the next start of the app."""
Kind = Literal[
    "switch", "choice", "colour", "device", "model", "number", "slider", "line", "lines", "folder", "folders", "keys"
]
"""The type of editor. `colour`: a choice shown as colours; `device`, `model`: the name of an available one; `slider`: a
number whose magnitude matters more than its digits; `keys`: a key sequence as Qt's portable text, like `Ctrl+Alt+M`."""
Place = Literal["dialog", "file"]
"""Where a setting is changed: in the settings dialog, or elsewhere (another part of the window, or by editing the
file)."""


def tr(text: str) -> str:
    """Marks a user-visible text for translation: Qt's tools look for this name and use the empty context."""
    return text


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the settings dialog: its label, and its section headings by key."""

    label: str
    sections: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of one setting.

    - `section`: the key of the section it appears in.
    - `words`: the label of each choice, if it has choices.
    - `lowest`, `highest`, `step`, `unit`: for numbers.
    - `special`: a number (at or below `lowest`) with a special meaning, and a label for it.
    """

    default: Any
    label: str
    help: str
    section: str
    effect: Effect = "now"
    hint: Kind | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    lowest: float = 0
    highest: float = 0
    step: float = 1
    unit: str = ""
    special: tuple[float, str] | None = None
    place: Place = "dialog"
    name: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The possible values; empty for numbers, switches and free text."""
        return tuple(self.words)

    @property
    def kind(self) -> Kind:
        """The type of editor for it."""
        if isinstance(self.default, bool):
            return "switch"
        if isinstance(self.default, int | float):
            return self.hint or "number"
        return self.hint or ("choice" if self.words else "line")

    @property
    def is_number(self) -> bool:
        """Whether it is a number with a range."""
        return self.kind in ("number", "slider")

    def usable(self, value: Any) -> Any:
        """Returns `value` in valid form: numbers are clamped to the range. Raises ValueError."""
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
    """Returns a dataclass field that declares a setting; `more`: additional fields of `Setting`."""
    return field(default=default, metadata={"declared": Setting(default, label, help, section, **more)})
