"""Makes sessions in simulated time for benches: real models, whose results are as late as in the real window.

The figures are the same on every machine, however busy, and a conversation takes less time than its sound. What each
stage costs was measured in the window on two cores, where all stages run side by side.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from app.audio.io.base import AudioSink, AudioSource
from app.backend.base import Backend, ChatRequest, StreamItem, Usage
from app.conversation.frame import SAMPLE_RATE
from app.frontend.cascade import CascadeFrontEnd
from app.models.catalogue import DEFAULTS
from app.models.selection import Speed
from app.research.benches.listening import HEARING_COSTS, SpeechModels, TimedTranscriber, speech_models
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from app.tts.base import Clip, Voice
from app.tts.voices import make_voice

SMALLEST = Speed(0.3, 45.0)
"""The smallest model: `bench first-word` prints both figures."""

CLIP_SECONDS = 0.12
CLIP_SECONDS_A_SECOND = 0.07
"""A clip of Piper's, and each second of its sound."""


class SimulatedTranscriber(TimedTranscriber):
    """The app's transcriber, whose results are delivered on the running loop in simulated time."""

    def __init__(self, models: SpeechModels) -> None:
        self._loop = asyncio.get_running_loop()
        super().__init__(models.decoder, models.judge, models.words)

    @property
    def now(self) -> float:
        """The loop's time; setting it has no effect."""
        return self._loop.time()

    @now.setter
    def now(self, value: float) -> None:
        pass

    def _keep(self, result: Callable[[], None]) -> None:
        self._loop.call_at(self.working.finish(), result)


class SimulatedVoice:
    """A voice whose clips are ready as late as Piper's, one after the other."""

    rate = volume = 1.0

    def __init__(self, voice: Voice) -> None:
        self.name = voice.name
        self._voice = voice
        self._loop = asyncio.get_running_loop()
        self._free_at = 0.0

    def synthesize(self, text: str) -> Future[Clip]:
        out: Future[Clip] = Future()
        made = self._voice.synthesize(text)
        error = made.exception()
        seconds = 0.0 if error is not None else len(made.result().samples) / SAMPLE_RATE
        self._free_at = max(self._free_at, self._loop.time()) + CLIP_SECONDS + CLIP_SECONDS_A_SECOND * seconds

        def deliver() -> None:
            if not out.set_running_or_notify_cancel():
                return
            if error is not None:
                out.set_exception(error)
            else:
                out.set_result(made.result())

        self._loop.call_at(self._free_at, deliver)
        return out

    def __enter__(self) -> SimulatedVoice:
        self._voice.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._voice.__exit__(*exc)


class SimulatedBackend:
    """A back-end that runs on a real loop of its own. `speed`: how late its words come; None: as late as they were."""

    def __init__(self, backend: Backend, speed: Speed | None) -> None:
        self.name, self.model, self.traits = backend.name, backend.model, backend.traits
        if speed is not None:
            self.traits = self.traits.at_speed(speed.first, speed.rate)
        self._backend = backend
        self._speed = speed
        self._real = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._real.run_forever, name="back-end in real time", daemon=True)
        self._thread.start()

    async def open(self) -> None:
        self._run(self._backend.open())

    async def prime(self, request: ChatRequest) -> None:
        self._run(self._backend.prime(request))

    async def models(self) -> list[str]:
        return self._run(self._backend.models())

    async def close(self) -> None:
        self._run(self._backend.close())
        self._real.call_soon_threadsafe(self._real.stop)
        self._thread.join()
        self._real.close()

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        context = self._backend.stream(request)
        began = time.perf_counter()
        items = self._run(context.__aenter__())
        try:
            yield self._items(items, began)
        finally:
            self._run(context.__aexit__(None, None, None))

    async def _items(self, items: AsyncIterator[StreamItem], began: float) -> AsyncIterator[StreamItem]:
        speed, late, after_blank = self._speed, None, False
        while True:
            try:
                item = self._run(anext(items))
            except StopAsyncIteration:
                return
            if speed is None:
                late = time.perf_counter() - began
            elif late is None:
                late = speed.first
            else:
                late = _words_begun(f"{' ' * after_blank}{item}") / speed.rate if isinstance(item, str) else 0.0
            after_blank = isinstance(item, str) and item[-1:].isspace()
            await asyncio.sleep(late)
            began = time.perf_counter()
            yield item

    def _run(self, work: Any) -> Any:
        async def run() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(run(), self._real).result()


def _words_begun(text: str) -> int:
    """The number of words that begin after a blank."""
    return len(re.findall(r"\s\S", text))


class SimulatedParts:
    """Makes sessions in simulated time. A context manager, which loads the models that hear and may raise
    TranscriberError. `make_backend` makes a back-end that is not open yet. `speeds`: known speeds of embedded models,
    by their keys; `other`: of every other back-end, None for the speed that it has. `cost`: US dollars of a request.
    """

    def __init__(
        self,
        make_backend: Callable[[SessionChoice], Backend],
        speeds: Mapping[str, Speed] | None = None,
        *,
        other: Speed | None = None,
        cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None,
    ) -> None:
        self._make_backend = make_backend
        self._cost = cost
        self._other = other
        self._speeds = {DEFAULTS["llm"]: SMALLEST, **(speeds or {})}

    @property
    def costs(self) -> str:
        """What the stages cost, in sentences for a result's table."""
        models = "; ".join(
            f"{name} {speed.first:.2f} s to its first word and {speed.rate:.0f} words a second"
            for name, speed in self._speeds.items()
        )
        return (
            f"In simulated time {HEARING_COSTS}, a clip of the voice {CLIP_SECONDS} s and {CLIP_SECONDS_A_SECOND} s "
            f"for each second of it. Language models: {models}."
        )

    def __enter__(self) -> SimulatedParts:
        with ExitStack() as stack:
            self._models = stack.enter_context(speech_models())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def session(
        self,
        choice: SessionChoice,
        source: AudioSource,
        sink: AudioSink,
        *,
        end_with_input: bool = True,
        remember_seconds: float = 0.0,
    ) -> Session:
        """Makes a session of `choice`, to be entered on a loop in simulated time. Raises VoiceError.

        Its voice is loaded for it alone: a voice's random variation goes on from clip to clip, so that a voice in
        common would sound otherwise, and longer or shorter, depending on what was said before.
        """
        voice = SimulatedVoice(make_voice())
        model = choice.backend.model or DEFAULTS["llm"]
        speed = self._speeds.get(model) if choice.backend.provider == "embedded" else self._other
        parts = SessionParts(
            frontend=CascadeFrontEnd(voice, choice.answer_mode, openings=choice.openings),
            transcriber=SimulatedTranscriber(self._models),
            voice_activity=self._models.voice_detector(),
            backend=SimulatedBackend(self._make_backend(choice), speed),
            source=source,
            sink=sink,
            cost=self._cost,
        )
        config = SessionConfig(
            choice=choice,
            pace="simulated",
            end_with_input=end_with_input,
            remember_seconds=remember_seconds,
        )
        return Session(parts, config)
