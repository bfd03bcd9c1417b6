"""What the user says while a session is loading: kept, and stepped once the session begins."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from app.conversation.frame import FRAME_SAMPLES, Frame
from app.session.clock import FrameReader, Timeline
from app.session.early_sound import BEFORE_SECONDS, EarlySound
from app.session.frame_thread import FrameThread
from app.session.mailbox import Mailbox, TalkButton

BEFORE = round(BEFORE_SECONDS / 0.08)


class Source:
    """Delivers one block, all of whose samples have its number, for each `tick`."""

    overruns = 0

    def __init__(self) -> None:
        self._blocks: deque[np.ndarray] = deque()
        self._delivered = 0
        self._ready = threading.Semaphore(0)

    @property
    def backlog(self) -> int:
        return len(self._blocks)

    def drop_to_newest(self) -> int:
        dropped = max(0, len(self._blocks) - 1)
        for _ in range(dropped):
            self._blocks.popleft()
        return dropped

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self._blocks.append(np.full(FRAME_SAMPLES, self._delivered, np.float32))
            self._delivered += 1
            self._ready.release()

    def read_frame(self, timeout: float) -> np.ndarray | None:
        return self._blocks.popleft() if self._ready.acquire(timeout=timeout) else None


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


class Rig:
    def __init__(self, *, always: bool = False) -> None:
        self.source, self.mailbox = Source(), Mailbox()
        self.early = EarlySound(cast(Any, self.source), self.mailbox, always=always)
        self.early.start()

    def hear(self, count: int) -> None:
        self.source.tick(count)
        until(lambda: not self.source.backlog)
        time.sleep(0.02)  # the last block is read, but perhaps not kept yet

    def button(self, pressed: bool) -> None:
        self.mailbox.post(TalkButton(pressed))
        self.hear(1)

    def kept(self) -> list[tuple[int, bool | None]]:
        """The numbers of the blocks, each with what had become of the talk button before its end."""
        self.early.stop()
        return [(int(block[0]), _button(messages)) for block, messages in self.early.take()]


def _button(messages: Iterable[object]) -> bool | None:
    pressed = [message.pressed for message in messages if isinstance(message, TalkButton)]
    return pressed[-1] if pressed else None


def test_what_is_said_since_the_button_went_down_is_kept_with_a_little_before_it() -> None:
    rig = Rig()
    rig.hear(20)
    rig.button(True)  # block 20
    rig.hear(9)
    rig.button(False)  # block 30
    rig.hear(20)
    kept = rig.kept()
    assert [number for number, _ in kept] == list(range(20 - BEFORE, 51))
    assert [one for one in kept if one[1] is not None] == [(20, True), (30, False)]


def test_hands_free_all_is_kept_and_else_nothing_of_a_user_who_does_not_talk() -> None:
    rig = Rig()
    rig.hear(20)
    assert rig.kept() == []
    rig = Rig(always=True)
    rig.hear(30)
    assert [number for number, _ in rig.kept()] == list(range(30))


def test_a_session_begins_with_it_and_continues_with_what_comes_without_a_gap() -> None:
    """A step waits, so that more is said while the session catches up."""
    rig = Rig()
    steps: list[tuple[Frame, bool | None]] = []
    go_on = threading.Event()

    class Stepper:
        def step(self, frame: Frame, messages: Iterable[object] | None = None) -> None:
            if len(steps) == 3:
                go_on.wait(20)
            steps.append((frame, _button(rig.mailbox.drain() if messages is None else messages)))

        def prepare(self) -> None:
            pass

    rig.button(True)
    rig.hear(9)
    timeline = Timeline()
    reader = FrameReader(cast(Any, rig.source), timeline, lambda: None)
    thread = FrameThread(
        cast(Any, Stepper()), reader, lambda _: None, lambda _: None, now=time.perf_counter, early=rig.early
    )
    thread.start()
    until(lambda: len(steps) == 3)
    rig.hear(30)  # more than the reader would leave unread
    rig.button(False)
    rig.hear(4)
    go_on.set()
    until(lambda: len(steps) == 45)
    rig.source.tick(2)
    until(lambda: len(steps) == 47)
    thread.stop()
    assert [(frame.index, int(frame.samples[0]), frame.lost) for frame, _ in steps] == [(n, n, "") for n in range(47)]
    assert [(frame.index, button) for frame, button in steps if button is not None] == [(0, True), (40, False)]
    assert timeline() >= 40 * 0.08, "the clock is at the newest frame, not at the first"


def test_a_session_whose_first_frames_wait_already_has_the_right_time() -> None:
    now = [100.0]
    timeline = Timeline(lambda: now[0])
    for backlog in (2, 1, 0):  # all three are there when the first one is read
        (frame,) = timeline.arrived(np.zeros(FRAME_SAMPLES, np.float32), backlog=backlog)
        assert timeline() >= frame.at
    now[0] += 0.08
    (frame,) = timeline.arrived(np.zeros(FRAME_SAMPLES, np.float32))
    assert frame.index == 3 and timeline() == round(frame.at, 3)
