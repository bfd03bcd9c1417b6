"""What the window takes for the wanted and for the driving model, whatever fails or is chosen meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.conversation.events import BackendChanged, Event, SecondaryChanged
from app.gui.state.session_manager import SessionManager
from app.session.control import BackendChoice, SessionChoice
from app.session.errors import UserError
from tests.gui.fakes import FakeFactory, FakeSession

FIRST = BackendChoice("openai", "gpt-4.1")
SECOND = BackendChoice("ollama", "gemma3:4b")
THIRD = BackendChoice("google", "gemini-2.5-flash")


class Told:
    """Notes what the manager signals of back-ends."""

    def __init__(self, manager: SessionManager) -> None:
        self.settled: list[BackendChoice] = []
        self.taken: list[BackendChoice] = []
        self.secondary: list[BackendChoice | None] = []
        manager.backend_settled.connect(self.settled.append)
        manager.backend_taken.connect(self.taken.append)
        manager.secondary_taken.connect(self.secondary.append)


@asynccontextmanager
async def managed(factory: FakeFactory, choice: SessionChoice) -> AsyncIterator[SessionManager]:
    events: list[Event] = []
    manager = SessionManager(factory, events.append)
    manager.start(choice)
    await calm()
    yield manager
    await manager.close()


async def calm() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def changed(choice: BackendChoice, reason: str) -> BackendChanged:
    return BackendChanged(
        1.0,
        choice.provider,
        choice.model,
        reason,  # type: ignore[arg-type]
        choice.provider,
        choice.model,
        choice.base_url,
    )


async def test_a_model_that_is_loading_stays_the_wanted_one_when_the_driver_fails() -> None:
    factory = FakeFactory()
    async with managed(factory, SessionChoice(backend=FIRST)) as manager:
        manager.want(backend=SECOND)
        await calm()
        told, session = Told(manager), factory.session
        session.slow = asyncio.Event()
        manager.want(backend=THIRD)
        await calm()
        session.say(changed(FIRST, "fallback"))
        assert (manager.driving, manager.wanted.backend, told.settled) == (FIRST, THIRD, [])
        session.slow.set()
        await calm()
        assert manager.driving == manager.wanted.backend == THIRD
        assert told.settled == told.taken == [THIRD]


async def test_a_driver_that_fails_while_nothing_is_chosen_gives_way() -> None:
    factory = FakeFactory()
    async with managed(factory, SessionChoice(backend=FIRST)) as manager:
        manager.want(backend=SECOND)
        await calm()
        factory.session.say(changed(FIRST, "fallback"))
        assert manager.driving == manager.wanted.backend == FIRST


def hand_over(session: FakeSession, now: BackendChoice, before: BackendChoice) -> None:
    session.say(changed(now, "handed"), SecondaryChanged(1.0, before.provider, before.model))


async def test_the_comparison_model_becomes_the_driver() -> None:
    factory = FakeFactory()
    async with managed(factory, SessionChoice(backend=FIRST, secondary=SECOND)) as manager:
        told = Told(manager)
        hand_over(factory.session, SECOND, FIRST)
        assert (manager.driving, manager.secondary) == (SECOND, FIRST)
        assert (manager.wanted.backend, manager.wanted.secondary) == (SECOND, FIRST)
        assert told.taken == [SECOND] and told.secondary == [FIRST]


async def test_another_comparison_model_that_is_loading_is_still_wanted_after_a_hand_over() -> None:
    factory = FakeFactory()
    async with managed(factory, SessionChoice(backend=FIRST, secondary=SECOND)) as manager:
        manager.prepare(SessionChoice(backend=SECOND, secondary=THIRD))  # the session has been told, and loads it
        hand_over(factory.session, SECOND, FIRST)
        assert (manager.driving, manager.secondary, manager.wanted.secondary) == (SECOND, FIRST, THIRD)
        factory.session.say(SecondaryChanged(2.0, THIRD.provider, THIRD.model))
        assert manager.secondary == manager.wanted.secondary == THIRD


async def test_a_start_that_failed_is_not_repeated_after_a_stop() -> None:
    """As when the demo has the devices: choosing a model must not start a second session beside it."""
    factory = FakeFactory([UserError("no microphone")])
    async with managed(factory, SessionChoice(backend=FIRST)) as manager:
        assert manager.gave_up
        manager.stop()
        manager.want(backend=SECOND, microphone="other")
        await calm()
        assert manager.phase == "stopped" and len(factory.choices) == 1
