"""Builds the corpora for Nano KAME as shards of tokens: text for learning to read, and spoken dialogues.

Two of the corpora have no questions, and the model reads whatever the oracle says. The first is text alone: its words
are random, so the model has to find the last word it read in the oracle and continue with the next one. The second is
read aloud and teaches pronunciation: sentences rarely repeat, since frequent ones would be memorised. Non-factual
questions with answers, and common words, come from files, so that the model can read more than numbers and names.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from app.frontend.kame import spoken_words
from app.frontend.kame.engine.checkpoint import Loaded
from app.frontend.kame.spoken_words import SPACE
from app.models.catalogue import ModelError
from app.platform.installation import resource
from app.research.corpus.dialogue import TimedRevision, TimedWord, Vocabulary
from app.research.corpus.tokens import MANIFEST, Corpus, Layout, open_corpus
from app.research.nano.latents import LatentVoice
from app.research.nano.voice_codec import SILENT, VoiceCodec
from app.research.results import unreadable
from app.research.training.kame.trainer import NONE
from app.research.training.nano.answers import LATE, LENGTH, Bank, SpeechBank, Track, UnspokenBank
from app.research.training.nano.dialogues import DialogueMaker, Speaker, speak_questions
from app.research.training.nano.facts import Fact, draw_fact
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE

PACES = (0.15, 0.9)
"""Range of frames per letter; being faster than speech gives more words to learn from."""
FACTS, TEXTS = 0.75, 0.1
"""Shares of facts and of texts in the material read aloud; the rest is random words."""
LATE_ALOUD = 0.85
"""Share of readings that start after the oracle, since waiting phrases are already frequent enough."""
_MORE = 0.35
"""Probability of a further revision while one is being read."""


class ReadingMaker:
    """Makes dialogues in which the model reads the oracle and no user speaks.

    `own_books`, `heard_books`: number of codebooks of the model and of the user. The user's are empty, and the model's
    too if there is no bank.
    """

    def __init__(
        self,
        pieces: spoken_words.Pieces,
        vocabulary: Vocabulary,
        own_books: int,
        heard_books: int,
        *,
        bank: Bank | None = None,
        texts: Sequence[str] = (),
        words: Sequence[str] = (),
    ) -> None:
        """`bank`: speaks the text; None: no audio. `texts`, `words`: material to read aloud."""
        self._pieces, self._vocabulary, self._bank = pieces, vocabulary, bank
        self._own_books, self._heard_books = own_books, heard_books
        self._texts, self._words = texts, words
        names = [pieces.id_to_piece(token) for token in range(pieces.vocab_size())]
        self._first = [name[1:] for name in names if name.startswith(SPACE) and name[1:].isalnum()]
        self._later = [name for name in names if name.isalpha()]

    def make(self, draw: random.Random) -> np.ndarray:
        """Draws one dialogue, as `DialogueMaker.make` does."""
        track = Track(self._pieces, self._vocabulary, self._own_books, NONE if self._bank is None else SILENT)
        bank = self._bank or UnspokenBank(draw.uniform(*PACES), self._own_books)
        late = LATE if self._bank is None else LATE_ALOUD
        at = draw.randint(2, 8)
        while (stop := track.add(at, bank, draw, at, self._revisions(draw, at), late)) is not None:
            at = stop + draw.randint(0, 6)
        return track.tokens(np.full((self._heard_books, LENGTH), NONE, np.int64))

    def _revisions(self, draw: random.Random, at: int) -> list[TimedRevision]:
        """Draws one answer, or several that replace each other."""
        revisions, first = [], at + 1.0 + draw.expovariate(0.3)
        answer = self._answer if self._bank is None else self._sentence
        said = answer(draw)
        while True:
            speed = draw.uniform(0.2, 2.0)
            words = [TimedWord(int(first + speed * place), word) for place, word in enumerate(said)]
            revisions.append(TimedRevision(tuple(words)))
            if draw.random() > _MORE:
                return revisions
            first += draw.uniform(3, 30)
            kept = draw.choice((0, 0, len(said) // 2, len(said)))
            said = [*said[:kept], *answer(draw)]

    def _answer(self, draw: random.Random) -> list[str]:
        """Draws random words, or a fact's answer, in some cases with random words as its value."""
        words = [self._word(draw) for _ in range(draw.randint(1, 8))]
        if draw.random() < 0.5:
            return words
        fact = draw_fact(draw, test=False)
        return (fact.answer if draw.random() < 0.5 else fact.with_value(" ".join(words[:4]))).split()

    def _word(self, draw: random.Random) -> str:
        return draw.choice(self._first) + draw.choice(("", "", "", *draw.sample(self._later, 2)))

    def _sentence(self, draw: random.Random) -> list[str]:
        """Draws a fact's answer, a text with some of its words replaced, or random words."""
        kind = draw.random()
        if kind < FACTS:
            return draw_fact(draw, test=False).answer.split()
        if kind < FACTS + TEXTS and self._texts:
            return [
                self._other(draw, word) if word.isalpha() and draw.random() < 0.2 else word
                for word in draw.choice(self._texts).split()
            ]
        words = [self._other(draw, "") for _ in range(draw.randint(2, 9))]
        for place in range(len(words) - 1):
            words[place] += draw.choice(("", "", "", "", "", "", ","))
        return [words[0].capitalize(), *words[1:-1], words[-1] + draw.choice("....?!")]

    def _other(self, draw: random.Random, word: str) -> str:
        """Draws a common word or a number, capitalised if `word` is."""
        kind = draw.random()
        if kind < 0.06:
            return str(draw.randint(0, 10 ** draw.randint(1, 4)))
        # The list begins with the most common words.
        other = self._words[int(len(self._words) * draw.random() ** 1.6)]
        return other.capitalize() if word[:1].isupper() or kind > 0.85 else other


