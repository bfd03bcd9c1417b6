"""The row of the oracle's tokens follows what a session feeds: the newest revision wins."""

import random

import pytest
import sentencepiece

from app.frontend.kame.oracle_feed import OracleQueue
from app.research.corpus.dialogue import TimedRevision, TimedWord, Vocabulary, oracle_row
from tests.support.tiny_kame import pieces_model

pytestmark = pytest.mark.slow
VOCABULARY = Vocabulary(padding=3, start=400)


@pytest.fixture(scope="module")
def pieces():
    return sentencepiece.SentencePieceProcessor(model_proto=pieces_model())


def revision(text: str, first: int, step: int = 1) -> TimedRevision:
    return TimedRevision(tuple(TimedWord(first + step * place, word) for place, word in enumerate(text.split())))


def test_the_oracle_is_what_the_sessions_queue_gives(pieces) -> None:
    draw = random.Random(1)
    sentences = [
        "The capital of France is Paris, and it lies on the Seine.",
        "Seven times eight is 56.",
        "Plants turn light into sugar; we call it photosynthesis.",
        "Its doors open at ten o'clock.",
    ]
    for _ in range(20):
        revisions = [
            revision(text, draw.randint(0, 60), draw.randint(1, 4))
            for text in draw.sample(sentences, draw.randint(1, 4))
        ]
        queue = OracleQueue(start=VOCABULARY.start, padding=VOCABULARY.padding, vocabulary=VOCABULARY.start)
        fed, current, expected = 0, -1, []
        for frame in range(120):
            for number, item in enumerate(revisions):
                come = [word.word for word in item.words if word.frame <= frame]
                if come and number > current:
                    current, fed = number, 0
                    queue.push(pieces.encode(" ".join(come)), reset=True)
                    fed = len(pieces.encode(" ".join(come)))
                elif come and number == current:
                    tokens = pieces.encode(" ".join(come))
                    queue.push(tokens[fed:], reset=False)
                    fed = len(tokens)
            queue.take()
            expected.append(queue.last)
        assert oracle_row(revisions, pieces, VOCABULARY, 120).tokens.tolist() == expected
