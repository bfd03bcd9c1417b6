"""Runs the app's own models in simulated time, over a recording or in whole sessions.

Each stage takes the time measured in the real window on two cores, where all stages run concurrently. The figures are
therefore the same on every machine and under any load, and a conversation is processed in less time than its audio
lasts. A `Listener` processes a recording frame by frame as a session does; `SimulatedParts` creates sessions for a loop
in simulated time.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import soxr

from app.audio.io.base import AudioSink, AudioSource
from app.backend.base import Backend, ChatRequest, StreamItem, Usage
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE, Frame, frames
from app.conversation.turns import floor
from app.conversation.turns.floor import FloorCommand, TurnEvent
from app.conversation.turns.tracker import TurnTracker
from app.frontend.cascade import CascadeFrontEnd
from app.models.catalogue import DEFAULTS
from app.models.locations import default_model
from app.models.selection import Speed
from app.platform.children import ChildError
from app.platform.installation import completing_command
from app.session.control import BackendChoice, SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from app.stt.base import EndOfTurn, TranscriberError, TranscriptUpdate, VoiceActivity
from app.stt.streaming import PASSES_AT_ONCE, RATE, Decoder, StreamingTranscriber, WordsJudge
from app.tts.base import Clip, Voice
from app.tts.voices import make_voice


@dataclass(frozen=True, slots=True)
class SpeechModels:
    """The recogniser, and the end-of-turn judges for audio and for words.

    `words`: None if the language model can't run.
    """

    decoder: Decoder
    judge: EndOfTurn
    words: WordsJudge | None

    @property
    def left_out(self) -> list[str]:
        """Messages about missing models."""
        if self.words is not None:
            return []
        return ["The language model is not installed, so the words were judged by rules alone."]

    def transcriber(self) -> TimedTranscriber:
        """Returns a transcriber in simulated time that uses these models."""
        return TimedTranscriber(self.decoder, self.judge, self.words)

    def voice_detector(self) -> VoiceActivity:
        """Returns a new voice detector. Each recording needs its own, since it keeps state."""
        from app.stt.silero import SileroVoiceActivity

        return SileroVoiceActivity()

    def transcribe(self, samples: np.ndarray) -> str:
        """Returns the words of `samples` (float32, 24 kHz), decoded in one pass."""
        return self.decoder.decode(soxr.resample(samples, SAMPLE_RATE, RATE).astype(np.float32))


@contextmanager
def speech_models(*, words: bool = True) -> Iterator[SpeechModels]:
    """Loads the models. `words`: whether to load the judge of the words too. Raises TranscriberError."""
    from app.stt import text_endpointing
    from app.stt.pooled import SmartTurn
    from app.stt.whisper_decoder import WhisperDecoder

    recogniser, judge = default_model("stt"), default_model("endpointing")
    if not recogniser.is_dir() or not judge.is_file():
        raise TranscriberError(f"The models that hear are not installed. Set the app up again: {completing_command()}.")
    decoder, sound_judge = WhisperDecoder(recogniser), SmartTurn(judge)
    words_judge = None
    if words:
        with suppress(ChildError):
            words_judge = text_endpointing.open_judge(default_model("llm"))
    try:
        yield SpeechModels(decoder, sound_judge, words_judge)
    finally:
        if words_judge is not None:
            words_judge.close()


DECODE_SECONDS = 0.25
"""Time to decode a turn with Whisper tiny.en alongside the other stages; 0.13 to 0.2 s when nothing else runs."""
JUDGE_SECONDS = 0.06
"""Time for a judgement by Smart Turn."""
WORDS_SECONDS = 0.05
"""Time for a judgement of the words by the language model, reusing its previous state."""
HEARING_COSTS = (
    f"a decode takes {DECODE_SECONDS} s, a judgement of Smart Turn {JUDGE_SECONDS} s and one of the words "
    f"{WORDS_SECONDS} s"
)


class _TimedWorker:
    """Runs each job immediately and computes when its result would be ready on one of `threads`.

    `seconds` returns how long the job that has just been run takes.
    """

    def __init__(self, transcriber: TimedTranscriber, seconds: Callable[[], float], threads: int = 1) -> None:
        self._transcriber, self._seconds, self._free_at = transcriber, seconds, [0.0] * threads

    def submit(self, work: Callable[..., Any], *args: object) -> Future[Any]:
        self._free_at.sort()
        self._free_at[0] = max(self._free_at[0], self._transcriber.now)
        self._transcriber.working = self
        work(*args)
        return Future()

    def finish(self) -> float:
        """Returns the time at which the last job is finished."""
        self._free_at[0] += self._seconds()
        return self._free_at[0]


class TimedTranscriber(StreamingTranscriber):
    """A `StreamingTranscriber` without threads, over loaded models.

    `decode_seconds` returns the last decode's duration.
    """

    working: _TimedWorker

    def __init__(
        self,
        decoder: Decoder,
        judge: EndOfTurn,
        words: WordsJudge | None = None,
        decode_seconds: Callable[[], float] = lambda: DECODE_SECONDS,
    ) -> None:
        super().__init__("timed", lambda: (decoder, judge), self._keep)
        self.now = 0.0
        self._results: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._decoder = decoder
        self.endpointing.set_judges(judge, words)
        self._worker = _TimedWorker(self, decode_seconds, PASSES_AT_ONCE)  # type: ignore[assignment]
        self.endpointing.sound_worker = _TimedWorker(self, lambda: JUDGE_SECONDS)  # type: ignore[assignment]
        self.endpointing.words_worker = _TimedWorker(self, lambda: WORDS_SECONDS)  # type: ignore[assignment]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def push(self, frame: Frame, voiced: bool) -> None:
        """Delivers the results that are due by the end of `frame`, then processes it."""
        self.deliver(frame.at)
        super().push(frame, voiced)

    def deliver(self, until: float) -> None:
        """Delivers the results that are due by `until`, in order; work started by a result begins at its time."""
        while self._results and self._results[0][0] <= until + 1e-9:
            at, _, result = heapq.heappop(self._results)
            self.now = at
            result()
        self.now = until

    def _keep(self, result: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._results, (self.working.finish(), self._count, result))


FIRST_SOUND_SECONDS = 0.1
"""Time from a turn's end until a reply that is ready starts playing."""


