"""Guesses at what the user is going to say leave a server's rate limit to the questions."""

import asyncio

import pytest

from app.backend.base import BackendError
from app.backend.model_record import ModelRecord
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from tests.support.rule_server import RateLimit
from tests.support.scripted import ScriptedTurn
from tests.support.talks import Talk, simulate

WORDS = "Could you please tell me what the weather is going to be like in the north of Norway tomorrow"
NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
QUESTIONS = [ScriptedTurn(1 + 15 * n, 5 + 15 * n, f"{WORDS} {number}") for n, number in enumerate(NUMBERS)]
"""Four questions a minute, each four seconds long."""


class Limited(ScriptedBackend):
    """Refuses requests beyond `per_minute`, counted as providers do, and says how long to wait."""

    def __init__(self, per_minute: int | None) -> None:
        super().__init__(lambda request: answer("The answer is about forty two. It is so."), name="Google")
        self._limit = RateLimit(per_minute)
        self.refused = 0
        self.record = ModelRecord()

    async def _items(self, reply):
        if wait := self._limit.take(asyncio.get_running_loop().time()):
            self.refused += 1
            await asyncio.sleep(0.1)
            raise BackendError("Google takes no more requests.", "quota", retry_after=wait)
        async for item in super()._items(reply):
            yield item


def talk(per_minute: int | None, mode: e.AnswerMode = "thinking", *, stated: bool = False) -> tuple[Limited, Talk]:
    backend = Limited(per_minute)
    if per_minute and stated:
        backend.record.pace.budget.stated(per_minute)
    return backend, simulate(QUESTIONS, lambda _: answer(""), seconds=195, backend=backend, answer_mode=mode)


def answered(talk: Talk) -> set[int]:
    return {said.turn for said in talk.of(e.AssistantSaid)}


def first_sounds(talk: Talk) -> list[float]:
    return [
        round(started.at - question.end, 2)
        for started, question in zip(talk.of(e.AssistantStarted), QUESTIONS, strict=True)
    ]


@pytest.mark.parametrize("mode", ["thinking", "after"])
@pytest.mark.parametrize("per_minute", [10, 15, 30, 60, None])
def test_every_question_is_answered(per_minute: int | None, mode: e.AnswerMode) -> None:
    backend, held = talk(per_minute, mode)
    assert answered(held) == set(range(1, 13))
    assert max(first_sounds(held)) <= 0.6, "as without a limit"
    assert backend.refused == 0 and not held.tasks_left


@pytest.mark.parametrize(("per_minute", "told"), [(10, ["10 requests a minute"]), (600, [])])
def test_that_early_requests_are_left_out_is_said_once(per_minute: int, told: list[str]) -> None:
    _, held = talk(per_minute, stated=True)
    sentences = [notice.sentence for notice in held.of(e.Notice)]
    assert len(sentences) == len(told) and all(
        words in sentence for words, sentence in zip(told, sentences, strict=True)
    )
    assert answered(held) == set(range(1, 13))
