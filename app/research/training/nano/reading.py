"""Dialogues in which nobody asks: the model reads whatever the oracle says, as text alone or aloud.

As text alone it learns to read any words, before it learns to speak: the words are random, so that nothing helps but to
look where the oracle has the word that was read last, and to read the one after it. Aloud it learns to pronounce:
hardly any sentence comes twice, since what comes often is learnt by heart instead.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from app.frontend.kame import inner_text
from app.frontend.kame.codec.voice_codec import SILENT
from app.frontend.kame.inner_text import SPACE
from app.research.corpus.streams import TimedRevision, TimedWord, Vocabulary, oracle_row
from app.research.training.kame.batches import NONE
from app.research.training.nano.answers import LATE, AnswerPlan
from app.research.training.nano.dialogues import LENGTH, Dialogue
from app.research.training.nano.facts import draw_fact
from app.research.training.nano.speech import Bank, UnspokenBank

PACES = (0.15, 0.9)
"""Frames a letter, least and most: faster than speech gives more words to learn from."""
FACTS, TEXTS = 0.75, 0.1
"""Shares of facts and of texts in what is read aloud; the rest is random words."""
LATE_ALOUD = 0.85
"""Share of what is read aloud that begins after its oracle: the phrases for waiting are spoken often enough."""
_MORE = 0.35
"""Chance of another revision while one is read."""


class ReadingMaker:
    """Makes dialogues in which the model reads the oracle and nobody is heard.

    `own_books`, `heard_books`: of the model's own codes, which are empty without a bank, and of the user's, which are
    empty.
    """

    def __init__(
        self,
        pieces: inner_text.Vocabulary,
        vocabulary: Vocabulary,
        own_books: int,
        heard_books: int,
        *,
        bank: Bank | None = None,
        texts: Sequence[str] = (),
        words: Sequence[str] = (),
    ) -> None:
        """`bank`: speaks what is read; None: nothing sounds. `texts`, `words`: for what is read aloud."""
        self._pieces, self._vocabulary, self._bank = pieces, vocabulary, bank
        self._own_books, self._heard_books = own_books, heard_books
        self._texts, self._words = texts, words
        names = [pieces.id_to_piece(token) for token in range(pieces.vocab_size())]
        self._first = [name[1:] for name in names if name.startswith(SPACE) and name[1:].isalnum()]
        self._later = [name for name in names if name.isalpha()]

    def make(self, draw: random.Random) -> Dialogue:
        """Draws one dialogue."""
        text = np.full(LENGTH, self._vocabulary.padding, np.int64)
        oracle = np.full(LENGTH, self._vocabulary.padding, np.int64)
        own = np.full((self._own_books, LENGTH), NONE if self._bank is None else SILENT, np.int64)
        bank = self._bank or UnspokenBank(draw.uniform(*PACES), self._own_books)
        at = draw.randint(2, 8)
        while True:
            revisions = self._revisions(draw, at)
            row = oracle_row(revisions, self._pieces, self._vocabulary, at + LENGTH)
            late = LATE if self._bank is None else LATE_ALOUD
            answer = AnswerPlan(bank, draw, at, revisions, row, late).plan()
            stop = answer.end + 2
            if stop > LENGTH:
                break
            oracle[at:stop] = row.tokens[at:stop]
            text[at:stop] = answer.text(self._pieces, self._vocabulary, stop)[at:]
            for frame, spoken, length in answer.sounds:
                own[:, frame : frame + length] = spoken.codes[:length].T
            at = stop + draw.randint(0, 6)
        heard = np.full((self._heard_books, LENGTH), NONE, np.int64)
        return Dialogue(np.concatenate([text[None], own, heard, oracle[None]]).astype(np.int16))

    def _revisions(self, draw: random.Random, at: int) -> list[TimedRevision]:
        """One answer, or several that replace each other."""
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
        """Random words, or a fact's answer with random words in place of its value."""
        words = [self._word(draw) for _ in range(draw.randint(1, 8))]
        if draw.random() < 0.5:
            return words
        fact = draw_fact(draw, test=False)
        return (fact.answer if draw.random() < 0.5 else fact.with_value(" ".join(words[:4]))).split()

    def _word(self, draw: random.Random) -> str:
        return draw.choice(self._first) + draw.choice(("", "", "", *draw.sample(self._later, 2)))

    def _sentence(self, draw: random.Random) -> list[str]:
        """A fact's answer, a text with some of its words replaced, or random words."""
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
        """A common word or a number, with a capital where `word` has one."""
        kind = draw.random()
        if kind < 0.06:
            return str(draw.randint(0, 10 ** draw.randint(1, 4)))
        # The list begins with the most common words.
        other = self._words[int(len(self._words) * draw.random() ** 1.6)]
        return other.capitalize() if word[:1].isupper() or kind > 0.85 else other
