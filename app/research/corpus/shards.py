"""Shards: files of dialogues as tokens, with a manifest that names their hashes.

A shard is a .npz file with `tokens`, int16 `[streams, frames]` of all its dialogues one after another, and `lengths`,
the frames of each. Streams: text, the model's own codes, the user's codes, oracle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from app.models.errors import ModelError
from app.untrusted.files import read_json_file
from app.untrusted.limits import CORPUS

MANIFEST = "corpus.json"


@dataclass(frozen=True, slots=True)
class Layout:
    """How many streams of each kind a corpus has, and the special tokens of its text."""

    own_books: int
    heard_books: int
    padding: int
    start: int

    @property
    def streams(self) -> int:
        return 2 + self.own_books + self.heard_books


@dataclass(slots=True)
class Corpus:
    """A corpus on disk. `hashes`: SHA-256 of each shard by its name."""

    folder: Path
    layout: Layout
    hashes: dict[str, str] = field(default_factory=dict)
    frames: int = 0

    def add(self, name: str, dialogues: Sequence[np.ndarray]) -> None:
        """Writes a shard of dialogues, `[streams, frames]` each, and then the manifest."""
        path = self.folder / f"{name}.npz"
        np.savez_compressed(
            path,
            tokens=np.concatenate(dialogues, axis=1).astype(np.int16),
            lengths=np.array([tokens.shape[1] for tokens in dialogues]),
        )
        self.hashes[path.name] = _hash(path)
        self.frames += sum(tokens.shape[1] for tokens in dialogues)
        manifest = {"layout": asdict(self.layout), "frames": self.frames, "shards": self.hashes}
        temporary = self.folder / f"{MANIFEST}.new"
        temporary.write_text(json.dumps(manifest, indent=1), "utf-8")
        temporary.replace(self.folder / MANIFEST)

    def dialogues(self) -> Iterator[np.ndarray]:
        """Yields all dialogues, in the order of the shards' names. Raises ModelError where a shard is damaged."""
        for name in sorted(self.hashes):
            yield from self.read(name)

    def read(self, name: str) -> list[np.ndarray]:
        """The dialogues of one shard. Raises ModelError when it is missing or not what was written."""
        path = self.folder / name
        if not path.exists() or _hash(path) != self.hashes[name]:
            raise ModelError(f"{path} is missing or was changed since it was made. Make the corpus again.")
        with np.load(path) as shard:
            tokens, lengths = shard["tokens"], shard["lengths"]
        ends = np.cumsum(lengths)
        return [tokens[:, end - length : end] for end, length in zip(ends, lengths, strict=True)]


def open_corpus(folder: Path) -> Corpus:
    """Reads a corpus's manifest. Raises ModelError."""
    try:
        manifest = read_json_file(folder / MANIFEST, CORPUS)
        return Corpus(folder, Layout(**manifest["layout"]), manifest["shards"], manifest["frames"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"There is no corpus in {folder} ({type(error).__name__}). Make one with “corpus make”, or choose the "
            "folder that holds one."
        ) from error


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
