"""Runs the app's transcriber in simulated time: its results are as late as in the real window on two cores.

Each decode takes `DECODE_SECONDS`, each judgement `JUDGE_SECONDS` or `WORDS_SECONDS` of the sound's own time, so that
the figures are the same on every machine.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Self

from app.conversation.frame import Frame
from app.stt.base import EndOfTurn
from app.stt.streaming import Decoder, StreamingTranscriber, WordsJudge

DECODE_SECONDS = 0.25
"""A decode of a turn by Whisper tiny.en beside the other stages; 0.13 to 0.2 s when nothing else runs."""
JUDGE_SECONDS = 0.06
"""A judgement of Smart Turn."""
WORDS_SECONDS = 0.05
"""A judgement of the words by the language model, continuing from the last ones."""
HEARING_COSTS = (
    f"a decode takes {DECODE_SECONDS} s, a judgement of Smart Turn {JUDGE_SECONDS} s and one of the words "
    f"{WORDS_SECONDS} s"
)


class _TimedWorker:
    """Runs each job at once, and computes when its result would have come, one job after another.

    `seconds` returns how long the last job took.
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
        """The time at which the last job is done."""
        self._free_at += self._seconds()
        return self._free_at


class TimedTranscriber(StreamingTranscriber):
    """A `StreamingTranscriber` without threads, over models that are loaded already. Due results are delivered by
    `deliver`, and with each frame. `decode_seconds` returns how long the last decode took.
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
        self._worker = _TimedWorker(self, decode_seconds)  # type: ignore[assignment]
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
        """Delivers the results that are due by `until`, in order; work that a result starts begins at the result's
        time.
        """
        while self._results and self._results[0][0] <= until + 1e-9:
            at, _, result = heapq.heappop(self._results)
            self.now = at
            result()
        self.now = until

    def _keep(self, result: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._results, (self.working.finish(), self._count, result))
