"""Holds what a server has sent until it is to be played, as briefly as the network's jitter allows."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, fields

import numpy as np

from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, silence

MOST_DEPTH = 6
"""Frames that are waited for at most before sound is played: 0.48 s of jitter."""
STEADY_FRAMES = 375
"""Frames (30 s) without a gap after which one frame less is waited for."""
QUIET = 0.003
"""RMS of a frame, about -50 dBFS, below which it may be left out to make up for a delay."""
MOST_WAITING = 125
"""Frames (10 s) that are kept at most."""
MOST_ITEMS = 6_000
"""Pieces of words and events that wait at most: a server that comes back may send 2,000 at once."""
MOST_CHARS = 4_000_000
"""Characters that these have in all at most."""


class PlayoutFull(ValueError):
    """The server sends more words and events than can be played; `str(error)` is a clause."""


@dataclass(slots=True)
class Received:
    """One frame of the server's voice, float32 (1920,), and what came with it: words and events."""

    samples: np.ndarray
    words: list[str] = field(default_factory=list)
    events: list[e.Event] = field(default_factory=list)


class Playout:
    """A queue of frames. It starts to give them once `depth` are there, which grows with each gap and shrinks slowly.

    Frames that sound are never left out, and never stretched: what is left out is silence, as soon as there is some.
    """

    def __init__(self) -> None:
        self.depth = 1
        """Frames that are waited for after a gap."""
        self.gaps = 0
        """How often the server's sound had run out in the middle."""
        self._frames: deque[Received] = deque()
        self._late = Received(silence())  # words and events that came when their sound had been played
        self._items = self._chars = 0  # of all words and events that wait
        self._rest = np.zeros(0, np.float32)
        self._playing = False
        self._steady = 0
        self._loud = False

    def __len__(self) -> int:
        return len(self._frames)

    def push_sound(self, samples: np.ndarray) -> None:
        """Appends sound of any length: float32 (n,)."""
        sound = np.concatenate([self._rest, samples])
        whole = len(sound) // FRAME_SAMPLES * FRAME_SAMPLES
        self._frames.extend(Received(frame) for frame in sound[:whole].reshape(-1, FRAME_SAMPLES))
        self._rest = sound[whole:]
        while len(self._frames) > MOST_WAITING:
            self._skip()

    def push_words(self, words: str) -> None:
        """Appends words of the server: they are said by the end of the newest sound. Raises PlayoutFull."""
        self._count(len(words))
        (self._frames[-1] if self._frames else self._late).words.append(words)

    def push_event(self, event: e.Event) -> None:
        """Appends an event: it is passed on with the newest sound. Raises PlayoutFull."""
        self._count(_chars(event))
        (self._frames[-1] if self._frames else self._late).events.append(event)

    def clear(self) -> None:
        """Forgets the sound that is waiting, as another connection begins. Words and events are kept."""
        for frame in self._frames:
            self._late.words += frame.words
            self._late.events += frame.events
        self._frames.clear()
        self._rest = np.zeros(0, np.float32)
        self._playing = False

    def take(self) -> Received:
        """Returns what is to be played now: the next frame, or silence while nothing is there."""
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
        """Leaves out the oldest frame; what came with it goes to the next."""
        left_out = self._frames.popleft()
        following = self._frames[0] if self._frames else self._late
        following.words[:0] = left_out.words
        following.events[:0] = left_out.events


def _chars(event: e.Event) -> int:
    values = (getattr(event, field.name) for field in fields(event))
    return sum(len(value) for value in values if isinstance(value, str))


def _is_quiet(samples: np.ndarray) -> bool:
    return float(np.sqrt(np.mean(np.square(samples)))) < QUIET
