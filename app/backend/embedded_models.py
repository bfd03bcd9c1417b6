"""How the embedded brains are asked: the default one, and others by name with the places of their weights.

A package on the registry may be no larger than some 100 MB, so weights come in pieces; they are put together where
they lie when they are first wanted. Knows nothing of how a model is run.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs

from app.backend.base import BackendError, Traits
from app.installed import demo_command
from app.offline_models import model_path
from app.wholefile import delete_file, move_file

_CHUNK = 1 << 20
_joining = threading.Lock()

TRAITS = Traits(
    concurrent=False,
    history_words=120,
    persona="You answer spoken questions briefly and correctly, in plain words.",
    max_tokens=110,
    temperature=0.0,
    enough_words=24,
    partial_words=10,
    least_interval=2.0,
    free=True,
)
"""Of the default one, which reads some 200 words a second on one core and understands little of a long talk. Its
persona was chosen by ear among three; a small model repeats longer ones. Left alone it would never end. While the user
speaks it is asked seldom, and for a first clause: the last words, which the answer hangs on, are mostly heard in the
pause.
"""

SAMPLING: Mapping[str, Any] = {
    "cache_prompt": True,
    "dry_multiplier": 0.8,
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 96,
    "stop": ["\n1", "\n-", "\n*", "\n#", "1.1"],
}
"""DRY sampling keeps a small model from saying the same phrase again and again; a list ends the answer, since nobody
speaks in lists, and a small model never comes to their end.
"""

_GEMMA_TEMPLATE = (
    "{{ bos_token }}Questions that people ask aloud, each with a short, correct answer in plain words.\n\n"
    "Question: Why is the sky blue?\n"
    "Answer: Air scatters blue light more than red light, so blue light comes to us from all over the sky.\n\n"
    "Question: How can I sleep better?\n"
    "Answer: Go to bed at the same time each night, keep the room dark and cool, and drink no coffee after lunch.\n\n"
    "{% for message in messages %}"
    "{% if message.role == 'user' %}Question: {{ message.content | trim }}\nAnswer:"
    "{% elif message.role == 'assistant' %} {{ message.content | trim }}\n\n{% endif %}"
    "{% endfor %}"
)
"""A model that was never taught to follow instructions goes on with a text: so it is given one that an answer fits."""


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """One of them. `whole` and `pieces`: parts of `app.offline_models`; `digest`: SHA-256 of the whole.

    `template`: how a talk is put before it; `sampling`: what its requests hold besides.
    """

    label: str
    whole: str
    pieces: tuple[str, ...]
    digest: str
    template: str
    sampling: Mapping[str, Any]
    traits: Traits

    def here(self) -> bool:
        """Whether its weights are on this machine, in one piece or in several."""
        return any(place.is_file() for place in self._wholes()) or all(p.is_file() for p in self._pieces())

    def file(self) -> Path:
        """The weights as one file; puts them together first, which takes a second or two. Raises BackendError."""
        with _joining:
            for place in self._wholes():
                if place.is_file():
                    return place
            pieces = self._pieces()
            if not all(piece.is_file() for piece in pieces):
                raise BackendError(
                    f"The model {self.label} is not installed. “{demo_command()}” installs it; "
                    "or choose another brain.",
                    "setup",
                )
            trouble: OSError | None = None
            for place in self._wholes():
                try:
                    join(pieces, place, self.digest)
                    return place
                except OSError as error:
                    trouble = error
            raise BackendError(
                f"The model {self.label} could not be put together ({trouble}). It takes 0.3 GB: make room, or choose "
                "another brain.",
                "setup",
            )

    def _pieces(self) -> list[Path]:
        return [model_path(piece) for piece in self.pieces]

    def _wholes(self) -> list[Path]:
        inside = model_path(self.whole)  # beside the pieces, so that it goes with them; or where the user may write
        own = platformdirs.user_cache_path("kame-desktop", appauthor=False) / inside.name
        return [place for place in (inside, own) if place.is_absolute()]


SECOND = "gemma-3-270m"
"""The name of the brain for the demo, beside the default one."""

MODELS = {
    SECOND: EmbeddedModel(
        label="Gemma 3 270M",
        whole="second brain",
        pieces=tuple(f"second brain, piece {number}" for number in (1, 2, 3, 4)),
        digest="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        template=_GEMMA_TEMPLATE,
        sampling={**SAMPLING, "stop": ["\n", "Question:"]},
        traits=replace(TRAITS, persona="", max_tokens=90),
    )
}  # fmt: skip


def join(pieces: Sequence[Path], whole: Path, digest: str) -> None:
    """Puts `pieces` together to `whole`, which is there only when all of it is, and right. Raises OSError."""
    whole.parent.mkdir(parents=True, exist_ok=True)
    half = whole.with_name(f"{whole.name}.{os.getpid()}.part")
    found = hashlib.sha256()
    try:
        with half.open("wb") as out:
            for piece in pieces:
                with piece.open("rb") as file:
                    while block := file.read(_CHUNK):
                        found.update(block)
                        out.write(block)
        if found.hexdigest() != digest:
            raise OSError("its pieces are not the ones that were tested")
        move_file(half, whole)
    finally:
        delete_file(half, missing_ok=True)
