"""Converts dialogues into the token streams that KAME-style models are trained on, and stores them in shards.

A shard is a .npz file with `tokens`, int16 `[streams, frames]`, its dialogues concatenated along the frames, and
`lengths`, the number of frames of each dialogue. A manifest lists the hashes of the shards. The streams, in order:
text, the model's own codes, the user's codes, oracle.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS
from app.frontend.kame.engine.checkpoint import Loaded
from app.models.catalogue import ModelError
from app.platform.files import write_json
from app.research.corpus.dialogue import Dialogue, TimedWord, Vocabulary, oracle_row, text_row
from app.research.corpus.oracle import arrivals, with_arrivals
from app.research.nano.voice_codec import VoiceCodec
from app.research.results import unreadable
from app.untrusted.files import read_json_file
from app.untrusted.limits import CORPUS

MANIFEST = "corpus.json"


@dataclass(frozen=True, slots=True)
class Layout:
    """The number of codebooks of each speaker in a corpus, and the special tokens of its text."""

    own_books: int
    heard_books: int
    padding: int
    start: int

    @property
    def streams(self) -> int:
        return 2 + self.own_books + self.heard_books


@dataclass(slots=True)
class Corpus:
    """A corpus on disk. `hashes`: the SHA-256 of each shard, keyed by file name."""

    folder: Path
    layout: Layout
    hashes: dict[str, str] = field(default_factory=dict)
    frames: int = 0

    def add(self, name: str, dialogues: Sequence[np.ndarray]) -> None:
        """Writes a shard of dialogues, `[streams, frames]` each, and then updates the manifest."""
        path = self.folder / f"{name}.npz"
        np.savez_compressed(
            path,
            tokens=np.concatenate(dialogues, axis=1).astype(np.int16),
            lengths=np.array([tokens.shape[1] for tokens in dialogues]),
        )
        self.hashes[path.name] = _hash(path)
        self.frames += sum(tokens.shape[1] for tokens in dialogues)
        manifest = {"layout": asdict(self.layout), "frames": self.frames, "shards": self.hashes}
        write_json(self.folder / MANIFEST, manifest)

    def dialogues(self) -> Iterator[np.ndarray]:
        """Yields all dialogues, in order of shard name. Raises ModelError if a shard is missing or damaged."""
        for name in sorted(self.hashes):
            yield from self.read(name)

    def read(self, name: str) -> list[np.ndarray]:
        """Reads the dialogues of one shard. Raises ModelError if it is missing or its hash does not match."""
        path = self.folder / name
        if not path.exists() or _hash(path) != self.hashes[name]:
            raise ModelError(f"{path} is missing or was changed since it was made. Make the corpus again.")
        with np.load(path) as shard:
            tokens, lengths = shard["tokens"], shard["lengths"]
        ends = np.cumsum(lengths)
        return [tokens[:, end - length : end] for end, length in zip(ends, lengths, strict=True)]


def open_corpus(folder: Path) -> Corpus:
    """Reads a corpus's manifest. Raises ModelError."""
    sentence = (
        f"There is no corpus in {folder} ({{}}). Make one with “corpus make”, or choose the folder that holds one."
    )
    with unreadable(ModelError, sentence):
        manifest = read_json_file(folder / MANIFEST, CORPUS)
        return Corpus(folder, Layout(**manifest["layout"]), manifest["shards"], manifest["frames"])


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Tokeniser:
    """Converts dialogues into tokens with the codec and vocabulary of `loaded`.

    The frame before a word gets the end-of-padding token, as in the public corpora.
    """

    def __init__(self, loaded: Loaded) -> None:
        lm = loaded.lm
        self.layout = Layout(lm.dep_q, lm.n_q - lm.dep_q, lm.text_padding_token_id, lm.text_initial_token_id)
        self._codec, self._pieces = loaded.mimi, loaded.pieces
        self._vocabulary = Vocabulary(self.layout.padding, self.layout.start)
        self._mark = lm.end_of_text_padding_id

    def tokens(self, dialogue: Dialogue, samples: np.ndarray, draw: random.Random) -> np.ndarray:
        """Returns int16 `[streams, frames]`. `samples`: float32 `[n, 2]`, model on the left. Drops an incomplete last
        frame.
        """
        frames = len(samples) // FRAME_SAMPLES
        sound = torch.from_numpy(np.ascontiguousarray(samples[: frames * FRAME_SAMPLES].T))
        own, user = self._codes(sound[0], sound[1])
        words = [TimedWord(int(word.start / FRAME_SECONDS), word.text) for word in dialogue.of("model")]
        text = text_row(words, self._pieces, self._vocabulary, frames)
        text = with_marks(text, self.layout.padding, self._mark)
        revisions = arrivals(with_arrivals(dialogue.events, draw), draw)
        oracle = oracle_row(revisions, self._pieces, self._vocabulary, frames).tokens
        return np.concatenate([text[None], own, user, oracle[None]]).astype(np.int16)

    @torch.no_grad()
    def _codes(self, own: torch.Tensor, user: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self._codec, VoiceCodec):
            raise ValueError(
                "a voice's codec can't encode its own sound: such corpora are made by `app.research.training.nano`"
            )
        codes = self._codec.encode(torch.stack([own, user])[:, None])
        frames = len(own) // FRAME_SAMPLES
        own_codes, user_codes = codes[0, : self.layout.own_books, :frames], codes[1, : self.layout.heard_books, :frames]
        return own_codes.cpu().numpy(), user_codes.cpu().numpy()


def with_marks(text: np.ndarray, padding: int, mark: int) -> np.ndarray:
    """Returns a copy of `text` with `mark` in the padding frame before each run of text."""
    out = text.copy()
    starts = np.flatnonzero((text[1:] != padding) & (text[:-1] == padding))
    out[starts] = mark
    return out
