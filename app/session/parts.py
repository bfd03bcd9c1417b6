"""The parts of a session, its configuration, and how parts are opened, exchanged and closed.

Loading takes seconds, so it is done off the event loop, except in simulated sessions.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from app.audio.io.base import AudioSink, AudioSource, DuplexAudio
from app.backend.base import Backend, Usage
from app.backend.model_record import ModelRecords
from app.conversation.turns.endpointing import PauseLengths
from app.frontend.base import FrontEnd, FrontEndError
from app.platform.supervision import acquire
from app.session.control import BackendChoice, LoadedPart, Progress, SessionChoice, SpeechChoice, ToolChoice
from app.session.recorder import Recorder
from app.stt.base import Transcriber, VoiceActivity
from app.tools.consent import Policy
from app.tools.toolbox import Toolbox
from app.tts.base import Voice, VoiceError

Pace = Literal["real", "simulated", "fast"]
"""`real`: a thread follows the audio. `simulated`: an event loop's virtual time, with scripted parts. `fast`: as fast
as possible, but each frame waits for the recogniser and the voice, and an answer for the back-end."""


@dataclass(slots=True)
class SessionParts:
    """The parts of a session.

    - `edge`: the devices behind `source` and `sink`, if these are devices.
    - `fallback`: creates the front-end that takes over if the first one can't be loaded or fails later.
    - `fallback_backend`: the back-end that answers while the wanted one can't be opened at the start.
    - `make_...`: creates a part for a choice without opening it. Without it, the session keeps the part that it has.
    - `keep_always`: stores that a tool server's tool is always allowed; runs on a thread. Raises ToolError.
    - `cost`: returns US dollars for a request; None if unknown.
    - `records`: what earlier sessions learned of models.
    - `prepare`: loads whatever else is needed; runs on a thread.
    - `progress`: called with the progress of the start, on the event loop's thread.
    - `keep_pauses`: stores what was learned of the user's pauses at the end; runs on a thread unless simulated.
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
    keep_always: Callable[[str, str], None] = lambda server, tool: None
    make_transcriber: Callable[[SpeechChoice], Awaitable[Transcriber]] | None = None
    make_voice: Callable[[SpeechChoice], Awaitable[Voice]] | None = None
    cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None
    records: ModelRecords = field(default_factory=ModelRecords)
    prepare: Callable[[], None] | None = None
    progress: Callable[[Progress], object] = lambda progress: None
    keep_pauses: Callable[[PauseLengths], None] = lambda pauses: None


@dataclass(slots=True)
class SessionConfig:
    """How a session runs.

    - `choice`: what it should be. Its parts have been created for that choice.
    - `first_voice`: the voice that the front-end starts with.
    - `pauses`: how long this user pauses within turns. The session continues to learn it.
    - `end_with_input`: it ends once the source has ended and both sides have finished, or `max_answer_seconds` later.
    - `tools_first`: it starts once its tool servers are ready or have failed (at most 10 s), so that the first answer
      can use them.
    - `consent`: what happens to tool calls that may send or change something. Only a session whose user sees the calls
      and speaks into its microphone can ask.
    - `remember_seconds`: how much audio of both sides to keep in memory for `Session.sound_of`.
    """

    choice: SessionChoice = field(default_factory=SessionChoice)
    pace: Pace = "real"
    first_voice: str = ""
    pauses: PauseLengths = field(default_factory=PauseLengths)
    end_with_input: bool = True
    max_answer_seconds: float = 90.0
    tools_first: bool = False
    consent: Policy = "refuse"
    remember_seconds: float = 0.0


class LatestTask:
    """One task at a time. A new one replaces it and starts once it has ended, so that two never overlap.

    The work must handle its own errors; `stop` raises those that it doesn't.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    @property
    def running(self) -> bool:
        """Whether work is in progress."""
        return self._task is not None and not self._task.done()

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Cancels the work in progress, then runs `work`."""
        self.cancel()
        self._task = asyncio.get_running_loop().create_task(self._run(work), name=self._name)

    def cancel(self) -> None:
        """Cancels the work in progress without waiting for its end."""
        if self._task is not None:
            self._task.cancel()

    async def wait(self) -> None:
        """Waits until the newest work has ended."""
        while self.running:
            assert self._task is not None
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Cancels the work in progress and waits for its end. Raises its exception, if any."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait([task])
        async with self._lock:
            pass  # work that was cancelled earlier has ended, too
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._lock:
            await work()


PROGRESS_SECONDS = 0.2
"""How often a front-end is asked how far its loading has come."""

_Part = FrontEnd | Transcriber | Voice | AudioSource | AudioSink


