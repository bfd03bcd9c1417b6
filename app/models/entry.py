"""The records of the catalogue: a model, its source, and its files with sizes and digests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["frontend", "stt", "endpointing", "llm", "tts"]
KINDS: tuple[Kind, ...] = ("frontend", "stt", "endpointing", "llm", "tts")

ANY = "*"
"""In `Model.languages`: the model was trained on many languages, and is given or detects the one in use."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, by its name below the model's folder.

    `source`: in packages, the files to join in this order, each as PACKAGE/PATH; on the hub, its one path in the
    repository.
    """

    name: str
    bytes: int
    sha256: str
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelVoice:
    """One of several voices of a model, by the engine's name for it.

    `language`: its two letters; `accent`: the language in the notation of the engine or espeak-ng. `gain`: decibels
    that make it as loud as the other voices.
    """

    name: str
    label: str
    language: str
    accent: str
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Packages:
    """Wheels of the package registry, pinned by hash in `packaging/locks/<lock>`.

    `code`: the wheels hold the engine's code, too, so they are kept as they are, with `Model.files` inside them.
    """

    lock: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on the hub. Without a `revision` its newest files are used, with the digests that the hub lists."""

    repository: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    `engine`: the library that runs it. `main`: the file that its engine loads; empty: the folder of all its files.
    `memory`: bytes that it takes when it is loaded. `right`: how many of the 120 questions of `bench facts` it answers
    correctly when they are typed; 0: not measured. `note`: what else the user should know before choosing it. `voices`:
    of a model that has several.
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
        """The size of its download; exact except for packages with code."""
        return self.size or sum(file.bytes for file in self.files)

    def speaks(self, language: str) -> bool:
        """Returns whether it can be used in a language, given by its two letters."""
        return ANY in self.languages or language in self.languages
