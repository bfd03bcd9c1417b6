"""Follows what was written to the loudspeaker: which words have been heard, and which were thrown away unheard."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.audio.io.base import AudioSink
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES
from app.frontend.base import Said

FEW_SAMPLES = 240
"""10 ms: a sink's figures may differ by up to this much right after a flush."""


@dataclass(slots=True)
class _Pending:
    """Words on their way to the loudspeaker: heard when sample `end` of all that was written has played."""

    end: int
    event: e.AssistantSaid


class Playback:
    """The front-end's way to the sink. `on_unheard` is told how many samples and words were thrown away unheard.

    `replaceable`: the devices behind the sink may be exchanged, and take along what they had not played.
    """

    def __init__(self, sink: AudioSink, on_unheard: Callable[[int, int], None], *, replaceable: bool) -> None:
        self._sink = sink
        self._on_unheard = on_unheard
        self._replaceable = replaceable
        self._pending: deque[_Pending] = deque()
        self._written = 0
        self._flushed = 0
        self._underruns = 0

    def write(self, samples: np.ndarray, *, speaking: bool) -> None:
        """Write a frame's samples, or let the sink idle while there is nothing to say."""
        if self._sink.keeps_time or speaking or samples.any():
            self._sink.write(samples)
            self._written += len(samples)
        else:
            # Idle, so that the next answer starts at once and not behind silence.
            self._sink.write(samples[:0])

    def add_words(self, at: float, said: Said) -> None:
        """Words whose sound ends in the frame that was just written."""
        event = e.AssistantSaid(at, said.turn, said.text, said.revision, said.glued)
        self._pending.append(_Pending(self._written - FRAME_SAMPLES + said.end, event))

    def heard(self, at: float, *, up_to_turn: int = 0) -> list[e.AssistantSaid]:
        """Return the words that have been played by now, and all of the turns up to `up_to_turn`, which are over."""
        queued = self._sink.queued
        # Read after that: what a device takes along meanwhile counts as lost, and never as heard.
        lost = self._sink.flushed - self._flushed if self._replaceable else 0
        reached = self._written - queued - lost
        out: list[e.AssistantSaid] = []
        while self._pending and (self._pending[0].event.turn <= up_to_turn or self._pending[0].end <= reached):
            out.append(dataclasses.replace(self._pending.popleft().event, at=at))
        return out

    def flush(self) -> int:
        """Throw away what is not played yet; return how many samples."""
        self.lost_with_device()  # a loudspeaker may disappear at this very moment
        reached = self._written - self._sink.queued
        thrown = self._sink.flush()
        self._tell_unheard(reached, thrown)
        self._flushed = self._sink.flushed
        return thrown

    def lost_with_device(self) -> int:
        """Return how many samples a loudspeaker that disappeared took along unplayed: they are still to be said."""
        if not self._replaceable:
            return 0
        flushed = self._sink.flushed  # it may rise at any moment
        thrown, self._flushed = flushed - self._flushed, flushed
        if thrown < FEW_SAMPLES:
            return 0
        self._tell_unheard(self._written - self._sink.queued - thrown, thrown)
        return thrown

    def new_underruns(self) -> int:
        """Return how often the sink ran dry since the last call."""
        new = self._sink.underruns - self._underruns
        self._underruns += max(0, new)
        return max(0, new)

    def _tell_unheard(self, reached: int, thrown: int) -> None:
        unheard = [p for p in self._pending if p.end > reached]
        for _ in unheard:
            self._pending.pop()
        self._on_unheard(thrown, len(unheard))
