"""Dialogues of text alone, in which the model learns to read any words of the oracle aloud, before it learns to speak.

Nothing is heard and nothing sounds. The words are random, so that nothing helps but to look where the oracle has the
word that was read last, and to read the one after it.
"""

from __future__ import annotations

import random

import numpy as np

from app.corpus.streams import TimedRevision, TimedWord, Vocabulary, oracle_row, text_row
from app.frontend.kame.inner_text import SPACE, Pieces
from app.training.kame.batches import NONE
from app.training.nano.answers import AnswerPlan
from app.training.nano.dialogues import LENGTH, Dialogue
from app.training.nano.facts import draw_fact
from app.training.nano.speech import UnspokenBank

PACES = (0.15, 0.9)
"""Frames a letter, least and most: faster than speech gives more words to learn from."""
_MORE = 0.35
"""Chance of another revision while one is read."""


class ReadingMaker:
    """Makes dialogues of text. `streams`: of the model's own codes and the user's, which are all empty."""

    def __init__(self, pieces: Pieces, count: int, vocabulary: Vocabulary, own_books: int, heard_books: int) -> None:
        """`count`: pieces that there are."""
        self._pieces, self._vocabulary = pieces, vocabulary
        self._own_books, self._heard_books = own_books, heard_books
        names = [pieces.id_to_piece(token) for token in range(count)]
        self._first = [name[1:] for name in names if name.startswith(SPACE) and name[1:].isalnum()]
        self._later = [name for name in names if name.isalpha()]

    def make(self, draw: random.Random) -> Dialogue:
        """Draws one dialogue."""
        text = np.full(LENGTH, self._vocabulary.padding, np.int64)
        oracle = np.full(LENGTH, self._vocabulary.padding, np.int64)
        bank = UnspokenBank(draw.uniform(*PACES), self._own_books)
        at = draw.randint(2, 8)
        while True:
            revisions = self._revisions(draw, at)
            row = oracle_row(revisions, self._pieces, self._vocabulary, at + LENGTH)
            answer = AnswerPlan(bank, draw, at, revisions, row).plan()
            stop = answer.end + 2
            if stop > LENGTH:
                break
            oracle[at:stop] = row.tokens[at:stop]
            text[at:stop] = text_row(answer.words, self._pieces, self._vocabulary, stop)[at:]
            at = stop + draw.randint(0, 6)
        nothing = np.full((self._own_books + self._heard_books, LENGTH), NONE, np.int64)
        return Dialogue(np.concatenate([text[None], nothing, oracle[None]]).astype(np.int16))

    def _revisions(self, draw: random.Random, at: int) -> list[TimedRevision]:
        """One answer, or several that replace each other."""
        revisions, first = [], at + 1.0 + draw.expovariate(0.3)
        said = self._answer(draw)
        while True:
            speed = draw.uniform(0.2, 2.0)
            words = [TimedWord(int(first + speed * place), word) for place, word in enumerate(said)]
            revisions.append(TimedRevision(tuple(words)))
            if draw.random() > _MORE:
                return revisions
            first += draw.uniform(3, 30)
            kept = draw.choice((0, 0, len(said) // 2, len(said)))
            said = [*said[:kept], *self._answer(draw)]

    def _answer(self, draw: random.Random) -> list[str]:
        """Random words, or a fact's answer with random words in place of its value."""
        words = [self._word(draw) for _ in range(draw.randint(1, 8))]
        if draw.random() < 0.5:
            return words
        fact = draw_fact(draw, test=False)
        return (fact.answer if draw.random() < 0.5 else fact.with_value(" ".join(words[:4]))).split()

    def _word(self, draw: random.Random) -> str:
        return draw.choice(self._first) + draw.choice(("", "", "", *draw.sample(self._later, 2)))
