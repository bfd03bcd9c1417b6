"""Makes the corpora for Nano KAME, as tokens in shards: text to learn reading from, and spoken dialogues."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from app.frontend.kame.checkpoint import Loaded
from app.frontend.kame.codec.voice_codec import VoiceCodec
from app.models.errors import ModelError
from app.research.corpus.shards import MANIFEST, Corpus, Layout, open_corpus
from app.research.corpus.streams import Vocabulary
from app.research.training.nano.dialogues import Dialogue, DialogueMaker, SpokenQuestion
from app.research.training.nano.facts import Fact, draw_fact
from app.research.training.nano.questions import Speaker, speak_questions
from app.research.training.nano.reading import ReadingMaker
from app.research.training.nano.speech import SpeechBank
from app.tts.latents import LatentVoice

SHARD_DIALOGUES = 50

Progress = Callable[[str], None]


def make_reading_corpus(
    folder: Path, loaded: Loaded, *, dialogues: int, seed: int = 0, progress: Progress = lambda line: None
) -> Corpus:
    """Writes shards of text alone. Raises ModelError when the folder holds another corpus."""
    corpus = _opened(folder, loaded)
    layout = corpus.layout
    vocabulary = Vocabulary(layout.padding, layout.start)
    maker = ReadingMaker(loaded.pieces, vocabulary, layout.own_books, layout.heard_books)
    _fill(corpus, maker.make, dialogues, seed, progress)
    return corpus


def make_aloud_corpus(
    folder: Path,
    loaded: Loaded,
    voice: Path,
    texts: Sequence[str],
    words: Sequence[str],
    *,
    dialogues: int,
    seed: int = 0,
    progress: Progress = lambda line: None,
) -> Corpus:
    """Writes shards in which texts, words and facts are read aloud.

    Raises VoiceError, and ModelError when the folder holds another corpus.
    """
    codec = _codec(loaded)
    corpus = _opened(folder, loaded)
    layout = corpus.layout
    if not _missing(corpus, dialogues, seed):
        return corpus
    with LatentVoice(voice) as speaking:
        maker = ReadingMaker(
            loaded.pieces,
            Vocabulary(layout.padding, layout.start),
            layout.own_books,
            layout.heard_books,
            bank=SpeechBank(speaking.speak, codec),
            texts=texts,
            words=words,
        )
        _fill(corpus, maker.make, dialogues, seed, progress)
    return corpus


def make_fact_corpus(
    folder: Path,
    loaded: Loaded,
    voice: Path,
    speakers: Sequence[tuple[float, Speaker]],
    general: Sequence[tuple[str, str]],
    *,
    dialogues: int,
    questions: int,
    seed: int = 0,
    progress: Progress = lambda line: None,
) -> Corpus:
    """Writes the shards that are not there yet. `general`: questions with answers that are no facts.

    `questions`: how many are spoken; each is asked many times, with other answers. Raises VoiceError,
    and ModelError when the folder holds another corpus.
    """
    codec = _codec(loaded)
    corpus = _opened(folder, loaded)
    layout = corpus.layout
    if not _missing(corpus, dialogues, seed):
        return corpus
    draw = random.Random(seed)
    facts = [draw_fact(draw, test=False) for _ in range(questions)]
    asked = [Fact(question, answer, "") for question, answer in general]
    spoken = speak_questions([*facts, *asked], speakers, seed, progress)
    others: list[tuple[SpokenQuestion, str]] = [(question, question.fact.answer) for question in spoken[len(facts) :]]
    with LatentVoice(voice) as speaking:
        maker = DialogueMaker(
            SpeechBank(speaking.speak, codec),
            codec,
            loaded.pieces,
            Vocabulary(layout.padding, layout.start),
            spoken[: len(facts)],
            others,
        )
        _fill(corpus, maker.make, dialogues, seed, progress)
    return corpus


def _codec(loaded: Loaded) -> VoiceCodec:
    if not isinstance(loaded.mimi, VoiceCodec):
        raise ModelError("These weights have Mimi's codec. This corpus is for a small model with a voice's codec.")
    return loaded.mimi


def _opened(folder: Path, loaded: Loaded) -> Corpus:
    shape, lm = _codec(loaded).shape, loaded.lm
    layout = Layout(shape.own_books, shape.heard_books, lm.text_padding_token_id, lm.text_initial_token_id)
    folder.mkdir(parents=True, exist_ok=True)
    corpus = open_corpus(folder) if (folder / MANIFEST).exists() else Corpus(folder, layout)
    if corpus.layout != layout:
        raise ModelError(f"The corpus in {folder} is for another model. Choose another folder.")
    return corpus


def _missing(corpus: Corpus, dialogues: int, seed: int) -> list[str]:
    names = [f"{seed:03d}-{number:05d}" for number in range(-(-dialogues // SHARD_DIALOGUES))]
    return [name for name in names if f"{name}.npz" not in corpus.hashes]


def _fill(
    corpus: Corpus, make: Callable[[random.Random], Dialogue], dialogues: int, seed: int, progress: Progress
) -> None:
    """Writes the shards that are not there yet."""
    missing = _missing(corpus, dialogues, seed)
    for number, name in enumerate(missing):
        draw = random.Random(f"{seed} {name}")
        corpus.add(name, [make(draw).tokens for _ in range(SHARD_DIALOGUES)])
        progress(f"dialogues: {(number + 1) * SHARD_DIALOGUES} of {len(missing) * SHARD_DIALOGUES}")
