"""Spoken dialogues for training: their timed words and oracle revisions, files, and token rows.

Before a corpus is tokenised, it is stored as `dialogues/NAME.json` with words and oracle, and `sound/NAME.flac` with
stereo audio, the model on the left and the user on the right. The JSON file is written last.

The oracle and the model's own text each get a row of one token per 80 ms frame. The rows follow the behaviour of a
session: the newest revision that has any words is fed from its start, one token per frame, and a word is not fed before
it has arrived.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import soundfile
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.frontend.kame.spoken_words import SPACE, Pieces
from app.models.catalogue import ModelError
from app.platform.files import write_json
from app.research.results import unreadable
from app.untrusted.files import read_json_file
from app.untrusted.limits import CORPUS_LINE
from app.untrusted.records import build

DIALOGUES, SOUND = "dialogues", "sound"


class CorpusFolder:
    """The dialogues of one corpus, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """Returns the names of all dialogues, sorted."""
        return sorted(path.stem for path in (self.folder / DIALOGUES).glob("*.json"))

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def write(self, dialogue: Dialogue, samples: np.ndarray | None = None) -> None:
        """Writes a dialogue, and its audio if `samples` is given (float32 `[n, 2]`, 24 kHz)."""
        if samples is not None:
            dialogue.sound = f"{SOUND}/{dialogue.name}.flac"
            (self.folder / SOUND).mkdir(parents=True, exist_ok=True)
            soundfile.write(self.folder / dialogue.sound, samples, SAMPLE_RATE)
        write_json(self._path(dialogue.name), asdict(dialogue))

    def read(self, name: str) -> Dialogue:
        """Reads a dialogue. Raises ModelError."""
        with unreadable(ModelError, f"{self._path(name)} is no dialogue ({{}}). Remove it."):
            stored = read_json_file(self._path(name), CORPUS_LINE)
            words = [build(Word, one) for one in stored["words"]]
            events = [build(OracleEvent, one) for one in stored["events"]]
            return Dialogue(**{**stored, "words": words, "events": events})

    def sound(self, dialogue: Dialogue) -> np.ndarray:
        """Returns the audio of a dialogue, float32 `[n, 2]` at 24 kHz. Raises ModelError."""
        return read_stereo(self.folder / dialogue.sound)

    def __iter__(self) -> Iterator[Dialogue]:
        return (self.read(name) for name in self.names())

    def __len__(self) -> int:
        return len(self.names())

    def _path(self, name: str) -> Path:
        return self.folder / DIALOGUES / f"{name}.json"


def read_stereo(path: Path, *, swapped: bool = False) -> np.ndarray:
    """Reads a stereo file as float32 `[n, 2]` at 24 kHz, and swaps the channels if `swapped`. Raises ModelError."""
    with unreadable(ModelError, f"The sound {path} can't be read ({{}}). Replace it, or remove its dialogue."):
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    if samples.shape[1] != 2:
        raise ModelError(f"The sound {path} is not stereo: it needs a channel for the model and one for the user.")
    if rate != SAMPLE_RATE:
        samples = np.asarray(soxr.resample(samples, rate, SAMPLE_RATE), np.float32)
    return samples[:, ::-1] if swapped else samples


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The special tokens of a model: `padding` for frames without text, `start` before an oracle revision."""

    padding: int
    start: int


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word, and the frame in which it arrives or is spoken."""

    frame: int
    word: str


@dataclass(frozen=True, slots=True)
class TimedRevision:
    """The words of an oracle revision as they arrive. Lists of revisions are ordered by request time."""

    words: tuple[TimedWord, ...]

    @property
    def text(self) -> str:
        return " ".join(word.word for word in self.words)


@dataclass(frozen=True, slots=True)
class OracleRow:
    """The oracle's tokens. `fed`: per revision, the frame that completes each word (-1 if it is never fed in full)."""

    tokens: np.ndarray
    fed: tuple[tuple[int, ...], ...]


def word_tokens(text: str, pieces: Pieces) -> list[list[int]]:
    """Encodes `text` as a whole and returns the tokens of each word."""
    words: list[list[int]] = []
    for token in pieces.encode(text):
        if not words or pieces.id_to_piece(token).startswith(SPACE):
            words.append([])
        words[-1].append(token)
    return words


def oracle_row(revisions: Sequence[TimedRevision], pieces: Pieces, vocabulary: Vocabulary, frames: int) -> OracleRow:
    """Returns the oracle's tokens, fed as in a session: the newest revision that has words replaces the others."""
    tokens = np.full(frames, vocabulary.padding, np.int64)
    groups = [word_tokens(revision.text, pieces) for revision in revisions]
    arrivals = [[word.frame for word in revision.words] for revision in revisions]
    fed = [[-1] * len(revision.words) for revision in revisions]
    current, next_word = -1, 0
    queue: list[tuple[int, int]] = []  # tokens, each with the index of the word that it completes, or -1
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
    words: Sequence[TimedWord], pieces: Pieces, vocabulary: Vocabulary, frames: int, ends: Sequence[int] | None = None
) -> np.ndarray:
    """Returns the tokens of the words, one per frame. Each word starts at its frame, or later if words are too dense.

    `ends`: the frame after each word; tokens are spread over the word by their number of letters. If None, the tokens
    of a word are in consecutive frames.
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
    """Returns the frame of each token within a word of `length` frames, by the share of letters before it."""
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
    """One oracle revision.

    - `at`: when it was requested, in seconds
    - `share`: the share of the question heard by then, 0 to 1
    - `true`: whether `text` is the true answer
    - `first`: seconds from the request to the first word; 0 if unknown, and then drawn during tokenisation
    - `rate`: words per second after the first; drawn together with `first`
    """

    at: float
    text: str
    share: float
    true: bool = False
    first: float = 0.0
    rate: float = 0.0


@dataclass(slots=True)
class Dialogue:
    """A dialogue with its words in chronological order. `sound`: its stereo file, relative to the corpus, or empty."""

    name: str
    words: list[Word]
    events: list[OracleEvent] = field(default_factory=list)
    sound: str = ""
    seconds: float = 0.0

    def of(self, speaker: Speaker) -> list[Word]:
        """Returns the words of one speaker."""
        return [word for word in self.words if word.speaker == speaker]


@dataclass(frozen=True, slots=True)
class Utterance:
    """Consecutive words of one speaker, up to the other speaker's next word."""

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
    """Returns the words sorted by start, then by end, the order required in a `Dialogue`."""
    return sorted(words, key=lambda word: (word.start, word.end))


def utterances(words: Sequence[Word]) -> Iterator[Utterance]:
    """Yields the utterances of sorted words. Only the other speaker ends an utterance; pauses do not."""
    at = 0
    for place in range(1, len(words) + 1):
        if place == len(words) or words[place].speaker != words[at].speaker:
            yield Utterance(words[at].speaker, tuple(words[at:place]))
            at = place


def exchanges(words: Sequence[Word]) -> Iterator[tuple[Utterance, Utterance]]:
    """Yields each user utterance that the model answers, with the answer."""
    found = list(utterances(words))
    for question, answer in itertools.pairwise(found):
        if question.speaker == "user" and answer.speaker == "model":
            yield question, answer
