"""A spoken dialogue for training: who said which word when, what the oracle held when, its files, and its token rows.

A corpus is on disk before it is made into tokens: `dialogues/NAME.json` holds words and oracle, `sound/NAME.flac` the
stereo sound, the model on the left and the user on the right. A dialogue is there whole or not at all.

The token rows are one token a frame of 80 ms for the oracle, and one for the model's own text. Both follow what a
session does: the newest revision that has words is fed from its start, one token a frame, and words that have not
arrived are not there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.frontend.kame.spoken_words import SPACE, Pieces
from app.models.catalogue import ModelError
from app.platform.files import write_json
from app.untrusted.files import read_json_file
from app.untrusted.limits import CORPUS_LINE

DIALOGUES, SOUND = "dialogues", "sound"


class CorpusFolder:
    """The dialogues of one corpus, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """The names of all dialogues, sorted."""
        return sorted(path.stem for path in (self.folder / DIALOGUES).glob("*.json"))

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def write(self, dialogue: Dialogue, samples: np.ndarray | None = None) -> None:
        """Writes a dialogue, with its sound if `samples` (float32 `[n, 2]`, 24 kHz) are given."""
        if samples is not None:
            dialogue.sound = f"{SOUND}/{dialogue.name}.flac"
            (self.folder / SOUND).mkdir(parents=True, exist_ok=True)
            soundfile.write(self.folder / dialogue.sound, samples, SAMPLE_RATE)
        self._path(dialogue.name).parent.mkdir(parents=True, exist_ok=True)
        write_json(self._path(dialogue.name), asdict(dialogue))

    def read(self, name: str) -> Dialogue:
        """Reads a dialogue. Raises ModelError."""
        try:
            return _dialogue(read_json_file(self._path(name), CORPUS_LINE))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"{self._path(name)} is no dialogue ({type(error).__name__}: {error}). Remove it."
            ) from error

    def sound(self, dialogue: Dialogue) -> np.ndarray:
        """The sound of a dialogue, float32 `[n, 2]`, 24 kHz. Raises ModelError."""
        return read_stereo(self.folder / dialogue.sound)

    def __iter__(self) -> Iterator[Dialogue]:
        return (self.read(name) for name in self.names())

    def __len__(self) -> int:
        return len(self.names())

    def _path(self, name: str) -> Path:
        return self.folder / DIALOGUES / f"{name}.json"


def _dialogue(stored: dict[str, Any]) -> Dialogue:
    return Dialogue(
        str(stored["name"]),
        [Word(**word) for word in stored["words"]],
        [OracleEvent(**event) for event in stored["events"]],
        str(stored["sound"]),
        float(stored["seconds"]),
    )


def read_stereo(path: Path, *, swapped: bool = False) -> np.ndarray:
    """Returns float32 `[n, 2]` at 24 kHz. `swapped`: the file has the user on the left. Raises ModelError."""
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise ModelError(f"The sound {path} can't be read ({error}). Replace it, or remove its dialogue.") from error
    if samples.shape[1] != 2:
        raise ModelError(f"The sound {path} is not stereo: it needs a channel for the model and one for the user.")
    if rate != SAMPLE_RATE:
        samples = np.asarray(soxr.resample(samples, rate, SAMPLE_RATE), np.float32)
    return samples[:, ::-1] if swapped else samples


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The special tokens of a model: `padding` where nothing is said, `start` where an oracle begins."""

    padding: int
    start: int


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word and the frame in which it arrives, or is spoken."""

    frame: int
    word: str


@dataclass(frozen=True, slots=True)
class TimedRevision:
    """An oracle revision: its words as they arrive. Revisions are ordered by the time they were requested."""

    words: tuple[TimedWord, ...]

    @property
    def text(self) -> str:
        return " ".join(word.word for word in self.words)


@dataclass(frozen=True, slots=True)
class OracleRow:
    """The oracle's tokens. `fed`: for each revision the frame in which each word had been fed whole (-1: never)."""

    tokens: np.ndarray
    fed: tuple[tuple[int, ...], ...]


def word_tokens(text: str, pieces: Pieces) -> list[list[int]]:
    """The tokens of each word of `text`, encoded as a whole."""
    words: list[list[int]] = []
    for token in pieces.encode(text):
        if not words or pieces.id_to_piece(token).startswith(SPACE):
            words.append([])
        words[-1].append(token)
    return words


