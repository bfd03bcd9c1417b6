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
from app.conversation.speaking.spoken_answer import Said
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
from app.frontend.kame.oracle_feed import OracleFeed, OracleQueue
from app.frontend.kame.spoken_words import Pieces, SpokenWords
from app.frontend.kame.stream_engine import Column, EngineStep, StreamEngine

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

    def restart_if_due(self, *, pause: bool) -> bool:
        """Starts a fresh stream if the context is full, or if it is nearly full and there is a `pause`. Returns
        whether it did."""
        engine = self._engine
        full = engine.steps >= engine.context
        if self.priming or engine.steps < ROLL_OVER_FROM * engine.context or not (pause or full):
            return False
        engine.restart_language_model()
        self._primed = min(self._frames, len(self.columns), max(0, self._steps - 1) * LONGEST_PRIMING_FRAMES)
        self._to_replay = deque(list(self.columns)[len(self.columns) - self._primed :])
        self._new = 0
        return True

    def skip_to_new(self) -> None:
        """Primes only with frames received since priming started, because a question is waiting for an answer."""
        while self._to_replay is not None and len(self._to_replay) > self._new:
            self._to_replay.popleft()

    def add(self, step: EngineStep) -> None:
        """Adds the column of a step. If its frame was only encoded, the fresh stream has yet to be given it."""
        self.columns.append(step.column)
        if self._to_replay is not None and not step.spoken:
            self._to_replay.append(step.column)
            self._new += 1
        elif not step.spoken:
            self._engine.replay(step.column)

    def prime(self) -> ContextGauge:
        """Replays some columns into the fresh stream. Call it once for each frame while `priming`."""
        engine, columns = self._engine, self._to_replay
        assert columns is not None
        # An engine that is late gets no more to do: it couldn't take the messages either.
        for _ in range(max(1, self._steps) if engine.pending < 2 else 0):
            if columns:
                engine.replay(columns.popleft())
                self._new = min(self._new, len(columns))
        if columns or engine.pending:
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
        tokens = engine.tokens
        self._queue = OracleQueue(start=tokens.start, padding=tokens.padding, vocabulary=tokens.vocabulary)
        self._oracle = OracleFeed(self._queue, pieces, enabled=hears_oracle)
        self._dials = dials
        self._delayed: deque[np.ndarray] = deque()
        self._user_holds = False
        self._silenced = False
        self._frames_since_floor = 1 << 30
        self._was_forced = False
        self._stale = 0  # results to come of frames before the answer was stopped

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        """Implements `FrontEnd.step`, but propagates torch's exceptions."""
        marks = [mark for item in inputs for mark in self._receive(item)]
        faded = any(isinstance(item, floor.Silence) for item in inputs)  # the loudspeaker fades the audio out
        flush = faded or any(mark.what == "interrupted" for mark in marks)
        user_sound = self._delay(frame.samples)
        if self.memory.restart_if_due(pause=self._pausing):
            waiting = [token for token in self._queue.rest if token != self.engine.tokens.start]
            self._queue.clear()
            self._queue.push(waiting)
        if self.memory.priming:
            self.words.idle_frames += 1
            samples, said, changes = self._follow(self.engine.encode(user_sound), forced=True, faded=faded)
            gauge, position, late = self.memory.prime(), None, False
        else:
            forced, waiting = self._forced, self._queue.rest
            results = self.engine.step(user_sound, self._queue.take(), silent=forced)
            late = not results
            samples, said, changes = self._follow(results, forced=forced, faded=faded)
            gauge, position = self.memory.gauge(), None
            if waiting:
                self.words.idle_frames = 0
                position = OraclePosition(self._oracle.revision, self._queue.taken, len(self._queue.rest))
        self._frames_since_floor += 1
        marks += changes
        return FrontEndStep(samples, tuple(said), tuple(marks), flush, oracle=position, context=gauge, late=late)

    def _follow(
        self, results: Sequence[EngineStep], *, forced: bool, faded: bool
    ) -> tuple[np.ndarray, list[Said], list[Mark]]:
        """Follows what the engine has done; returns the audio of this frame, its words and its marks."""
        said, marks = list[Said](), list[Mark]()
        sounds = [self._mute(result.samples, forced, faded=faded) for result in results]
        for result, sound in zip(results, sounds, strict=True):
            self.memory.add(result)
            stale, self._stale = self._stale > 0, max(0, self._stale - 1)
            if result.spoken:
                token = self.engine.tokens.padding if stale else result.column.text
                words, changes = self.words.follow(token, sound, self._oracle.asked_turn, self._oracle.revision)
                said += words
                marks += changes
        return sounds[-1] if sounds else self._mute(silence(), forced, faded=faded), said, marks

    def _stop(self) -> list[Mark]:
        """Stops the answer: frames that the engine hasn't returned yet are no part of another one."""
        self._stale = self.engine.pending
        return self.words.stop()

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
                marks = self._stop()
                self._silenced = (self._silenced or bool(marks)) and user_speaks
                self._oracle.release_held()
                return marks
            case floor.Silence():
                self._oracle.void(self.words.floor_turn)
                self._silenced = True
                return self._stop()
            case floor.Yield():
                self._user_holds = True
                marks = self._stop()
                self._silenced = self._silenced or bool(marks)
                self._oracle.release_held()
                return marks
        return []

    @property
    def _pausing(self) -> bool:
        """Whether both sides are silent and the oracle queue is empty."""
        words = self.words
        spoken = words.answering is not None or words.wordless_frames < PAUSE_FRAMES
        return not (spoken or self._user_holds or self._queue.rest)

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
