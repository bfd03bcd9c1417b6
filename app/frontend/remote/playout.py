"""A jitter buffer for a server's audio, words and events, with as little delay as the network allows."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, fields

import numpy as np

from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, silence

MOST_DEPTH = 6
"""Maximum number of frames to buffer before playback: 0.48 s of jitter."""
STEADY_FRAMES = 375
"""Frames (30 s) without a gap after which the depth is reduced by one frame."""
QUIET = 0.003
"""RMS, about -50 dBFS, below which a frame may be skipped to catch up."""
MOST_WAITING = 125
"""Maximum number of queued frames (10 s)."""
MOST_ITEMS = 6_000
"""Maximum number of queued words and events. A server may send 2,000 in a burst after a reconnection."""
MOST_CHARS = 4_000_000
"""Maximum total length of the queued words and events, in characters."""


class PlayoutFull(ValueError):
    """Raised if the server sends more than can be played; `str(error)` is a clause to insert into a message."""


@dataclass(slots=True)
class Received:
    """One frame of the server's voice, float32 (1920,), with the words and events that belong to it."""

    samples: np.ndarray
    words: list[str] = field(default_factory=list)
    events: list[e.Event] = field(default_factory=list)


class Playout:
    """A queue of frames that starts playback once `depth` frames are queued.

    `depth` increases with each gap and decreases slowly. To catch up, silent frames are skipped; audible ones are only
    dropped if more than `MOST_WAITING` frames are queued.
    """

    def __init__(self) -> None:
        self.depth = 1
        """Frames to buffer after a gap."""
        self.gaps = 0
        """The number of underruns during speech."""
        self._frames: deque[Received] = deque()
        self._late = Received(silence())  # words and events that arrived after their audio was played
        self._items = self._chars = 0  # of all queued words and events
        self._rest = np.zeros(0, np.float32)
        self._playing = False
        self._steady = 0
        self._loud = False

    def __len__(self) -> int:
        return len(self._frames)

    def push_sound(self, samples: np.ndarray) -> None:
        """Queues audio of any length, float32 (n,)."""
        sound = np.concatenate([self._rest, samples])
        whole = len(sound) // FRAME_SAMPLES * FRAME_SAMPLES
        self._frames.extend(Received(frame) for frame in sound[:whole].reshape(-1, FRAME_SAMPLES))
        self._rest = sound[whole:]
        while len(self._frames) > MOST_WAITING:
            self._skip()

    def push_words(self, words: str) -> None:
        """Queues words that end at the same time as the latest audio. Raises PlayoutFull."""
        self._count(len(words))
        (self._frames[-1] if self._frames else self._late).words.append(words)

    def push_event(self, event: e.Event) -> None:
        """Queues an event, which is delivered with the latest audio. Raises PlayoutFull."""
        self._count(_chars(event))
        (self._frames[-1] if self._frames else self._late).events.append(event)

    def clear(self) -> None:
        """Discards queued audio when a new connection starts, but keeps words and events."""
        for frame in self._frames:
            self._late.words += frame.words
            self._late.events += frame.events
        self._frames.clear()
        self._rest = np.zeros(0, np.float32)
        self._playing = False

    def take(self) -> Received:
        """Returns the next frame to play, or silence if none is ready."""
        frame, late = self._next(), self._late
        self._late = Received(silence())
        frame.words[:0] = late.words
        frame.events[:0] = late.events
        self._items -= len(frame.words) + len(frame.events)
        self._chars -= sum(map(len, frame.words)) + sum(map(_chars, frame.events))
        return frame

    def _count(self, chars: int) -> None:
        if self._items >= MOST_ITEMS or self._chars + chars > MOST_CHARS:
            raise PlayoutFull("it sends more words than can be said in time")
        self._items += 1
        self._chars += chars

    def _next(self) -> Received:
        if not self._playing:
            self._playing = len(self._frames) >= self.depth
        if not self._playing:
            return Received(silence())
        if not self._frames:
            self._playing, self._steady = False, 0
            self.gaps += self._loud
            self.depth = min(MOST_DEPTH, self.depth + 1)
            return Received(silence())
        self._steady += 1
        if self._steady >= STEADY_FRAMES and self.depth > 1:
            self._steady, self.depth = 0, self.depth - 1
        while len(self._frames) > self.depth + 1 and _is_quiet(self._frames[0].samples):
            self._skip()
        frame = self._frames.popleft()
        self._loud = not _is_quiet(frame.samples)
        return frame

    def _skip(self) -> None:
        """Skips the oldest frame and moves its words and events to the next one."""
        left_out = self._frames.popleft()
        following = self._frames[0] if self._frames else self._late
        following.words[:0] = left_out.words
        following.events[:0] = left_out.events


def _chars(event: e.Event) -> int:
    values = (getattr(event, field.name) for field in fields(event))
    return sum(len(value) for value in values if isinstance(value, str))


def _is_quiet(samples: np.ndarray) -> bool:
    return float(np.sqrt(np.mean(np.square(samples)))) < QUIET