class Loader:
    """Opens `parts` and closes them in reverse order. `simulated`: without threads.

    - `lost`: the error of the first front-end if it could not be opened and was replaced by the fallback, otherwise
      empty.
    - `waiting`: the parts that are not loaded yet.
    """

    def __init__(self, parts: SessionParts, *, simulated: bool) -> None:
        self.lost = ""
        self._parts = parts
        self._simulated = simulated
        self._stack = ExitStack()
        self._devices = ExitStack()
        # Sources other than devices deliver as soon as they are open, but nothing reads them while models are loading.
        self._early = parts.edge is not None and not simulated
        self.waiting: tuple[LoadedPart, ...] = ("recogniser", "voice", "model")

    async def load(
        self,
        open_backend: Callable[[], Coroutine[Any, Any, None]],
        devices_open: Callable[[], object] = lambda: None,
        report: Callable[[], object] = lambda: None,
    ) -> None:
        """Opens everything. Raises BackendError, FrontEndError, TranscriberError, VoiceError or AudioError.

        - `open_backend`: opens the back-end.
        - `devices_open`: called when source and sink are open; a person's devices are before the models are loaded.
        - `report`: called whenever `waiting` has changed.
        """
        parts = self._parts
        if parts.recorder is not None:
            self._stack.enter_context(parts.recorder)
        if self._simulated:
            await open_backend()
            await self._enter_frontend()
            if parts.prepare is not None:
                parts.prepare()
            self._stack.enter_context(parts.transcriber)
        else:
            report()
            await self._load_side_by_side(open_backend, devices_open, report)
        if not self._early:
            await self._open_devices(devices_open)

    async def _open_devices(self, opened: Callable[[], object]) -> None:
        # Opening devices and loading an echo canceller may take seconds, in which a window must not freeze.
        parts = self._parts.sink, self._parts.source
        for part in reversed(parts) if self._early else parts:  # a microphone first: it is heard from then on
            await enter(part, simulated=self._simulated)
            self._devices.push(part.__exit__)
        opened()

    async def replace_frontend(self) -> FrontEnd:
        """Closes the lost front-end and opens the fallback. Converts any exception to FrontEndError."""
        lost, fallback = self._parts.frontend, self._parts.fallback
        assert fallback is not None
        try:
            await self.close_part(lost)
            frontend = fallback()
            await self.open_part(frontend)
        except Exception as error:  # of any kind: the session has no front-end then
            why = str(error) if isinstance(error, FrontEndError | VoiceError) else f"{type(error).__name__}: {error}"
            raise FrontEndError(
                f"No other voice could be loaded either ({why}), so the conversation has ended. What was said is kept."
            ) from error
        self._parts.frontend = frontend
        return frontend

    async def close_part(self, part: _Part) -> None:
        """Exits a part that is no longer used. It is exited once more at the end."""
        if self._simulated:
            part.__exit__(None, None, None)
        else:
            await asyncio.to_thread(part.__exit__, None, None, None)

    def call_at_close(self, work: Callable[[], None]) -> None:
        """Calls `work` on closing, before any part is closed."""
        self._devices.callback(work)

    async def close(self, free: Callable[[], None] | None = None) -> None:
        """Closes what is open. `free`: waits until the parts are unused; in that case they are closed later, on a
        thread.
        """
        gc.unfreeze()  # so that the parts' objects can be collected
        if free is not None:

            def close_when_free() -> None:
                free()
                self._close()

            threading.Thread(target=close_when_free, name="close parts later", daemon=True).start()
        elif self._simulated:
            self._close()
        else:  # threads and child processes take time to end, in which a window must not freeze
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        try:
            self._devices.close()  # first, so that the microphone is not open while the models end
        finally:
            self._stack.close()

    async def _load_side_by_side(
        self,
        open_backend: Callable[[], Coroutine[Any, Any, None]],
        devices_open: Callable[[], object],
        report: Callable[[], object],
    ) -> None:
        async def load(part: LoadedPart, work: Coroutine[Any, Any, None]) -> None:
            await work
            self.waiting = tuple(one for one in self.waiting if one != part)
            report()

        gc.collect()  # what earlier sessions have left; not later, when the devices are open and must not wait
        loading = [  # child processes first: they load on other cores while libraries are imported here
            asyncio.create_task(work, name=f"load the {what}")
            for work, what in (
                (load("voice", self._enter_frontend()), "voice"),
                (load("model", open_backend()), "backend"),
                (load("recogniser", self.open_part(self._parts.transcriber)), "transcriber"),
                (self._prepare(), "rest"),
                *(((self._open_devices(devices_open), "devices"),) if self._early else ()),
            )
        ]
        voice = loading[0]
        loading.append(asyncio.create_task(self._watch(voice, report), name="progress"))
        try:
            loaded = await asyncio.gather(*loading, return_exceptions=True)
        except asyncio.CancelledError:  # these tasks have been cancelled too, and close what they have opened
            await asyncio.wait(loading)
            raise
        for result in loaded:
            if isinstance(result, BaseException):
                raise result
        gc.freeze()  # a full collection over the models' objects would stop every thread for 0.2 s

    async def _watch(self, voice: asyncio.Task[None], report: Callable[[], object]) -> None:
        """Calls `report` whenever the front-end, which `voice` loads, says something new about that."""
        said = self._parts.frontend.loading
        while not voice.done():
            await asyncio.wait([voice], timeout=PROGRESS_SECONDS)
            if (now := self._parts.frontend.loading) != said:
                said = now
                report()

    async def _prepare(self) -> None:
        if self._parts.prepare is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._parts.prepare)

    async def _enter_frontend(self) -> None:
        """Enters the front-end, or the fallback if that fails."""
        parts = self._parts
        try:
            await self.open_part(parts.frontend)
        except FrontEndError as error:
            if parts.fallback is None:
                raise
            self.lost = str(error)
            parts.frontend = parts.fallback()
            await self.open_part(parts.frontend)

    async def open_part(self, part: _Part) -> None:
        """Enters a part, which is exited at the end. Propagates its exceptions."""
        await enter(part, simulated=self._simulated)
        self._stack.push(part.__exit__)


@runtime_checkable
class Cancellable(Protocol):
    """A part that takes so long to load that a cancelled load must end early."""

    def cancel(self) -> None:
        """Makes entering it on another thread end soon."""
        ...


async def enter(part: _Part, *, simulated: bool = False) -> None:
    """Enters a part on a thread. If this is cancelled, so is the loading, and the part is exited if it has loaded.
    `simulated`: without a thread.
    """
    if simulated:
        part.__enter__()
        return
    cancel = part.cancel if isinstance(part, Cancellable) else None
    await acquire(part.__enter__, lambda entered: part.__exit__(None, None, None), cancel)
