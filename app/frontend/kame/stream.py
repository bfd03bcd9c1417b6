"""Steps a loaded model through a session: turns inputs and the user's audio into audio, words and marks.

Before the model's context is full, a fresh stream starts and is primed with the latest frames. `StreamFrontEnd` is the
base class of the front-ends with speech-to-speech models.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np

from app.conversation.frame import Frame, silence
from app.conversation.speaking.revisions import OracleAsked, OracleDone, OracleWords
from app.conversation.turns import tracker as floor
from app.frontend.base import (
    ContextGauge,
    FrontEndInput,
    FrontEndStep,
    Mark,
    OraclePosition,
    SetDials,
    SpeakingByItself,
    silenced,
)
from app.frontend.kame.oracle_feed import OracleFeed
from app.frontend.kame.spoken_words import Pieces, SpokenWords
from app.frontend.kame.stream_engine import Column, StreamEngine

ROLL_OVER_FROM = 0.8
"""Share of the context after which the next pause is used to start a fresh stream."""
PRIME_FRAMES = 125
"""Number of latest conversation frames (10 s) with which a fresh stream is primed."""
PRIME_STEPS = 4
"""Steps per frame while a fresh stream is primed: replayed frames, then the new one. On a card, the number is derived
from the measured step time, so that all of them fit into `PRIME_SECONDS`. With fewer than two, the stream couldn't
catch up, so it isn't primed."""
PRIME_SECONDS = 0.06
MOST_PRIME_STEPS = 16
LONGEST_PRIMING_FRAMES = 12
"""Maximum duration of priming in frames (1 s), which limits how long a user who is speaking may have to wait."""


class StreamMemory:
    """The latest columns of a stream, with which a fresh stream is primed.

    `frames`, `steps`: see `PRIME_FRAMES` and `PRIME_STEPS`. If `steps` is None, it is derived from the step time.
    """

    def __init__(self, engine: StreamEngine, frames: int = PRIME_FRAMES, steps: int | None = None) -> None:
        self.columns: deque[Column] = deque(maxlen=max(1, frames))
        self._engine = engine
        self._frames = frames
        if steps is None and engine.step_seconds:
            steps = min(MOST_PRIME_STEPS, int(PRIME_SECONDS / engine.step_seconds))
        self._steps = PRIME_STEPS if steps is None else steps
        self._to_replay: deque[Column] | None = None
        self._new = 0  # columns to replay that were added since priming started
        self._primed = 0

    @property
    def priming(self) -> bool:
        """Whether a fresh stream is being primed and can't speak yet."""
        return self._to_replay is not None

    def gauge(self) -> ContextGauge:
        """Returns how full the context is."""
        return ContextGauge(min(self._engine.steps, self._engine.context), self._engine.context)

    def restart_if_due(self, *, pause: bool) -> None:
        """Starts a fresh stream if the context is full, or if it is nearly full and there is a `pause`."""
        engine = self._engine
        if self.priming or engine.steps < ROLL_OVER_FROM * engine.context or not (pause or engine.full):
            return
        waiting = [token for token in engine.oracle.rest if token != engine.tokens.start]
        engine.restart_language_model()
        if waiting:
            engine.oracle.push(waiting, reset=True)
        self._primed = min(self._frames, len(self.columns), max(0, self._steps - 1) * LONGEST_PRIMING_FRAMES)
        self._to_replay = deque(list(self.columns)[len(self.columns) - self._primed :])
        self._new = 0

    def skip_to_new(self) -> None:
        """Primes only with frames received since priming started, because a question is waiting for an answer."""
        while self._to_replay is not None and len(self._to_replay) > self._new:
            self._to_replay.popleft()

    def prime(self, samples: np.ndarray) -> ContextGauge:
        """Processes a frame of the user's audio during priming, and replays some columns into the fresh stream."""
        engine, columns = self._engine, self._to_replay
        assert columns is not None
        padding = engine.tokens.padding
        column = Column(padding, engine.silence, engine.encode(samples), padding)
        columns.append(column)
        self.columns.append(column)
        self._new += 1
        for _ in range(max(1, self._steps)):
            if columns:
                engine.replay(columns.popleft())
                self._new = min(self._new, len(columns))
        if columns:
            return ContextGauge(engine.steps, engine.context)
        self._to_replay = None
        return ContextGauge(engine.steps, engine.context, True, self._primed)


class StreamFrontEnd(SpeakingByItself):
    """Base class of the front-ends with a speech-to-speech model.

    While entered, `_stream` is set and `_held` contains the resources to free on exit.
    """

    def __init__(self) -> None:
        self._stream: KameStream | None = None
        self._held = ExitStack()

    def __exit__(self, *exc: object) -> None:
        """Frees all resources. May be called twice."""
        self._stream = None
        self._held.close()

    @property
    def speaking(self) -> bool:
        return self._stream is not None and self._stream.words.answering is not None

    @property
    def idle(self) -> bool:
        return self._stream is None or self._stream.words.idle


PAUSE_FRAMES = 5
"""Frames without a word that count as a pause, in which a fresh stream may start."""


