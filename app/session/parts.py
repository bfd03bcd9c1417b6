"""What a session is made of, how it runs, and how its parts are opened and closed.

Loading takes seconds, so it happens off the event loop, except in simulated sessions, which do everything on it.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal

from app.audio.io.base import AudioSink, AudioSource, DuplexAudio
from app.backend.base import Backend, Usage
from app.backend.model_record import ModelRecords
from app.conversation.turns.endpointing import PauseLengths
from app.frontend.base import FrontEnd, FrontEndError
from app.platform.supervision import acquire
from app.session.control import BackendChoice, SessionChoice, SpeechChoice, ToolChoice
from app.session.recorder import Recorder
from app.stt.base import Transcriber, VoiceActivity
from app.tools.toolbox import Toolbox
from app.tts.base import Voice, VoiceError

Pace = Literal["real", "simulated", "fast"]
"""`real`: a thread follows the sound. `simulated`: a loop's virtual time, everything scripted. `fast`: as
fast as the machine goes, each frame waiting for recogniser and voice, and the answer for the back-end."""


@dataclass(slots=True)
class SessionParts:
    """The parts of a session, which opens and closes them in this order.

    `edge`: the devices behind `source` and `sink`, if they are devices. `fallback` makes the front-end that takes over
    when the first one is lost, while loading or later; `fallback_backend` is the back-end that answers while the wanted
    one can't be opened at the start, made by `make_backend`. The `make_...` functions build a part for a choice, not
    opened yet; without one the session keeps what it has. `cost` returns US dollars for a request, None if unknown.
    `records`: what earlier sessions learned of models. `prepare` loads on a thread whatever else is needed.
    `keep_pauses` stores what was learned of the user's pauses when the session is over; it may write files, so it runs
    on a thread (but in simulated time).
    """

    frontend: FrontEnd
    transcriber: Transcriber
    voice_activity: VoiceActivity
    backend: Backend
    source: AudioSource
    sink: AudioSink
    edge: DuplexAudio | None = None
    recorder: Recorder | None = None
    fallback: Callable[[], FrontEnd] | None = None
    fallback_backend: BackendChoice | None = None
    make_backend: Callable[[BackendChoice], Awaitable[Backend]] | None = None
    make_tools: Callable[[ToolChoice], Toolbox] | None = None
    make_transcriber: Callable[[SpeechChoice], Awaitable[Transcriber]] | None = None
    make_voice: Callable[[SpeechChoice], Awaitable[Voice]] | None = None
    cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None
    records: ModelRecords = field(default_factory=ModelRecords)
    prepare: Callable[[], None] | None = None
    keep_pauses: Callable[[PauseLengths], None] = lambda pauses: None


@dataclass(slots=True)
class SessionConfig:
    """How a session runs. `choice` is what it should be; the parts given to it are already made for that choice.

    `first_voice`: the voice that the front-end begins with. `pauses`: what is known of how long this user pauses within
    turns; the session goes on learning it. `end_with_input`: the session ends when the source does and both sides have
    finished, or `max_answer_seconds` later. `tools_first`: it begins when its tool servers are ready or given up, which
    takes 10 s at most, so that its first answer has their tools. `remember_seconds`: how much sound of both sides stays
    in memory for `Session.sound_of`.
    """

    choice: SessionChoice = field(default_factory=SessionChoice)
    pace: Pace = "real"
    first_voice: str = ""
    pauses: PauseLengths = field(default_factory=PauseLengths)
    end_with_input: bool = True
    max_answer_seconds: float = 90.0
    tools_first: bool = False
    remember_seconds: float = 0.0


_Part = FrontEnd | Transcriber | Voice | AudioSource | AudioSink


class Loader:
    """Opens `parts` and closes them in reverse order. `simulated`: without threads.

    `lost` is what the first front-end said when it could not be opened and the fallback took its place, else "".
    """

    def __init__(self, parts: SessionParts, *, simulated: bool) -> None:
        self.lost = ""
        self._parts = parts
        self._simulated = simulated
        self._stack = ExitStack()

    async def load(self, open_backend: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Open everything. Raises BackendError, FrontEndError, TranscriberError, VoiceError or AudioError.

        `open_backend` opens the back-end; by default the one of `parts`.
        """
        parts, open_backend = self._parts, open_backend or self._parts.backend.open
        if parts.recorder is not None:
            self._stack.enter_context(parts.recorder)
        if self._simulated:
            await open_backend()
            await self._enter_frontend()
            if parts.prepare is not None:
                parts.prepare()
            self._stack.enter_context(parts.transcriber)
        else:
            await self._load_side_by_side(open_backend)
        # Sound devices take up to seconds to open, and a canceller to load: a window must not stand still meanwhile.
        await self._enter(parts.sink)
        await self._enter(parts.source)

    async def replace_frontend(self) -> FrontEnd:
        """Close the lost front-end and open the fallback. Raises FrontEndError for whatever goes wrong."""
        lost, fallback = self._parts.frontend, self._parts.fallback
        assert fallback is not None
        gc.unfreeze()  # the models among what was frozen go now, with what they hold
        try:
            if self._simulated:
                lost.__exit__(None, None, None)
            else:
                await asyncio.to_thread(lost.__exit__, None, None, None)
            frontend = fallback()
            await self._enter(frontend)
        except Exception as error:  # whatever it is, nobody is left who could speak
            why = str(error) if isinstance(error, FrontEndError | VoiceError) else f"{type(error).__name__}: {error}"
            raise FrontEndError(
                f"No other voice could be had either ({why}). The conversation is over; what was said stays."
            ) from error
        self._parts.frontend = frontend
        return frontend

    def call_at_close(self, work: Callable[[], None]) -> None:
        """Call `work` when everything is to be closed, before any part is."""
        self._stack.callback(work)

    async def close(self, free: Callable[[], None] | None = None) -> None:
        """Closes what is open. `free`: waits until the parts are no longer used; they are closed after that, later."""
        gc.unfreeze()  # before the parts go, so that what they held can be collected
        if free is not None:

            def close_when_free() -> None:
                free()
                self._stack.close()

            threading.Thread(target=close_when_free, name="close parts later", daemon=True).start()
        elif self._simulated:
            self._stack.close()
        else:  # threads and children take a moment to end: a window must not stand still meanwhile
            await asyncio.to_thread(self._stack.close)

    async def _load_side_by_side(self, open_backend: Callable[[], Coroutine[Any, Any, None]]) -> None:
        parts = self._parts
        loading = [  # what has a child process first: that loads on another core, while libraries are imported here
            asyncio.create_task(work, name=f"load the {what}")
            for work, what in (
                (self._enter_frontend(), "voice"),
                (open_backend(), "backend"),
                (self._enter(parts.transcriber), "transcriber"),
                (self._prepare(), "rest"),
            )
        ]
        try:
            loaded = await asyncio.gather(*loading, return_exceptions=True)
        except asyncio.CancelledError:  # all have been cancelled too: what they have begun is theirs to end
            await asyncio.wait(loading)
            raise
        for result in loaded:
            if isinstance(result, BaseException):
                raise result
        gc.collect()
        gc.freeze()  # a full collection over the models' objects would stop every thread for 0.2 s

    async def _prepare(self) -> None:
        if self._parts.prepare is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._parts.prepare)

    async def _enter_frontend(self) -> None:
        """Enter the front-end, or the fallback if it can't be entered."""
        parts = self._parts
        try:
            await self._enter(parts.frontend)
        except FrontEndError as error:
            if parts.fallback is None:
                raise
            self.lost = str(error)
            parts.frontend = parts.fallback()
            await self._enter(parts.frontend)

    async def _enter(self, part: _Part) -> None:
        await enter(part, simulated=self._simulated)
        self._stack.push(part.__exit__)


async def enter(part: _Part, *, simulated: bool = False) -> None:
    """Enter a part on a thread. If cancelled meanwhile, it is exited as soon as it has loaded. `simulated`: without a
    thread.
    """
    if simulated:
        part.__enter__()
        return
    await acquire(part.__enter__, lambda entered: part.__exit__(None, None, None))
