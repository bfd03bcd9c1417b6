"""The `nano` front-end: a small KAME that runs full duplex on a CPU and reads the oracle as it arrives.

It stays silent until the session gives it the floor, since a model this small can't distinguish a real speaker's pause
from the end of a turn as well as the session does. Its engine runs without torch: each step encodes one frame of the
user's audio, steps the language model, and decodes one frame of speech. The tokenizers package reads its vocabulary, in
place of the sentencepiece package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC, Replace, Strip
from tokenizers.normalizers import Sequence as Normalizers
from tokenizers.pre_tokenizers import Metaspace

from app.conversation.frame import Frame
from app.frontend.base import FrontEndError, FrontEndInput, FrontEndStep, SetDials
from app.frontend.kame.spoken_words import SPACE
from app.frontend.kame.stream import KameStream, StreamFrontEnd, StreamMemory
from app.frontend.kame.stream_engine import Column, EngineStep, TextTokens
from app.models.catalogue import ModelError
from app.models.layout import read_layout
from app.research.nano.model import CodeVoice, Hearing, NanoModel, read_weights


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters. A temperature of 0 takes the likeliest token; `top_k` limits the candidates."""

    temp: float = 0.0
    top_k: int = 50
    temp_text: float = 0.3
    top_k_text: int = 10


class NanoEngine:
    """The state of one stream. Must be used from a single thread."""

    step_seconds = 0.0

    def __init__(
        self, model: NanoModel, hearing: Hearing, voice: CodeVoice, sampling: Sampling | None = None, seed: int = 0
    ) -> None:
        self._model, self._hearing, self._voice = model, hearing, voice
        self._sampling = sampling or Sampling()
        self._random = np.random.default_rng(seed)
        self.silence = voice.silence
        self.context = model.context
        silent = frozenset({model.padding, model.end_padding})
        self.tokens = TextTokens(model.padding, model.start, model.text_card, silent)
        self.pending = 0
        """Always 0, since each call returns the result of its frame."""

    @property
    def steps(self) -> int:
        """Number of frames in the cache, until it is full."""
        return self._model.steps

    def restart(self) -> None:
        """Starts a fresh stream."""
        self.restart_language_model()
        self._hearing.restart()
        self._voice.restart()

    def restart_language_model(self) -> None:
        """Starts a fresh stream of the language model without restarting the encoder and the voice."""
        self._model.restart()

    def step(self, samples: np.ndarray, oracle: int, *, silent: bool = False) -> tuple[EngineStep, ...]:
        """Processes one frame. `samples`: float32 `[1920]`, 24 kHz."""
        user = self._hearing.encode(samples)
        logits, out = self._model.step(user, oracle)
        if silent:
            text, own = self.tokens.padding, self.silence
        else:
            sampling = self._sampling
            text = self._draw(logits, sampling.temp_text, sampling.top_k_text)
            own = tuple(
                self._model.codes(text, out, lambda of_code: self._draw(of_code, sampling.temp, sampling.top_k))
            )
        self._model.say(text, own)
        return (EngineStep(self._voice.decode(own), Column(text, own, user, oracle)),)

    def encode(self, samples: np.ndarray) -> tuple[EngineStep, ...]:
        """Encodes a frame without stepping the language model."""
        padding = self.tokens.padding
        column = Column(padding, self.silence, self._hearing.encode(samples), padding)
        return (EngineStep(np.zeros_like(samples), column, spoken=False),)

    def replay(self, column: Column) -> None:
        """Steps the language model with known tokens, as if they had just been spoken and received."""
        self._model.step(column.user, column.oracle)
        self._model.say(column.text, column.own)

    def _draw(self, logits: np.ndarray, temperature: float, count: int) -> int:
        """Samples one of the `count` likeliest tokens."""
        if temperature <= 0:
            return int(np.argmax(logits))
        best = np.argpartition(logits, -count)[-count:]
        weights = np.exp((logits[best] - logits[best].max()) / temperature)
        return int(self._random.choice(best, p=weights / weights.sum()))


PIECES_NAME = "pieces.json"
"""Name of the vocabulary file in a folder of weights."""