class Listener:
    """Runs a voice detector, a transcriber and a turn tracker over one recording. An answer is always ready.

    - `speaks_from`: when the assistant starts to speak, in seconds, infinite while it is silent; an interruption
      silences it
    - `answers`: whether it also speaks from `FIRST_SOUND_SECONDS` after each turn's end
    - `words`: the latest words of the latest turn
    - `finals`: the final words of each turn that ended and was not resumed
    """

    def __init__(
        self,
        voice: VoiceActivity,
        transcriber: TimedTranscriber,
        tracker: TurnTracker,
        *,
        answers: bool = False,
        speaks_from: float = math.inf,
    ) -> None:
        self.words = ""
        self.finals: dict[int, str] = {}
        self.speaks_from = speaks_from
        self._voice, self._transcriber, self._tracker = voice, transcriber, tracker
        self._answers = answers
        transcriber.on_update = self._on_words
        transcriber.on_finished = tracker.hint_finished

    def listen(self, samples: np.ndarray) -> Iterator[tuple[float, list[TurnEvent | FloorCommand]]]:
        """Processes the whole frames of `samples` (float32 24 kHz); yields each one's time and the tracker's results.

        Afterwards an open turn is ended, and all pending words are delivered.
        """
        at = 0.0
        for frame in frames(samples):
            at = frame.at
            self._transcriber.deliver(at)
            windows = self._voice.hear(frame)
            speaks = at > self.speaks_from
            happened = self._tracker.hear(at, windows, assistant_speaks=speaks, thinks_along=True)
            self._transcriber.push(frame, any(window.probability >= 0.5 for window in windows))
            self._follow(happened)
            yield at, happened
        self._follow(self._tracker.end_input(at))
        self._transcriber.deliver(math.inf)

    def final_words(self, samples: np.ndarray) -> tuple[str, ...]:
        """Processes `samples` and returns the final words of each turn."""
        for _ in self.listen(samples):
            pass
        return tuple(words for _, words in sorted(self.finals.items()))

    def _on_words(self, update: TranscriptUpdate) -> None:
        self.words = " ".join(part for part in (update.stable, update.unstable) if part)
        self._tracker.hint_words(update.turn, self.words, update.heard_until)
        if update.final:
            self.finals[update.turn] = self.words

    def _follow(self, happened: Iterable[TurnEvent | FloorCommand]) -> None:
        """Forwards turn events to the transcriber, and lets the assistant speak or fall silent."""
        for one in happened:
            match one:
                case floor.Yield() | floor.Interrupt():
                    self.speaks_from = math.inf
                case e.UserStarted(at, turn):
                    self._transcriber.begin(turn, at)
                case e.UserPaused(_, turn, speech_end):
                    self._transcriber.pause(turn, speech_end)
                case e.UserResumed(_, turn):
                    self.finals.pop(turn, None)
                    self._transcriber.resume(turn)
                case e.UserEnded(at, turn, speech_end):
                    self._transcriber.end(turn, speech_end)
                    if self._answers:
                        self.speaks_from = at + FIRST_SOUND_SECONDS
                case e.UserBackchannel(_, turn):
                    self._transcriber.discard(turn)


SMALLEST = Speed(0.3, 45.0)
"""The speed of the smallest model, as printed by `bench first-word`."""

CLIP_SECONDS = 0.12
CLIP_SECONDS_A_SECOND = 0.07
"""Seconds to synthesize a clip with Piper, per clip and per second of its audio."""
FIRST_PART_SECONDS_A_SECOND = 0.02
"""The same for the first part of a clip, in place of `CLIP_SECONDS_A_SECOND`: 57 % of the time for a whole clip of 1 s,
41 % for one of 2 s, and 35 % for one of 4 s."""


