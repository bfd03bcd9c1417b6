"""The window's manager follows the state that a session publishes: real sessions, in simulated time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from app.backend.base import Backend, BackendError
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.event_json import to_json
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.session.control import BackendChoice, SessionState
from app.session.session import Session
from tests.support.scripted import ScriptedTurn
from tests.support.talks import Talk, simulate

FIRST = BackendChoice()
"""What the talks below begin with."""
ONE = BackendChoice("compatible", "m", "https://ann:one@server.example/v1")
TWO = BackendChoice("compatible", "m", "https://ann:two@server.example/v1")
"""They differ by a password alone, which no event contains."""
ELSEWHERE = BackendChoice("compatible", "m", "http://other.example/v1")
QUESTIONS = [ScriptedTurn(3.0, 5.0, "What is the capital of France?"), ScriptedTurn(12.0, 14.0, "And of Spain then?")]
REFUSED = "It refuses the key. Check the key, or choose another model."


@dataclass
class Followed:
    """A manager that follows a session; the back-ends that were settled, and the changes of the published state."""

    manager: SessionManager
    sent: list[tuple[object, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.manager.settled.connect(lambda choice: self.sent.append(("settled", choice)))
        self.manager.model.published.connect(self._note)

    def _note(self, before: SessionState, after: SessionState) -> None:
        if after.driver_number > before.driver_number:
            self.sent.append((after.reason, after.driving))
        if after.secondary_number > before.secondary_number:
            self.sent.append(("secondary", after.secondary))
        for refusal in set(after.refused) - set(before.refused):
            self.sent.append(("refused", refusal.part, refusal.choice, refusal.sentence))

    def of(self, *names: str) -> list[tuple[object, ...]]:
        """The signals of these names, in order."""
        return [one for one in self.sent if one[0] in names]


def follow(
    steps: Callable[[Followed], Awaitable[None]],
    make: Callable[[BackendChoice], Backend],
    *,
    secondary: BackendChoice | None = None,
) -> tuple[Followed, Talk]:
    """Runs a session with a manager that follows it, does these steps once it runs, and returns both."""
    kept: list[tuple[Followed, asyncio.Task[None]]] = []

    async def make_backend(choice: BackendChoice) -> Backend:
        await asyncio.sleep(0.1)
        return make(choice)

    def during(session: Session) -> None:
        async def built(choice: object, progress: object) -> Session:
            return session

        followed = Followed(SessionManager(built, SessionModel()))  # type: ignore[arg-type]

        async def run() -> None:
            followed.manager.start(session.choice)
            await asyncio.sleep(1.0)
            await steps(followed)

        kept.append((followed, asyncio.get_running_loop().create_task(run())))

    talk = simulate(
        QUESTIONS,
        lambda request: answer("Paris, of course."),
        make_backend=make_backend,
        secondary=secondary,
        during=during,
    )
    [(followed, task)] = kept
    task.result()  # raises what a step did, or that the session was over before
    return followed, talk


def backend(choice: BackendChoice, error: str = "") -> ScriptedBackend:
    """A back-end made for a choice, as the app makes them; with an `error` it fails of its key."""
    made: ScriptedBackend
    if error:

        class Failing(ScriptedBackend):
            async def _items(self, reply):  # type: ignore[no-untyped-def]
                raise BackendError(error, "key")
                yield ""

        made = Failing(lambda request: ScriptedAnswer(()), model=choice.model)
    else:
        made = ScriptedBackend(lambda request: answer("Madrid, of course."), model=choice.model)
    made.made_for = (choice.provider, choice.model, choice.base_url)  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("good", [ONE, ELSEWHERE])
def test_falling_back_between_two_that_events_name_alike(good: BackendChoice) -> None:
    """Their events name the same provider and model, and differ by the address at most."""

    async def steps(followed: Followed) -> None:
        manager = followed.manager
        manager.want(backend=good)
        await asyncio.sleep(8.0)  # it answers the first question
        manager.want(backend=TWO)
        await asyncio.sleep(0.5)
        assert manager.model.state.driving == manager.wanted.backend == TWO
        await asyncio.sleep(8.0)  # it fails at the second one
        state = manager.model.state
        assert (state.driving, manager.wanted.backend, state.reason) == (good, good, "fallback")
        [fault] = state.faults
        assert fault.choice == TWO

    followed, talk = follow(steps, lambda choice: backend(choice, REFUSED if choice == TWO else ""))
    assert followed.sent == [
        ("chosen", good),
        ("settled", good),
        ("chosen", TWO),
        ("settled", TWO),
        ("fallback", good),
    ]
    [failure] = talk.of(e.Failure)
    assert followed.manager.model.state.fault_of(failure) == followed.manager.model.state.faults[0]
    assert not any("one@" in to_json(event) or "two@" in to_json(event) for event in talk.events)


def test_falling_back_while_another_one_is_being_loaded() -> None:
    """What the user chose stays chosen, and is taken once it is there."""

    class Slow(ScriptedBackend):
        async def open(self) -> None:
            await asyncio.sleep(6.0)

    def make(choice: BackendChoice) -> Backend:
        return Slow(lambda request: answer("Madrid.")) if choice == ONE else backend(choice, REFUSED)

    async def steps(followed: Followed) -> None:
        manager = followed.manager
        manager.want(backend=TWO)
        await asyncio.sleep(0.5)
        manager.want(backend=ONE)
        await asyncio.sleep(4.5)
        state = manager.model.state
        assert (state.driving, state.reason, manager.wanted.backend) == (FIRST, "fallback", ONE)
        manager.want(muted=True)  # asks for nothing else
        await asyncio.sleep(4.0)
        assert manager.model.state.driving == manager.wanted.backend == ONE

    followed, talk = follow(steps, make)
    assert followed.of("settled") == [("settled", TWO), ("settled", ONE)]
    assert [change.reason for change in talk.of(e.BackendChanged)] == ["chosen", "fallback", "chosen"]


def test_a_comparison_model_that_is_refused_at_the_start_is_not_asked_for_with_every_later_change() -> None:
    asked: list[BackendChoice] = []

    def make(choice: BackendChoice) -> Backend:
        asked.append(choice)
        raise BackendError(REFUSED, "key")

    async def steps(followed: Followed) -> None:
        assert followed.manager.wanted.secondary is None
        followed.manager.want(muted=True)
        followed.manager.want(answer_mode="after")
        await asyncio.sleep(1.0)

    followed, talk = follow(steps, make, secondary=ONE)
    assert asked == [ONE] and len(talk.of(e.ChangeRefused)) == 1
    assert followed.of("secondary", "refused") == [("refused", "secondary", ONE, REFUSED)]


def test_the_same_refusal_twice_is_told_twice() -> None:
    def make(choice: BackendChoice) -> Backend:
        raise BackendError(REFUSED, "key")

    async def steps(followed: Followed) -> None:
        for _ in range(2):
            followed.manager.want(backend=ONE)
            assert followed.manager.model.state.refusal("backend") is None
            await asyncio.sleep(0.5)
            assert followed.manager.wanted.backend == FIRST

    followed, _ = follow(steps, make)
    assert followed.sent == [("refused", "backend", ONE, REFUSED)] * 2


def test_one_that_is_opened_again_and_fails_gives_way_to_the_one_before_of_the_same_choice() -> None:
    made: list[BackendChoice] = []

    def make(choice: BackendChoice) -> Backend:
        made.append(choice)
        return backend(choice, REFUSED if len(made) != 1 else "")

    async def steps(followed: Followed) -> None:
        manager = followed.manager
        manager.want(backend=ONE)
        await asyncio.sleep(8.0)  # it answers the first question
        manager.session.backends._pool.mark_failed(manager.session.backends._runner.backend)  # type: ignore[union-attr]
        manager.want(backend=ONE, reopen=["backend"])
        await asyncio.sleep(6.0)
        state = manager.model.state
        assert (state.driving, manager.wanted.backend, state.reason) == (ONE, ONE, "fallback")

    followed, talk = follow(steps, make)
    assert made == [ONE, ONE]
    assert followed.of("chosen", "fallback") == [("chosen", ONE), ("chosen", ONE), ("fallback", ONE)]
    assert {change.provider for change in talk.of(e.BackendChanged)} == {"compatible"}


def test_a_comparison_model_takes_over_and_both_are_known_at_once() -> None:
    seen: list[tuple[BackendChoice, BackendChoice | None]] = []

    async def steps(followed: Followed) -> None:
        manager = followed.manager
        manager.model.published.connect(lambda _, state: seen.append((state.driving, state.secondary)))
        manager.want(secondary=ONE)
        await asyncio.sleep(1.0)
        manager.hand_over()
        assert (manager.wanted.backend, manager.wanted.secondary) == (ONE, FIRST)

    followed, _ = follow(steps, backend)
    assert list(dict.fromkeys(seen)) == [(FIRST, None), (FIRST, ONE), (ONE, FIRST)]
    assert followed.sent == [("secondary", ONE), ("handed", ONE), ("secondary", FIRST), ("settled", ONE)]


def test_another_comparison_model_that_is_being_loaded_is_still_wanted_after_a_hand_over() -> None:
    async def steps(followed: Followed) -> None:
        manager = followed.manager
        manager.want(secondary=ONE)
        await asyncio.sleep(1.0)
        manager.want(backend=ONE, secondary=ELSEWHERE)
        await asyncio.sleep(0.05)
        assert (manager.model.state.driving, manager.model.state.secondary) == (ONE, FIRST)
        assert manager.wanted.secondary == ELSEWHERE
        await asyncio.sleep(1.0)
        assert manager.model.state.secondary == manager.wanted.secondary == ELSEWHERE

    follow(steps, backend)


def test_no_password_is_in_the_words_for_a_state() -> None:
    async def steps(followed: Followed) -> None:
        followed.manager.want(backend=TWO, secondary=ONE)
        await asyncio.sleep(8.0)

    followed, _ = follow(steps, lambda choice: backend(choice, REFUSED))
    state = followed.manager.model.state
    assert state.faults and "server.example" in repr(state)
    assert "one@" not in repr(state) + repr(state.wanted) and "two@" not in repr(state) + repr(state.wanted)
