"""What the window knows of models: a page lists them, and has them fetched, checked, removed and used."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

ModelKind = Literal["frontend", "stt", "endpointing", "llm", "tts"]
ModelState = Literal["here", "installed", "incomplete", "absent"]


@dataclass(frozen=True, slots=True)
class VoiceView:
    """One voice of a model that has several. `key`: what the settings name it by; `language`: its two letters."""

    key: str
    label: str
    language: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model as a list shows it.

    `languages`: their two letters, or "*" for many. `state`: "installed" came with the app and stays. `speed`: what was
    measured on this machine, in words; empty: not yet. `right`: of 120 questions of `bench facts`; 0: not measured.
    `fits`: why it should not be used here, in a sentence; empty when nothing speaks against it. `default`: it is used
    where the user has chosen none. `voices`: of a model that has several.
    """

    key: str
    kind: ModelKind
    label: str
    languages: tuple[str, ...]
    bytes: int
    licence: str
    state: ModelState
    speed: str = ""
    right: int = 0
    note: str = ""
    fits: str = ""
    default: bool = False
    voices: tuple[VoiceView, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it is on this machine, whole."""
        return self.state in ("here", "installed")


class ModelLibrary(Protocol):
    """Does what the page of models asks for. All methods block, may be called on any thread, and raise UserError."""

    def models(self) -> tuple[ModelView, ...]:
        """All of the catalogue, with their states."""
        ...

    def best(self, language: str) -> ModelView | None:
        """The best language model that this machine runs in time; measures its speed first if it is not known. None
        when the smallest is all that it runs, or nothing could be measured.
        """
        ...

    def get(self, key: str, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        """Fetches a model and measures how fast it is here; `report` gets words and a share done."""
        ...

    def check(self, key: str) -> str:
        """Reads all of a model and compares it; a sentence."""
        ...

    def remove(self, key: str) -> str:
        """Deletes a model; a sentence."""
        ...

    def sample(self, voice: str) -> np.ndarray:
        """What a voice sounds like, by its key or its model's: a short text in its language, float32 mono 24 kHz."""
        ...
