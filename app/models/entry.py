"""What the catalogue says of one model: what it is, where it comes from, and how each of its files can be checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["frontend", "stt", "endpointing", "llm", "tts"]
KINDS: tuple[Kind, ...] = ("frontend", "stt", "endpointing", "llm", "tts")

ANY = "*"
"""In `Model.languages`: it was trained on many languages, and is told or finds out which one it hears or reads."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, named below the model's folder.

    `source`: in packages, the files that make it when they are joined in this order, each as PACKAGE/PATH; on the hub,
    its one path in the repository.
    """

    name: str
    bytes: int
    sha256: str
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelVoice:
    """One of several voices of a model, by the engine's name for it.

    `language`: its two letters; `accent`: the language as the engine or espeak-ng is told it. `gain`: decibels that
    make it as loud as the other voices.
    """

    name: str
    label: str
    language: str
    accent: str
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Packages:
    """Wheels of the package registry, pinned by hash in `packaging/locks/<lock>`.

    `code`: the wheels hold the engine's code too, so they are kept as they are, and `Model.files` lie inside them.
    """

    lock: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on the hub. Without a `revision` its newest files are taken, with the digests that the hub names."""

    repository: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    `engine`: what runs it. `main`: the file that its engine is given; empty: the folder of all its files. `memory`:
    bytes that it takes when it is loaded. `right`: how many of the 120 questions of `bench facts` it answers rightly,
    typed; 0: not measured. `note`: what else a user should know before choosing it. `voices`: of a model that has
    several.
    """

    key: str
    kind: Kind
    label: str
    engine: str
    languages: tuple[str, ...]
    licence: str
    source: Packages | Hub
    files: tuple[ModelFile, ...] = ()
    main: str = ""
    size: int = 0
    memory: int = 0
    right: int = 0
    note: str = ""
    voices: tuple[ModelVoice, ...] = ()

    @property
    def bytes(self) -> int:
        """What its download brings: exactly, but for packages with code."""
        return self.size or sum(file.bytes for file in self.files)

    def speaks(self, language: str) -> bool:
        """Whether it can be used in a language, given by its two letters."""
        return ANY in self.languages or language in self.languages