LEAST_WORDS, MOST_WORDS = 3, 16
_NOT_SPOKEN = re.compile(r"[*_#\[\]{}<>/\\|=~^`\"()]")


def read_texts(path: Path) -> list[tuple[str, str]]:
    """Reads questions and the first sentences of their answers, skipping what can't be spoken. Raises ModelError."""
    with unreadable(ModelError, f'{path} holds no lines like {{"q": …, "a": …}} ({{}}).'):
        texts = [
            (str(entry["q"]), _first_sentence(str(entry["a"]))) for entry in read_json_lines(path, CORPUS, CORPUS_LINE)
        ]
    return [(question, answer) for question, answer in texts if answer]


def common_words() -> list[str]:
    """Returns lower-case English words, roughly the most common first."""
    return resource("nano", "words.txt").read_text("utf-8").split()


def _first_sentence(text: str) -> str:
    """Returns the first sentence; an empty string if it can't be spoken as it stands."""
    sentence = re.split(r"(?<=[.!?])\s", text.strip().strip('"*'))[0].strip().strip('"*')
    usable = sentence.isascii() and sentence[-1:] in tuple(".!?") and not _NOT_SPOKEN.search(sentence)
    return sentence if usable and LEAST_WORDS <= len(sentence.split()) <= MOST_WORDS else ""


SHARD_DIALOGUES = 50

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The number of dialogues per corpus.

    `questions`: distinct spoken questions, each used many times with different answers.
    """

    readings: int
    aloud: int
    dialogues: int
    questions: int


def make_corpora(
    folder: Path,
    loaded: Loaded,
    voice: Path,
    speakers: Sequence[tuple[float, Speaker]],
    general: Sequence[tuple[str, str]],
    sizes: Sizes,
    seed: int = 0,
    progress: Progress = lambda line: None,
) -> Corpus:
    """Writes the missing shards and returns the last corpus.

    `reading` is text alone, `aloud` has sentences, words and facts read aloud, and `corpus` has spoken questions.
    `general`: questions with non-factual answers. Raises VoiceError, and ModelError if the folder holds another corpus.
    """
    codec, pieces = loaded.mimi, loaded.pieces
    if not isinstance(codec, VoiceCodec):
        raise ModelError("These weights have Mimi's codec. This corpus is for a small model with a voice's codec.")
    layout = Layout(
        codec.shape.own_books, codec.shape.heard_books, loaded.lm.text_padding_token_id, loaded.lm.text_initial_token_id
    )
    shape = pieces, Vocabulary(layout.padding, layout.start)
    books = layout.own_books, layout.heard_books
    fill = partial(_fill, layout=layout, seed=seed, progress=progress)

    def spoken_maker() -> DialogueMaker:
        draw = random.Random(seed)
        facts = [draw_fact(draw, test=False) for _ in range(sizes.questions)]
        asked = [Fact(question, answer, "") for question, answer in general]
        spoken = speak_questions([*facts, *asked], speakers, seed, progress)
        others = [(question, question.fact.answer) for question in spoken[len(facts) :]]
        return DialogueMaker(bank, codec, *shape, spoken[: len(facts)], others)

    fill(folder / "reading", sizes.readings, lambda: ReadingMaker(*shape, *books))
    with LatentVoice(voice) as speaking:
        bank = SpeechBank(speaking.speak, codec)
        texts = [answer for _, answer in general]
        aloud = partial(ReadingMaker, *shape, *books, bank=bank, texts=texts, words=common_words())
        fill(folder / "aloud", sizes.aloud, aloud)
        return fill(folder / "corpus", sizes.dialogues, spoken_maker)


def _fill(
    folder: Path,
    dialogues: int,
    make_maker: Callable[[], ReadingMaker | DialogueMaker],
    layout: Layout,
    seed: int,
    progress: Progress,
) -> Corpus:
    """Writes the missing shards of a corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = open_corpus(folder) if (folder / MANIFEST).exists() else Corpus(folder, layout)
    if corpus.layout != layout:
        raise ModelError(f"The corpus in {folder} is for another model. Choose another folder.")
    names = [f"{seed:03d}-{number:05d}" for number in range(-(-dialogues // SHARD_DIALOGUES))]
    missing = [name for name in names if f"{name}.npz" not in corpus.hashes]
    make = make_maker().make if missing else None
    for number, name in enumerate(missing, 1):
        assert make is not None
        draw = random.Random(f"{seed} {name}")
        corpus.add(name, [make(draw) for _ in range(SHARD_DIALOGUES)])
        progress(f"dialogues: {number * SHARD_DIALOGUES} of {len(missing) * SHARD_DIALOGUES}")
    return corpus