def oracle_row(revisions: Sequence[TimedRevision], pieces: Pieces, vocabulary: Vocabulary, frames: int) -> OracleRow:
    """Feeds the revisions as a session does: first in, first out, and the newest that has words replaces the others."""
    tokens = np.full(frames, vocabulary.padding, np.int64)
    groups = [word_tokens(revision.text, pieces) for revision in revisions]
    arrivals = [[word.frame for word in revision.words] for revision in revisions]
    fed = [[-1] * len(revision.words) for revision in revisions]
    current, next_word = -1, 0
    queue: list[tuple[int, int]] = []  # tokens, each with the word that it completes, or -1
    for frame in range(frames):
        newest = max((n for n, times in enumerate(arrivals) if times and times[0] <= frame), default=-1)
        if newest > current:
            current, next_word, queue = newest, 0, [(vocabulary.start, -1)]
        if current < 0:
            continue
        while next_word < len(arrivals[current]) and arrivals[current][next_word] <= frame:
            group = groups[current][next_word] if next_word < len(groups[current]) else []
            queue += [
                (token, next_word if token_place == len(group) - 1 else -1) for token_place, token in enumerate(group)
            ]
            next_word += 1
        if queue:
            tokens[frame], whole = queue.pop(0)
            if whole >= 0:
                fed[current][whole] = frame
    return OracleRow(tokens, tuple(tuple(row) for row in fed))


def text_row(
    words: Sequence[TimedWord],
    pieces: Pieces,
    vocabulary: Vocabulary,
    frames: int,
    ends: Sequence[int] | None = None,
) -> np.ndarray:
    """The tokens of the words, each word from its frame on, one token a frame; late where words are crowded.

    `ends`: the frame after each word, over which its tokens are spread by their letters; None: they follow each other.
    """
    tokens = np.full(frames, vocabulary.padding, np.int64)
    groups = word_tokens(" ".join(word.word for word in words), pieces)
    at = 0
    for number, (word, group) in enumerate(zip(words, groups, strict=True)):
        wait = [0] * len(group) if ends is None else _spread(group, pieces, ends[number] - word.frame)
        for token, later in zip(group, wait, strict=True):
            at = max(at, word.frame + later)
            if at < frames:
                tokens[at] = token
            at += 1
    return tokens


def _spread(group: Sequence[int], pieces: Pieces, length: int) -> list[int]:
    """The frame of each token within a word of `length` frames, by the share of its letters that come before."""
    letters = [sum(map(str.isalnum, pieces.id_to_piece(token))) for token in group]
    before = np.cumsum([0, *letters[:-1]])
    return [int(length * count / max(1, sum(letters))) for count in before]


Speaker = Literal["model", "user"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its start and end, in seconds."""

    text: str
    start: float
    end: float
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class OracleEvent:
    """One oracle revision. `at`: seconds, when it was requested; `share`: of the question heard by then, 0 to 1.

    `first` and `rate`: seconds until its first word, and words a second from then on. 0 and 0: not known; they are
    drawn when the dialogue is turned into tokens. `true`: `text` is the true answer.
    """

    at: float
    text: str
    share: float
    true: bool = False
    first: float = 0.0
    rate: float = 0.0


@dataclass(slots=True)
class Dialogue:
    """A dialogue, its words in time's order. `sound`: its stereo file, relative to its corpus; empty: none yet."""

    name: str
    words: list[Word]
    events: list[OracleEvent] = field(default_factory=list)
    sound: str = ""
    seconds: float = 0.0

    def of(self, speaker: Speaker) -> list[Word]:
        """The words of one speaker."""
        return [word for word in self.words if word.speaker == speaker]


@dataclass(frozen=True, slots=True)
class Utterance:
    """Successive words of one speaker, up to the other's next word."""

    speaker: Speaker
    words: tuple[Word, ...]

    @property
    def start(self) -> float:
        return self.words[0].start

    @property
    def end(self) -> float:
        return max(word.end for word in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


def in_order(words: Iterable[Word]) -> list[Word]:
    """The words sorted by their start, then by their end, as all that reads a dialogue expects them."""
    return sorted(words, key=lambda word: (word.start, word.end))


def utterances(words: Sequence[Word]) -> Iterator[Utterance]:
    """Yields the utterances of sorted words. A pause ends none: only the other speaker does."""
    at = 0
    for place in range(1, len(words) + 1):
        if place == len(words) or words[place].speaker != words[at].speaker:
            yield Utterance(words[at].speaker, tuple(words[at:place]))
            at = place


def exchanges(words: Sequence[Word]) -> Iterator[tuple[Utterance, Utterance]]:
    """Yields each utterance of the user with the model's answer to it."""
    found = list(utterances(words))
    for question, answer in itertools.pairwise(found):
        if question.speaker == "user" and answer.speaker == "model":
            yield question, answer
