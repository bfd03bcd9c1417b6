"""The app's transcriber in simulated time: its answers come as late as they would on one core of a laptop.

Each look at the words takes `DECODE_SECONDS`, each judgement `JUDGE_SECONDS` or `WORDS_SECONDS` of the sound's own
time, so that what is measured is the same on every machine.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Self

from app.conversation.frame import Frame
from app.stt.base import EndOfTurn
from app.stt.streaming import Decoder, StreamingTranscriber, WordsJudge

DECODE_SECONDS = 0.13
"""A look of tiny.en at 3 to 6 s of sound on one core of a laptop."""
JUDGE_SECONDS = 0.05
"""A judgement of Smart Turn on one core (30 to 60 ms)."""
WORDS_SECONDS = 0.03
"""A judgement of the words by the language model on one core, when they go on from the last ones (20 to 40 ms)."""


class _TimedWorker:
    """Works at once, and gives its results out when they would have come: one piece of work after another.

    `seconds`: how long the piece took that was just done.
    """

    def __init__(self, transcriber: TimedTranscriber, seconds: Callable[[], float]) -> None:
        self._transcriber = transcriber
        self._seconds = seconds
        self._free_at = 0.0

    def submit(self, work: Callable[..., Any], *args: object) -> Future[Any]:
        self._free_at = max(self._free_at, self._transcriber.now)
        self._transcriber.working = self
        work(*args)
        return Future()

    def finish(self) -> float:
        """When the piece is done that was begun last."""
        self._free_at += self._seconds()
        return self._free_at


class TimedTranscriber(StreamingTranscriber):
    """A `StreamingTranscriber` without threads, over models that are loaded already. What is due is given out by
    `deliver`, and with each frame. `decode_seconds` tells how long the look took that was just done.
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
        self._answers: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._decoder = decoder
        self.endpointing.set_judges(judge, words)
        self._worker = _TimedWorker(self, decode_seconds)  # type: ignore[assignment]
        self.endpointing.sound_worker = _TimedWorker(self, lambda: JUDGE_SECONDS)  # type: ignore[assignment]
        self.endpointing.words_worker = _TimedWorker(self, lambda: WORDS_SECONDS)  # type: ignore[assignment]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def push(self, frame: Frame, voiced: bool) -> None:
        """Gives out what has come by the end of `frame`, then takes it."""
        self.deliver(frame.at)
        super().push(frame, voiced)

    def deliver(self, until: float) -> None:
        """Gives out what has come by `until`, in order; what an answer sets going begins when it came."""
        while self._answers and self._answers[0][0] <= until + 1e-9:
            at, _, answer = heapq.heappop(self._answers)
            self.now = at
            answer()
        self.now = until

    def _keep(self, answer: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._answers, (self.working.finish(), self._count, answer))
