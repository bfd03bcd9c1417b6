"""A session and a factory that do nothing but note what they are told, and say what a test has them say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from app.conversation.events import Event, Manner
from app.session.control import BackendChoice, SessionChoice


class FakeSession:
    """Notes every call in `calls`; `say` passes events to the listeners."""

    def __init__(self, choice: SessionChoice) -> None:
        self.choice = choice
        self.calls: list[tuple[Any, ...]] = []
        self.listeners: list[Callable[[Event], None]] = []
        self.refusal: Exception | None = None
        self.slow: asyncio.Event | None = None
        self.last_words: list[Event] = []
        self.stopped = 0
        self.stop_hangs = False

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        self.listeners.append(listener)

    def say(self, *events: Event) -> None:
        for event in events:
            for listener in self.listeners:
                listener(event)

    def press(self) -> None:
        self.calls.append(("press",))

    def release(self) -> None:
        self.calls.append(("release",))

    def set_duplex(self, duplex: bool) -> None:
        self.calls.append(("set_duplex", duplex))

    def set_manner(self, manner: Manner) -> None:
        self.calls.append(("set_manner", manner))

    def set_dials(self, delay: int, lead: int) -> None:
        self.calls.append(("set_dials", delay, lead))

    async def set_backend(self, choice: BackendChoice) -> None:
        self.calls.append(("set_backend", choice))
        if self.slow is not None:
            await self.slow.wait()
        if self.refusal is not None:
            raise self.refusal

    async def stop(self) -> None:
        self.stopped += 1
        if self.stop_hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        self.say(*self.last_words)


@dataclass
class FakeFactory:
    """Builds `FakeSession`s. `outcomes` are raised or built from in turn; `gate` holds the building back."""

    outcomes: list[Exception | None] = field(default_factory=list)
    progress: Iterable[str] = ("loading the ears",)
    gate: asyncio.Event | None = None
    choices: list[SessionChoice] = field(default_factory=list)
    sessions: list[FakeSession] = field(default_factory=list)
    cancelled: int = 0

    async def __call__(self, choice: SessionChoice, progress: Callable[[str], None]) -> FakeSession:
        self.choices.append(choice)
        try:
            for words in self.progress:
                progress(words)
                await asyncio.sleep(0)
            if self.gate is not None:
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        self.sessions.append(FakeSession(choice))
        return self.sessions[-1]

    @property
    def session(self) -> FakeSession:
        """The newest session."""
        return self.sessions[-1]


def no_devices() -> tuple[list[str], list[str]]:
    """No device at all."""
    return [], []


def two_devices() -> tuple[list[str], list[str]]:
    """A desk microphone, and headphones."""
    return ["Desk microphone"], ["Headphones"]