class KameStream:
    """One session with the models run by `engine`.

    The model decides when to speak. Floor commands determine which turn it answers, and silence it when the user
    interrupts.

    - `pieces`: the text vocabulary.
    - `engine`, `memory`: the engine, and the memory of its stream.
    - `dials`: the initial delays.
    - `hears_oracle`: whether the model has an oracle.
    """

    def __init__(
        self,
        pieces: Pieces,
        engine: StreamEngine,
        memory: StreamMemory,
        dials: SetDials,
        *,
        hears_oracle: bool,
    ) -> None:
        self.engine = engine
        self.memory = memory
        self.words = SpokenWords(pieces, engine.tokens.silent)
        self._oracle = OracleFeed(engine.oracle, pieces, enabled=hears_oracle)
        self._dials = dials
        self._delayed: deque[np.ndarray] = deque()
        self._user_holds = False
        self._silenced = False
        self._frames_since_floor = 1 << 30
        self._was_forced = False

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        """Implements `FrontEnd.step`, but propagates torch's exceptions."""
        marks = [mark for item in inputs for mark in self._receive(item)]
        faded = any(isinstance(item, floor.Silence) for item in inputs)  # the loudspeaker fades the audio out
        flush = faded or any(mark.what == "interrupted" for mark in marks)
        user_sound = self._delay(frame.samples)
        self.memory.restart_if_due(pause=self._pausing)
        if self.memory.priming:
            gauge = self.memory.prime(user_sound)
            self._frames_since_floor += 1
            self.words.idle_frames += 1
            return FrontEndStep(silence(), (), tuple(marks), flush, context=gauge)
        engine, forced = self.engine, self._forced
        engine.force_silence() if forced else engine.release()
        waiting = len(engine.oracle.rest)
        result = engine.step(user_sound)
        self.memory.columns.append(result.column)
        self._frames_since_floor += 1
        samples = self._mute(result.samples, forced, faded=faded)
        oracle = self._oracle
        said, changes = self.words.follow(result.column.text, samples, oracle.asked_turn, oracle.revision)
        position = None
        if waiting:
            self.words.idle_frames = 0
            position = OraclePosition(oracle.revision, engine.oracle.taken, len(engine.oracle.rest))
        marks += changes
        return FrontEndStep(samples, tuple(said), tuple(marks), flush, oracle=position, context=self.memory.gauge())

    def _receive(self, item: FrontEndInput) -> list[Mark]:
        """Handles one input. Returns the mark for an interruption, if the input caused one."""
        match item:
            case OracleAsked() | OracleWords() | OracleDone():
                self._oracle.receive(item, self.words.answering[0] if self.words.answering is not None else None)
            case SetDials():
                self._dials = item
            case floor.TakeFloor(turn):
                self.words.floor_turn = max(self.words.floor_turn, turn)
                self._user_holds = self._silenced = False
                self._frames_since_floor = self.words.idle_frames = 0
                self._oracle.release_held()
                self.memory.skip_to_new()
            case floor.Hold():
                self._user_holds = True  # the model also receives the user's audio and may stop by itself
                self._oracle.hold()
            case floor.GoOn():
                self._user_holds = False
                self._oracle.drop_held()
            case floor.Interrupt(user_speaks):
                self._oracle.void(self.words.floor_turn)
                self._user_holds = user_speaks
                marks = self.words.stop()
                self._silenced = (self._silenced or bool(marks)) and user_speaks
                self._oracle.release_held()
                return marks
            case floor.Silence():
                self._oracle.void(self.words.floor_turn)
                self._silenced = True
                return self.words.stop()
            case floor.Yield():
                self._user_holds = True
                marks = self.words.stop()
                self._silenced = self._silenced or bool(marks)
                self._oracle.release_held()
                return marks
        return []

    @property
    def _pausing(self) -> bool:
        """Whether both sides are silent and the oracle queue is empty."""
        words = self.words
        spoken = words.answering is not None or words.wordless_frames < PAUSE_FRAMES
        return not (spoken or self._user_holds or self.engine.oracle.rest)

    def _delay(self, samples: np.ndarray) -> np.ndarray:
        """Returns the user's frame from `lead` frames ago. Shortening the lead skips frames."""
        self._delayed.append(samples)
        if len(self._delayed) <= self._dials.lead:
            return silence()
        while len(self._delayed) > self._dials.lead + 1:
            self._delayed.popleft()
        return self._delayed.popleft()

    @property
    def _forced(self) -> bool:
        """Whether the model must be silent now, because it was interrupted or may not answer yet."""
        delay = self._dials.delay
        if self._silenced or self.words.answering is not None:
            return self._silenced
        return delay > 0 and (self._user_holds or self._frames_since_floor < delay)

    def _mute(self, samples: np.ndarray, forced: bool, *, faded: bool) -> np.ndarray:
        """Returns the samples clipped to [-1, 1], or silence if `forced`.

        The silence starts with a fade-out unless the previous audio has already `faded`.
        """
        was_forced, self._was_forced = self._was_forced, forced
        if not forced:
            return np.clip(samples, -1.0, 1.0)
        # Fades only if the previous frame was audible, not part of another silence.
        return silenced(samples, fade=not (was_forced or faded) and self._frames_since_floor > self._dials.delay)
