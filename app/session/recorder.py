"""Writes a session down: every event as a line of `events.jsonl`, after a first line with the version of the format,
and what both sides sounded like.

`user.wav` and `assistant.wav` run on the session's clock, frame by frame, so they line up. Writing happens
on a thread of its own; when the disk is full the conversation continues and the user is told once.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from app.audio.io.base import AudioError
from app.audio.io.files import FileSink
from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.frame import silence_flushed
from app.untrusted.limits import EVENT_LINE

EVENTS_FILE = "events.jsonl"
VERSION = 1
"""Of the format of that file, in its first line. To be raised with every change of the events."""
USER_FILE = "user.wav"
ASSISTANT_FILE = "assistant.wav"
CLOSE_SECONDS = 3.0
"""How long the end waits for what is still to be written."""
DELAY_FRAMES = 8
"""How much later the assistant's sound is written, because a barge-in takes back what was not yet played."""


_log = logging.getLogger(__name__)


class RecorderError(Exception):
    """The folder can't be written to; `str(error)` is a sentence for the user."""


class Recorder:
    """Records into `folder`, which is created.

    `on_failure` is called with a sentence, on any thread: when the recording has stopped, when something had to be left
    out, and when the disk is too slow to end in time. Each is told once, and at the end also logged, as the session
    that is over by then has no listener for it.
    """

    def __init__(self, folder: Path, on_failure: Callable[[str], None]) -> None:
        self.folder = folder
        self._on_failure = on_failure
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._delayed: list[np.ndarray] = []
        self._broken = self._left_out = self._ending = False

    def __enter__(self) -> Recorder:
        """Open the files. Raises RecorderError."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._events = open(self.folder / EVENTS_FILE, "w", encoding="utf-8", newline="\n")
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
            self._queue.put(partial(self._assistant.write, samples))
        self._queue.put(None)
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            self._tell(
                f"The recording in {self.folder} is not complete yet: the disk there doesn't answer in time. What is "
                "not written when KAME ends will be missing. Look after that disk."
            )

    def event(self, event: e.Event) -> None:
        """Write an event, unless it is only for meters."""
        if isinstance(event, e.LevelMeasured | e.SoundMeasured):
            return
        self._queue.put(partial(self._write_line, event))

    def sound(self, user: np.ndarray, assistant: np.ndarray, flushed: int) -> None:
        """Writes both sides of the next frame. `flushed`: samples written before that were never played."""
        silence_flushed(self._delayed, flushed)
        self._delayed.append(assistant)
        self._queue.put(lambda: self._user.write(user))
        if len(self._delayed) > DELAY_FRAMES:
            oldest = self._delayed.pop(0)
            self._queue.put(lambda: self._assistant.write(oldest))

    def _write_line(self, event: e.Event) -> None:
        line = to_json(event)
        if len(line.encode()) < EVENT_LINE.bytes:
            self._events.write(line + "\n")
            self._events.flush()
        elif not self._left_out:
            self._left_out = True
            self._tell(
                "Something in this talk is too long to be recorded and is left out of the recording. All else is "
                "recorded."
            )

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            if self._broken:
                continue
            try:
                job()
            except Exception as error:  # whatever it is, the user is told, and the talk goes on
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
        with contextlib.suppress(RuntimeError):  # nobody is there any more
            self._on_failure(sentence)
