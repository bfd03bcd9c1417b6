"""The frame thread counts what a device has lost, and loses nothing itself when a file is over."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.audio.io.base import EndOfAudio
from app.conversation.frame import FRAME_SECONDS, Frame
from app.session.frame_thread import FrameThread

STEPS = 90


@dataclass
class Machine:
    """Stepper and source with one clock. The step `held_at` takes `held` seconds longer than a frame lasts."""

    sound: int
    held_at: int = -1
    held: float = 0.0
    lost_at: int = -1
    now: float = 100.0
    read: int = 0
    backlog: int = 0
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    """The index of each frame, and how many were dropped and missing before it."""
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        parts: Any = self
        self.thread = FrameThread(
            parts, parts, lambda message: None, self.failures.append, lambda: None, now=lambda: self.now
        )

    def run(self) -> list[tuple[int, int, int]]:
        """Steps until there are enough."""
        self.thread._run()
        assert self.failures == []
        return self.steps

    def read_frame(self, timeout: float) -> np.ndarray:
        """The next frame; the device gives nothing for a second before the frame `lost_at`."""
        if self.read == self.sound:
            raise EndOfAudio("The file is over.")
        if self.read == self.lost_at:
            self.now += 1.0
        self.read += 1
        return np.zeros(1920, np.float32)

    def drop_to_newest(self) -> int:
        """There is never more than one frame."""
        return 0

    def step(self, frame: Frame, *, dropped: int = 0, missing: int = 0) -> None:
        """Lets time pass."""
        self.steps.append((frame.index, dropped, missing))
        self.now += FRAME_SECONDS + (self.held if len(self.steps) == self.held_at else 0.0)
        if len(self.steps) == STEPS:
            self.thread.stop()


def test_what_the_device_loses_is_counted_and_is_not_called_slowness() -> None:
    steps = Machine(sound=STEPS, lost_at=40).run()
    assert [(dropped, missing) for _, dropped, missing in steps if dropped or missing] == [(0, 12)]
    assert steps[-1][0] == STEPS - 1 + 12


def test_a_file_that_is_over_loses_nothing_however_late_a_step_is() -> None:
    steps = Machine(sound=10, held_at=40, held=1.2).run()
    assert steps == [(index, 0, 0) for index in range(STEPS)]


def test_a_thread_that_computes_holds_a_frame_up_for_less_than_a_millisecond_at_a_time() -> None:
    found = subprocess.run(
        [sys.executable, "-c", "import app, sys; print(sys.getswitchinterval())"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert float(found.stdout) < 0.001