class TokenizerPieces:
    """The subset of `sentencepiece.SentencePieceProcessor` that a stream uses, with identical tokenisation."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """Returns the tokens of a text."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: list[int]) -> str:
        """Returns the text of a list of tokens."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def id_to_piece(self, id: int) -> str:
        """Returns a token's piece, in which `SPACE` stands for a space."""
        return str(self._tokenizer.id_to_token(id))

    def vocab_size(self) -> int:
        """Returns the number of tokens."""
        return int(self._tokenizer.get_vocab_size())


def read_pieces(folder: Path) -> TokenizerPieces:
    """Reads the vocabulary in a folder of weights. Raises ModelError."""
    try:
        return TokenizerPieces(Tokenizer.from_file(str(folder / PIECES_NAME)))
    except Exception as error:  # the package has no exception class of its own
        raise ModelError(
            f"{folder} holds no {PIECES_NAME} that can be read ({error}). Write the weights again with “train merge "
            "--compact”."
        ) from error


def unigram(pieces: list[tuple[str, float]], unknown: int) -> Tokenizer:
    """Builds a vocabulary of scored pieces, none of which spans a space; unknown characters become bytes."""
    tokenizer = Tokenizer(Unigram(pieces, unk_id=unknown, byte_fallback=True))
    tokenizer.normalizer = Normalizers([NFKC(), Replace(Regex(r"\s+"), " "), Strip()])
    tokenizer.pre_tokenizer = Metaspace(SPACE, prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(SPACE)])
    return tokenizer


def load_engine(folder: Path, voice: Path) -> NanoEngine:
    """Loads the weights in `folder`; `voice` is the model file of the Piper voice. Raises ModelError."""
    files = read_layout(folder)
    weights, codec = read_weights(files.lm), read_weights(files.mimi)
    known = {field.name for field in fields(Sampling)}
    sampling = Sampling(**{name: value for name, value in files.generation.items() if name in known})
    try:
        model = NanoModel(weights, files.lm_config or {})
        return NanoEngine(model, Hearing(codec), CodeVoice(codec, voice), sampling)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            f"{folder} holds no weights of a small model ({type(error).__name__}: {error}). Get them again."
        ) from error


FLOOR_FRAMES = 75
"""Frames (6 s) for which a stream keeps the floor after receiving it or after its last word."""


class NanoStream(KameStream):
    """A stream that starts an answer only after being given the floor."""

    @property
    def _forced(self) -> bool:
        undecided = not self._silenced and self.words.answering is None
        return (undecided and not self._has_floor) or super()._forced

    @property
    def _has_floor(self) -> bool:
        """Whether the model was given the floor and the user hasn't started another turn since."""
        words = self.words
        given = words.floor_turn > 0 and self._oracle.asked_turn <= words.floor_turn and not self._user_holds
        return given and min(self._frames_since_floor, words.wordless_frames) < FLOOR_FRAMES


class NanoFrontEnd(StreamFrontEnd):
    """Runs the weights in `folder`; `voice` is the model file of the Piper voice."""

    name = "nano"
    hears_oracle = True
    loading = ""

    def __init__(self, folder: Path, voice: Path, dials: SetDials | None = None) -> None:
        super().__init__()
        self._folder, self._voice_file = folder, voice
        self._dials = dials or SetDials()

    def __enter__(self) -> NanoFrontEnd:
        if not self._folder.is_dir():
            raise FrontEndError(
                "Nano KAME's weights are not here: they come with a checkout, and not with the packages yet. Name a "
                "folder with --weights, or choose the embedded voice."
            )
        try:
            engine = load_engine(self._folder, self._voice_file)
            pieces = read_pieces(self._folder)
        except (ModelError, OSError, RuntimeError) as error:
            raise FrontEndError(
                f"Nano KAME could not be started ({error}). Choose the embedded voice, or install the app again."
            ) from error
        # When the context is full, the stream restarts from scratch: speech from a minute ago has no influence.
        memory = StreamMemory(engine, frames=0)
        self._stream = NanoStream(pieces, engine, memory, self._dials, hears_oracle=True)
        return self

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        assert self._stream is not None
        return self._stream.step(frame, inputs)
