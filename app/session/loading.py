"""Opens a session's parts, side by side where they take long, and replaces a lost front-end.

Loading takes seconds, so it happens off the event loop, except in simulated sessions, which do everything on it.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextlib import ExitStack

from app.audio.io.base import AudioSink, AudioSource
from app.frontend.base import FrontEnd, FrontEndError
from app.session.parts import SessionParts
from app.stt.base import Transcriber
from app.tts.base import Voice, VoiceError

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

    async def load(self) -> None:
        """Open everything. Raises BackendError, FrontEndError, TranscriberError, VoiceError or AudioError."""
        parts = self._parts
        if parts.recorder is not None:
            self._stack.enter_context(parts.recorder)
        if self._simulated:
            await parts.backend.open()
            await self._enter_frontend()
            if parts.prepare is not None:
                parts.prepare()
            self._stack.enter_context(parts.transcriber)
        else:
            await self._load_side_by_side()
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

    async def close(self) -> None:
        """Close what is open."""
        gc.unfreeze()  # before the parts go, so that what they held can be collected
        if self._simulated:
            self._stack.close()
        else:  # threads and children take a moment to end: a window must not stand still meanwhile
            await asyncio.to_thread(self._stack.close)

    async def _load_side_by_side(self) -> None:
        parts = self._parts
        loading = [  # what has a child process first: that loads on another core, while libraries are imported here
            asyncio.create_task(work, name=f"load the {what}")
            for work, what in (
                (self._enter_frontend(), "voice"),
                (parts.backend.open(), "backend"),
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
    loop = asyncio.get_running_loop()
    entering = loop.run_in_executor(None, part.__enter__)  # no task: nobody is to wait for it at the end
    try:
        await asyncio.shield(entering)
    except asyncio.CancelledError:

        def leave(done: asyncio.Future) -> None:
            if not done.cancelled() and done.exception() is None:
                loop.run_in_executor(None, part.__exit__, None, None, None)

        entering.add_done_callback(leave)
        raise
