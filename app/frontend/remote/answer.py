"""Follows an answer that a server speaks: which turn it is for, and when it is over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.base import Mark, Said

END_FRAMES = 12
"""Frames without a word (1 s) after which an answer is over, if it is quiet too; three times as many if not."""
LOUD = 0.01
"""RMS above which a frame sounds, about -40 dBFS."""
LINGER_FRAMES = 25
"""Frames (2 s) that a server is given to start an answer before nothing more is expected of it."""

Words = tuple[str, int] | None
"""Words with their revision, and with a space before them unless they are glued to those before. None: the server says
that its answer is over."""


class ServerAnswer:
    """Takes the words and sound of each frame that is played."""

    def __init__(self) -> None:
        self.turn = 0
        """The user's newest turn."""
        self.answering: tuple[int, int] | None = None
        """Turn and revision of the answer that is being spoken."""
        self.idle_frames = LINGER_FRAMES
        """Frames in which nothing was said, or sounded for no longer than an answer lasts without a word."""
        self._wordless_frames = 0
        self._quiet_frames = 0

    @property
    def idle(self) -> bool:
        """Whether nothing sounds, and the server has had its time to start."""
        return self.answering is None and self.idle_frames >= LINGER_FRAMES

    def follow(self, words: Sequence[Words], samples: np.ndarray) -> tuple[list[Said], list[Mark]]:
        """Returns what was said in a frame, and what changed."""
        marks: list[Mark] = []
        said: list[Said] = []
        self._count(any(item is not None for item in words), samples)
        for item in words:
            if item is None:
                marks += self._end()
                continue
            text, revision = item
            if self.answering is None or self.turn > self.answering[0]:
                marks += self._end()
                self.answering = (self.turn, revision)
                marks.append(Mark("started", *self.answering))
            said.append(Said(text.strip(), FRAME_SAMPLES, self.answering[0], revision, not text.startswith(" ")))
        if self._seems_over:
            marks += self._end()
        return said, marks

    def stop(self) -> list[Mark]:
        """Interrupts the answer; returns the mark of that, none if nothing was spoken."""
        marks = [Mark("interrupted", *self.answering)] if self.answering is not None else []
        self.answering = None
        return marks

    def _end(self) -> list[Mark]:
        marks = [Mark("ended", *self.answering)] if self.answering is not None else []
        self.answering = None
        return marks

    def _count(self, worded: bool, samples: np.ndarray) -> None:
        loud = float(np.sqrt(np.mean(np.square(samples)))) > LOUD
        self._quiet_frames = 0 if loud else self._quiet_frames + 1
        self._wordless_frames = 0 if worded else self._wordless_frames + 1
        sounds = loud and self._wordless_frames < 3 * END_FRAMES
        self.idle_frames = 0 if worded or sounds else self.idle_frames + 1

    @property
    def _seems_over(self) -> bool:
        """No word for a second and no sound either, or no word for three."""
        quiet = self._quiet_frames >= END_FRAMES
        return self._wordless_frames >= (END_FRAMES if quiet else 3 * END_FRAMES)
