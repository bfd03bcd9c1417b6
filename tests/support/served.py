"""A voice server whose sessions are scripted: what clients say is in the script, at its times."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from app.audio.io.pushed import PushedSource, SendingSink
from app.backend.scripted import ScriptedBackend, answer
from app.frontend.cascade import CascadeFrontEnd
from app.server.server import VoiceServer
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from app.stt.scripted import ScriptedTranscriber, ScriptedTurn, ScriptedVoiceActivity
from app.tts.scripted import ScriptedVoice

QUESTION = [ScriptedTurn(0.4, 1.2, "What is the capital of Sweden?")]


def scripted_session(
    source: PushedSource, sink: SendingSink, script: list[ScriptedTurn] = QUESTION, said: str = "It is Stockholm."
) -> Session:
    """A session in real time that hears `script` and answers `said`."""
    parts = SessionParts(
        frontend=CascadeFrontEnd(ScriptedVoice(), "thinking", openings=False),
        transcriber=ScriptedTranscriber(script),
        voice_activity=ScriptedVoiceActivity(script),
        backend=ScriptedBackend(lambda request: answer(said, first=0.05)),
        source=source,
        sink=sink,
    )
    return Session(parts, SessionConfig(SessionChoice(duplex=True, openings=False)))


@contextlib.asynccontextmanager
async def scripted_server(
    script: list[ScriptedTurn] = QUESTION, said: str = "It is Stockholm.", **how: Any
) -> AsyncIterator[VoiceServer]:
    """A running server of such sessions on loopback."""
    async with VoiceServer(lambda source, sink: scripted_session(source, sink, script, said), **how) as server:
        yield server


async def until(holds: Any, seconds: float = 10.0) -> None:
    """Waits until `holds()`; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)