class SimulatedTranscriber(TimedTranscriber):
    """The app's transcriber, whose results are delivered on the running loop in simulated time."""

    def __init__(self, models: SpeechModels) -> None:
        self._loop = asyncio.get_running_loop()
        super().__init__(models.decoder, models.judge, models.words)

    @property
    def now(self) -> float:
        """The loop's time; assignments are ignored."""
        return self._loop.time()

    @now.setter
    def now(self, value: float) -> None:
        pass

    def _keep(self, result: Callable[[], None]) -> None:
        self._loop.call_at(self.working.finish(), result)


class SimulatedVoice:
    """A voice whose clips become ready one after another, each with Piper's delay."""

    rate = volume = 1.0

    def __init__(self, voice: Voice) -> None:
        self.name = voice.name
        self._voice = voice
        self._loop = asyncio.get_running_loop()
        self._free_at = 0.0

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        out: Future[Clip] = Future()
        made = self._voice.synthesize(text)
        error = made.exception()
        seconds = 0.0 if error is not None else len(made.result().samples) / SAMPLE_RATE
        begins = max(self._free_at, self._loop.time())
        self._free_at = begins + CLIP_SECONDS + CLIP_SECONDS_A_SECOND * seconds
        first = begins + CLIP_SECONDS + FIRST_PART_SECONDS_A_SECOND * seconds

        def deliver() -> None:
            if not out.set_running_or_notify_cancel():
                return
            if error is not None:
                out.set_exception(error)
            else:
                out.set_result(made.result())

        self._loop.call_at(first if growing else self._free_at, deliver)
        return out

    def __enter__(self) -> SimulatedVoice:
        self._voice.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._voice.__exit__(*exc)


class SimulatedBackend:
    """A back-end running on its own real-time loop. `speed`: simulated word timing; None: the actual timing."""

    def __init__(self, backend: Backend, speed: Speed | None) -> None:
        self.name, self.model, self.traits = backend.name, backend.model, backend.traits
        if speed is not None:
            self.traits = self.traits.at_speed(speed.first, speed.rate)
        self._backend, self._speed = backend, speed
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
                text = f"{' ' * after_blank}{item}" if isinstance(item, str) else ""
                late = len(re.findall(r"\s\S", text)) / speed.rate  # counts words that start after whitespace
            after_blank = isinstance(item, str) and item[-1:].isspace()
            await asyncio.sleep(late)
            began = time.perf_counter()
            yield item

    def _run(self, work: Any) -> Any:
        async def run() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(run(), self._real).result()


class SimulatedParts:
    """A factory for sessions in simulated time; a context manager that loads the speech models.

    Raises TranscriberError on entering.

    - `make_backend`: returns a back-end that is not open yet
    - `speeds`: known speeds of embedded models, by key; other back-ends run at their actual speed
    - `cost`: returns the cost of a request in US dollars
    """

    def __init__(
        self,
        make_backend: Callable[[BackendChoice], Backend],
        speeds: Mapping[str, Speed] | None = None,
        *,
        cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None,
    ) -> None:
        self._make_backend = make_backend
        self._cost = cost
        self._speeds = {DEFAULTS["llm"]: SMALLEST, **(speeds or {})}

    @property
    def costs(self) -> str:
        """Describes the stage delays, for a result's table."""
        models = "; ".join(
            f"{name} {speed.first:.2f} s to its first word and {speed.rate:.0f} words a second"
            for name, speed in self._speeds.items()
        )
        return (
            f"In simulated time {HEARING_COSTS}, a clip of the voice {CLIP_SECONDS} s and {CLIP_SECONDS_A_SECOND} s "
            f"for each second of it. Language models: {models}."
        )

    def __enter__(self) -> SimulatedParts:
        self._loaded = speech_models()
        self._models = self._loaded.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._loaded.__exit__(*exc)

    def session(self, choice: SessionChoice, source: AudioSource, sink: AudioSink, **how: Any) -> Session:
        """Creates a session of `choice`, to be entered on a loop in simulated time. `how`: further settings.

        Raises VoiceError. Each session loads its own voice: a voice's random variation continues from clip to clip, so
        the clips of a shared one would depend on what it spoke before.
        """
        voice, backend = SimulatedVoice(make_voice()), choice.backend
        speed = self._speeds.get(backend.model or DEFAULTS["llm"]) if backend.provider == "embedded" else None
        parts = SessionParts(
            frontend=CascadeFrontEnd(voice, choice.answer_mode, openings=choice.openings),
            transcriber=SimulatedTranscriber(self._models),
            voice_activity=self._models.voice_detector(),
            backend=SimulatedBackend(self._make_backend(backend), speed),
            source=source,
            sink=sink,
            cost=self._cost,
        )
        return Session(parts, SessionConfig(choice=choice, pace="simulated", **how))
