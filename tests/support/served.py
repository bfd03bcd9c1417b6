"""A voice server whose sessions are scripted: what clients say is in the script, at its times."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import numpy as np

from app.audio.io.pushed import PushedSource, SendingSink
from app.backend.scripted import ScriptedBackend, answer
from app.conversation.frame import FRAME_SAMPLES
from app.frontend.base import FrontEnd, FrontEndStep
from app.frontend.cascade import CascadeFrontEnd
from app.frontend.remote.frontend import RemoteFrontEnd
from app.server.served_talk import MakeTalk
from app.server.server import VoiceServer
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from tests.support.scripted import ScriptedTurn, ScriptedVoice
from tests.support.talks import scripted_parts

ROOM = np.full(FRAME_SAMPLES, 1e-4, np.float32)
QUESTION = [ScriptedTurn(0.16, 0.56, "What is the capital of Sweden?")]


def scripted_session(
    source: PushedSource,
    sink: SendingSink,
    script: list[ScriptedTurn] = QUESTION,
    said: str = "It is Stockholm.",
    lost: FrontEnd | None = None,
    first: float = 0.05,
) -> Session:
    """A session in real time that hears `script` and answers `said` after `first` seconds.

    `lost`: a front-end that it falls back from.
    """
    cascade = CascadeFrontEnd(ScriptedVoice(), "thinking", openings=False)
    fallback = (lambda: cascade) if lost is not None else None
    backend = ScriptedBackend(lambda request: answer(said, first=first))
    parts = scripted_parts(script, source, frontend=lost or cascade, fallback=fallback, backend=backend, sink=sink)
    return Session(parts, SessionConfig(SessionChoice(duplex=True, openings=False)))


@contextlib.asynccontextmanager
async def scripted_server(
    script: list[ScriptedTurn] = QUESTION, said: str = "It is Stockholm.", first: float = 0.05, **how: Any
) -> AsyncIterator[VoiceServer]:
    """A running server of such sessions on loopback."""

    async def make(source: PushedSource, sink: SendingSink) -> Session:
        return scripted_session(source, sink, script, said, first=first)

    async with served(make, **how) as server:
        yield server


@contextlib.asynccontextmanager
async def served(make: MakeTalk, **how: Any) -> AsyncIterator[VoiceServer]:
    """A running server of the sessions that `make` makes, on loopback."""
    async with VoiceServer(make, **how) as server:
        await server.start()
        yield server


@contextlib.asynccontextmanager
async def client(where: int | str, key: str = "") -> AsyncIterator[RemoteFrontEnd]:
    """A front-end that is connected to a port of this machine, or to an address."""
    frontend = RemoteFrontEnd(f"ws://127.0.0.1:{where}" if isinstance(where, int) else where, key)
    await asyncio.to_thread(frontend.__enter__)
    try:
        yield frontend
    finally:
        await asyncio.to_thread(frontend.__exit__, None, None, None)


def said(steps: list[FrontEndStep]) -> str:
    """The words of some steps."""
    return " ".join(one.text for step in steps for one in step.said)


def relayed(steps: list[FrontEndStep], *kinds: type) -> list[Any]:
    """The server's events of some types."""
    return [event for step in steps for event in step.events if isinstance(event, kinds)]


async def until(holds: Any, seconds: float = 10.0) -> None:
    """Waits until `holds()`; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)
