"""A question that is asked aloud: its sound takes the microphone's place until its turn has ended."""

from __future__ import annotations

import numpy as np

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, silence
from app.conversation.turn import TurnTracker

LEAD_FRAMES = 3
"""Silence before it, in which a voice detector settles, and the talk button counts as held."""
TAIL_SECONDS = 6.0
"""How long the end of its turn is waited for, where the voice alone ends turns."""


class AskedSound:
    """Gives the frames of one question at a time. All calls are on the frame thread.

    Without hands-free mode the talk button of `tracker` is held meanwhile, as a user would.
    """

    def __init__(self, tracker: TurnTracker) -> None:
        self._tracker = tracker
        self._frames: list[np.ndarray] | None = None
        self._holds_button = False
        self._tail = 0.0

    def begin(self, samples: np.ndarray) -> None:
        """Ask from the next frame on; `samples`: float32 mono 24 kHz of any length."""
        self.leave()
        whole = np.pad(samples.astype(np.float32), (0, -len(samples) % FRAME_SAMPLES)).reshape(-1, FRAME_SAMPLES)
        self._frames = [*(silence() for _ in range(LEAD_FRAMES)), *whole]
        self._tail = 0.0
        if not self._tracker.duplex:
            self._holds_button = True
            self._tracker.press()

    def stop(self) -> None:
        """Ask no further: its turn ends, and is not answered."""
        if self._frames is not None:
            self._frames, self._holds_button = None, False
            self._tracker.drop()

    def leave(self) -> None:
        """Give the microphone back at once; what was heard is the user's turn, which may go on."""
        self._frames = None
        self._release()

    def next_frame(self) -> np.ndarray | None:
        """Return what is heard in the place of the microphone now, float32 (1920,); None: the microphone is."""
        if self._frames is None:
            return None
        if self._frames:
            return self._frames.pop(0)
        self._release()
        self._tail += FRAME_SECONDS
        if self._tail > FRAME_SECONDS and (not self._tracker.user_holds_floor or self._tail > TAIL_SECONDS):
            self._frames = None
            return None
        return silence()

    def _release(self) -> None:
        if self._holds_button:
            self._holds_button = False
            self._tracker.release()
