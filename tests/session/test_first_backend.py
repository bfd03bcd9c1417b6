"""A back-end that can't be opened when a session starts: another one answers, until the wanted one is open."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import pytest

from app.backend.base import BackendError, ChatRequest, StreamItem
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.session.control import BackendChoice
from app.session.session import Session
from tests.support.scripted import ScriptedTurn
from tests.support.talks import Talk, simulate

FALLBACK = BackendChoice(model="small")
REASON = "No server answers at the address. Start it."
SCRIPT = [ScriptedTurn(1.0, 2.5, "Where is it now?"), ScriptedTurn(9.0, 10.5, "And where is that?")]


class Wanted(ScriptedBackend):
    """One of several back-ends that are made for the same choice. The first `failing` can't be opened.

    `seconds`: how long opening takes.
    """

    made = 0

    def __init__(self, failing: float, seconds: float) -> None:
        super().__init__(lambda request: answer("The wanted one answers."), model="big")
        self._works, self._seconds = Wanted.made >= failing, seconds
        Wanted.made += 1

    async def open(self) -> None:
        await asyncio.sleep(self._seconds)
        if not self._works:
            raise BackendError(REASON, "network")


def talk(
    failing: float, seconds: float, *, has_fallback: bool = True, retries: Sequence[float] = ()
) -> tuple[Talk, list[Wanted]]:
    Wanted.made, made = 0, list[Wanted]()

    async def make(choice: BackendChoice) -> ScriptedBackend:
        if choice == FALLBACK:
            if not has_fallback:
                raise BackendError("There is no model file.", "setup")
            return ScriptedBackend(lambda request: answer("The fallback answers."), model="small")
        made.append(Wanted(failing, seconds))
        return made[-1]

    def try_again(session: Session) -> None:
        for at in retries:
            asyncio.get_running_loop().call_later(at, partial(session.change, reopen=["backend"]))

    asyncio.run(make(BackendChoice()))
    done = simulate(
        SCRIPT,
        lambda request: answer(""),
        backend=made[0],
        make_backend=make,
        fallback_backend=FALLBACK,
        seconds=16.0,
        during=try_again,
    )
    return done, made


def test_another_one_answers_until_the_wanted_one_can_be_opened() -> None:
    heard, made = talk(failing=3, seconds=0.1)
    assert (heard.said(1), heard.said(2)) == ("The fallback answers.", "The wanted one answers.")
    (told,) = heard.of(e.Failure)
    assert told.sentence == f"Scripted can't be used yet, so Scripted (small) answers. {REASON}"
    (change,) = heard.of(e.BackendChanged)
    assert (change.model, change.reason) == ("big", "chosen") and 1.0 < change.at < 9.0
    assert len(made) == 4 and not heard.tasks_left


def test_the_user_can_have_the_wanted_one_tried_now() -> None:
    heard, _ = talk(failing=5, seconds=0.1, retries=(5.0, 6.0))
    assert len(heard.of(e.Failure)) == 2, "the user who tries again is told that it failed again"
    (change,) = heard.of(e.BackendChanged)
    assert change.model == "big" and 6.0 < change.at < 7.0, "and it is not given up after that"
    assert heard.said(2) == "The wanted one answers." and not heard.tasks_left


class Failing(ScriptedBackend):
    """Its server stops answering once it is open."""

    def __init__(self, model: str) -> None:
        super().__init__(lambda request: answer(""), model=model)

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        raise BackendError(REASON, "network")
        yield


@pytest.mark.parametrize("earlier", [False, True], ids=["alone", "another model of that server before"])
def test_the_fallback_answers_the_question_when_the_server_stops(earlier: bool) -> None:
    fallback = ScriptedBackend(lambda request: answer("The fallback answers."), model="small")

    async def make(choice: BackendChoice) -> ScriptedBackend:
        return fallback if choice == FALLBACK else Failing("other")

    def choose_another(session: Session) -> None:
        if earlier:
            session.change(backend=BackendChoice(model="other"))

    heard = simulate(
        SCRIPT[:1],
        lambda request: answer(""),
        backend=Failing("big"),
        make_backend=make,
        fallback_backend=FALLBACK,
        during=choose_another,
    )
    assert heard.said(1) == "The fallback answers." and not heard.tasks_left
    told = heard.of(e.Failure)
    assert [one.sentence for one in told] == [f"{REASON} The built-in model answers meanwhile."]
    assert [one.model for one in heard.of(e.BackendChanged)] == [*(["other"] if earlier else []), "small"]


def test_another_one_answers_while_the_wanted_one_takes_long_to_open() -> None:
    heard, made = talk(failing=0, seconds=8.0)
    assert (heard.said(1), heard.said(2)) == ("The fallback answers.", "The wanted one answers.")
    assert not heard.of(e.Failure) and len(made) == 1


def test_one_that_never_opens_leaves_nothing_behind() -> None:
    heard, made = talk(failing=math.inf, seconds=math.inf)
    assert heard.said(2) == "The fallback answers."
    assert not heard.tasks_left and made[0].closed


def test_without_another_one_the_reason_is_raised() -> None:
    with pytest.raises(BackendError, match="No server answers"):
        talk(failing=math.inf, seconds=0.1, has_fallback=False)
