"""What becomes of each step and each event of a session: handlers and listeners, the recording, the audio in memory.

A recording has both sides' audio and the events. `StepHandlers` and `EventsOut` keep a fault in one handler or listener
from affecting the others.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from app.audio.io.base import AudioError
from app.audio.io.files import FileSink
from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, silence_flushed
from app.conversation.record.transcript import Transcript
from app.platform.files import private_file, private_folder
from app.session.frame_loop import StepMessage
from app.untrusted.limits import EVENT_LINE

EVENTS_FILE = "events.jsonl"
VERSION = 1
"""The format version in the first line of that file. Every change of the events requires a new one."""
USER_FILE = "user.wav"
ASSISTANT_FILE = "assistant.wav"
CLOSE_SECONDS = 3.0
"""How long to wait at the end until everything is written."""
MOST_WAITING = 6000
"""The maximum number of jobs in the queue: four minutes of audio of both sides, which take 46 MB."""
DELAY_FRAMES = 8
"""How much later the assistant's audio is written, since a barge-in discards what was not played yet."""


_log = logging.getLogger(__name__)


class RecorderError(Exception):
    """Raised if the folder can't be written to. `str(error)` is a user-facing message."""


class Recorder:
    """Records into `folder`, which is created.

    `on_failure` is called with a user-facing message, on any thread, if the recording has stopped, something was left
    out, or the disk is too slow; once for each. At the end, messages are also logged, since the session has no listener
    any more.
    """

    def __init__(self, folder: Path, on_failure: Callable[[str], None]) -> None:
        self.folder = folder
        self._on_failure = on_failure
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._delayed: list[np.ndarray] = []
        self._broken = self._left_out = self._ending = self._too_slow = False
        self._missing = {"user": 0, "assistant": 0}  # samples left out since the last ones that were queued

    def __enter__(self) -> Recorder:
        """Opens the files. Raises RecorderError."""
        try:
            private_folder(self.folder)
            self._events = private_file(self.folder / EVENTS_FILE, "w", encoding="utf-8", newline="\n")
            self._events.write(json.dumps({"format": "kame-recording", "version": VERSION}) + "\n")
            self._user = FileSink(self.folder / USER_FILE).__enter__()
            self._assistant = FileSink(self.folder / ASSISTANT_FILE).__enter__()
        except (OSError, AudioError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise RecorderError(
                f"The conversation can't be recorded in {self.folder}: {reason}. Choose another folder."
            ) from None
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ending = True
        for samples in self._delayed:
            self._put_sound("assistant", samples)
        for side, missing in self._missing.items():
            self._queue.put(partial(self._write_sound, side, missing, np.zeros(0, np.float32)))
        self._queue.put(None)
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            self._tell(
                f"The recording in {self.folder} is not complete yet: the disk there doesn't answer in time. What is "
                "not written when KAME ends will be missing. Check that disk."
            )

    def event(self, event: e.Event) -> None:
        """Writes an event, unless it is only for meters."""
        if isinstance(event, e.LevelMeasured | e.SoundMeasured):
            return
        if self._queue.qsize() < 2 * MOST_WAITING:  # events are small, so audio is left out first
            self._queue.put(partial(self._write_line, event))
        else:
            self._tell_slow()

    def sound(self, user: np.ndarray, assistant: np.ndarray, flushed: int) -> None:
        """Writes both sides of the next frame. `flushed`: samples written before that were never played."""
        silence_flushed(self._delayed, flushed)
        self._delayed.append(assistant)
        self._put_sound("user", user)
        if len(self._delayed) > DELAY_FRAMES:
            self._put_sound("assistant", self._delayed.pop(0))

    def _put_sound(self, side: str, samples: np.ndarray) -> None:
        """Queues one side's samples. If the disk is too slow, they are left out and replaced by silence later."""
        if self._queue.qsize() >= MOST_WAITING:
            self._missing[side] += len(samples)
            self._tell_slow()
            return
        missing, self._missing[side] = self._missing[side], 0
        self._queue.put(partial(self._write_sound, side, missing, samples))

    def _write_sound(self, side: str, missing: int, samples: np.ndarray) -> None:
        sink = self._user if side == "user" else self._assistant
        while missing:
            part = min(missing, SAMPLE_RATE)
            sink.write(np.zeros(part, np.float32))
            missing -= part
        sink.write(samples)

    def _tell_slow(self) -> None:
        if not self._too_slow:
            self._too_slow = True
            self._tell(
                f"The disk is too slow to record in {self.folder}, so silence takes the place of some sound in this "
                "recording. Record to another disk next time."
            )

    def _write_line(self, event: e.Event) -> None:
        line = to_json(event)
        if len(line.encode()) < EVENT_LINE.bytes:
            self._events.write(line + "\n")
            self._events.flush()
        elif not self._left_out:
            self._left_out = True
            self._tell(
                "Something in this conversation is too long to be recorded, so it is missing in the recording. "
                "Everything else is recorded."
            )

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            if self._broken:
                continue
            try:
                job()
            except Exception as error:  # a fault of any kind must not end the conversation
                self._fail(error)
        for close in (
            self._events.close,
            lambda: self._user.__exit__(None, None, None),
            lambda: self._assistant.__exit__(None, None, None),
        ):
            try:
                close()
            except Exception as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self._broken:
            return
        self._broken = True
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        self._tell(
            f"The recording has stopped: {reason}. The conversation continues, and what was recorded up to here is "
            f"kept in {self.folder}. Make room there, and record again."
        )

    def _tell(self, sentence: str) -> None:
        if self._ending:
            _log.warning("%s", sentence)
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._on_failure(sentence)


KEPT_SECONDS = 300.0
"""How much audio the window keeps. Five minutes of both sides in 16 bits take 29 MB."""


class SoundMemory:
    """The newest `seconds` of both sides' audio, by frame."""

    def __init__(self, seconds: float, frame_samples: int = FRAME_SAMPLES) -> None:
        self._frame_seconds = frame_samples / SAMPLE_RATE
        self._first = 0  # the number of the oldest frame that is kept
        most = max(1, round(seconds / self._frame_seconds))
        self._frames: dict[str, deque[np.ndarray]] = {"user": deque(maxlen=most), "assistant": deque(maxlen=most)}

    def add(self, index: int, user: np.ndarray, assistant: np.ndarray, flushed: int = 0) -> None:
        """Adds both sides of frame `index`, float32. `flushed`: samples written earlier that were never played."""
        mine, theirs = self._frames["user"], self._frames["assistant"]
        if not mine:
            self._first = index
        elif len(mine) == mine.maxlen:
            self._first += 1
        silence_flushed(theirs, flushed)
        mine.append(_to_16_bits(user))
        theirs.append(_to_16_bits(assistant))

    def cut(self, speaker: str, begin: float, end: float) -> np.ndarray | None:
        """Returns one side's audio between two session times (s), float32 (n,); None if it isn't kept any more."""
        frames, length = self._frames[speaker], self._frame_seconds
        if not frames or begin >= self._next * length or end <= begin:
            return None
        if end <= self._first * length:
            return None
        first = max(self._first, int(begin / length))
        last = min(self._next, int(np.ceil(end / length)))
        kept = np.concatenate([frames[n - self._first] for n in range(first, last)])
        from_sample = max(0, round((begin - first * length) * SAMPLE_RATE))
        to_sample = round((end - first * length) * SAMPLE_RATE)
        return kept[from_sample:to_sample].astype(np.float32) / 32768.0

    @property
    def _next(self) -> int:
        return self._first + len(self._frames["user"])


def _to_16_bits(samples: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(samples * 32768.0), -32768, 32767).astype(np.int16)


BROKEN_PART = (
    "Something in the app broke. The conversation continues, but part of what was said may be missing. If it happens "
    "again, start the conversation again and report this"
)


class StepHandlers:
    """Passes the messages of the frame loop to `handlers`, in order, on the event loop's thread.

    One that raises affects no other. Each comes with the part of the app that is named to the user then.
    """

    def __init__(
        self, emit: Callable[[e.Event], None], *handlers: tuple[e.Source, Callable[[StepMessage], None]]
    ) -> None:
        self.frames = 0
        """How many frames have been handled."""
        self._emit = emit
        self._handlers = handlers
        self._broken: set[str] = set()  # parts whose faults the user knows

    def handle(self, message: StepMessage) -> None:
        """Calls the handlers. Logs a fault of the app, and tells the user once per part."""
        index = message.frame.index
        if index != self.frames:
            _log.error("Frame %d follows frame %d", index, self.frames - 1)
        self.frames = index + 1
        for part, handler in self._handlers:
            try:
                handler(message)
            except Exception as error:
                _log.exception("The %s part broke at frame %d", part, index)
                if part not in self._broken:
                    self._broken.add(part)
                    self._emit(e.Failure(message.frame.at, part, f"{BROKEN_PART} ({type(error).__name__}: {error})"))


class EventsOut:
    """Calls listeners in the order in which they were added. The first one also gets the earlier events."""

    def __init__(self, recorder: Recorder | None) -> None:
        self.transcript = Transcript()
        self._recorder = recorder
        self._listeners: list[Callable[[e.Event], None]] = []
        self._early: list[e.Event] = []
        self._over = False

    def add_listener(self, listener: Callable[[e.Event], None]) -> None:
        """Calls `listener` with each event from now on, on the event loop's thread."""
        self._listeners.append(listener)
        early, self._early = self._early, []
        for event in early:
            listener(event)

    def emit(self, event: e.Event) -> None:
        """Passes an event on; nothing follows `SessionEnded`. A listener that raises doesn't affect the others."""
        if self._over:
            return
        self._over = isinstance(event, e.SessionEnded)
        if not self._listeners:
            self._early.append(event)
        recorder = [self._recorder.event] if self._recorder is not None else []
        for listener in (self.transcript.apply, *recorder, *self._listeners):
            try:
                listener(event)
            except Exception:
                _log.exception("A listener can't handle %s", type(event).__name__)
