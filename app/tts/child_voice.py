"""A voice that runs in a child process, so that synthesis doesn't block the app. Each engine has its own worker module.

The voice starts the child, sends it one text at a time, and resamples the audio to 24 kHz. On exit, the child is
returned to the model pool. It also terminates with this process, because its standard input closes.
"""

from __future__ import annotations

import json
import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.models.pool import MODELS, ModelKey, model_key
from app.platform.children import ChildError, ChildWorker
from app.platform.installation import completing_command
from app.tts.base import Clip, VoiceError, amplified, make_clip
from app.untrusted.files import read_json_line
from app.untrusted.limits import CHILD_LINE

_CLIP_SECONDS = 4.0
"""How long to wait on exit for a clip in progress before killing the child. A sentence normally takes half a second."""

SPEAK_SECONDS = 20.0
"""Maximum time limit for a clause. The slowest voices take a third of its duration on one core."""
LEAST_SPEAK_SECONDS, SECONDS_PER_LETTER = 5.0, 0.1
"""Time limit for a clause without letters, and for each letter. A voice speaks some 15 letters per second."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """The launch parameters of a voice's child process, which runs `module` with `arguments` and requires `file`.

    `gain`: gain in dB that matches the voice's loudness to that of the other voices.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    file: Path
    gain: float = 0.0


class ChildVoice:
    """A `Voice` that runs `speaker` in a child process."""

    def __init__(self, speaker: Speaker, rate: float = 1.0, volume: float = 1.0) -> None:
        self.name = speaker.name
        self.rate = rate
        self.volume = volume
        self.cpu_seconds = 0.0
        """CPU time spent on synthesis so far."""
        self._speaker = speaker
        self._work: queue.SimpleQueue[tuple[str, Future[Clip]] | None] = queue.SimpleQueue()
        self._child: ChildWorker | None = None
        self._thread: threading.Thread | None = None
        self._key: ModelKey | None = None
        self._leaving = False

    def __enter__(self) -> ChildVoice:
        """Loads the voice. Raises VoiceError."""
        if not self._speaker.file.exists():
            raise VoiceError(
                f"The voice {self.name} is not installed, so nothing can be spoken. "
                f"Set the app up again: {completing_command()}."
            )
        self._leaving = False
        speaker = self._speaker
        self._key = model_key("tts", speaker.module, speaker.arguments, speaker.file)
        self._child = MODELS.acquire(self._key) or self._start()
        self._thread = threading.Thread(target=self._run, name="voice", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._leaving = True
        self._work.put(None)
        if self._thread is None or self._key is None or self._child is None:
            return
        self._thread.join(_CLIP_SECONDS)
        if self._thread.is_alive():
            self._child.close()
            self._thread.join(5)
        MODELS.release(self._key, self._child)

    def synthesize(self, text: str) -> Future[Clip]:
        future: Future[Clip] = Future()
        self._work.put((text, future))
        return future

    @property
    def process(self) -> int:
        """The child's process ID, or 0 if there is no child."""
        return self._child.pid if self._child is not None else 0

    def _start(self) -> ChildWorker:
        child = ChildWorker(self._speaker.module, *self._speaker.arguments)
        try:
            child.start()
        except ChildError as error:
            raise VoiceError(
                f"The voice could not be started, so nothing can be spoken: {error}. Set the app up again: "
                f"{completing_command()}."
            ) from None
        return child

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            text, future = item
            if self._leaving:
                future.cancel()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._speak(text))
            except VoiceError as error:
                future.set_exception(error)
            except Exception as error:  # the child's reply is not a valid clip
                sentence = f"The voice could not speak a sentence ({type(error).__name__}); it is left out."
                future.set_exception(VoiceError(sentence))
        while True:  # cancel the texts still queued
            try:
                item = self._work.get_nowait()
            except queue.Empty:
                return
            if item is not None:
                item[1].cancel()

    def _speak(self, text: str) -> Clip:
        def exchange(to_child: IO[bytes], from_child: IO[bytes]) -> tuple[dict[str, Any], bytes]:
            to_child.write(json.dumps({"text": text, "rate": self.rate}).encode() + b"\n")
            to_child.flush()
            head = read_json_line(from_child, CHILD_LINE)
            raw = b"" if "error" in head else from_child.read(head["bytes"])
            if len(raw) < head.get("bytes", 0):
                raise OSError("the voice's process ended")
            return head, raw

        assert self._child is not None
        try:
            head, raw = self._child.ask(exchange, speak_seconds(text))
        except ChildError as error:
            raise VoiceError(f"The voice has stopped: {error}. A sentence is left out.") from None
        if "error" in head:
            raise VoiceError(f"The voice could not speak a sentence ({head['error']}); it is left out.")
        self.cpu_seconds += head["cpu_seconds"]
        samples, ends = np.frombuffer(raw, "<f4"), head["word_ends"]
        if (rate := head["sample_rate"]) != SAMPLE_RATE:
            samples = soxr.resample(samples, rate, SAMPLE_RATE, quality="HQ")
            ends = ends and [round(end * SAMPLE_RATE / rate) for end in ends]
        clip = make_clip(np.asarray(samples, np.float32), text, ends)
        cause = self._child.take_notice()
        notice = f"The voice had stopped and was started again: {cause}." if cause else ""
        return replace(clip, samples=amplified(clip.samples, self._speaker.gain, self.volume), notice=notice)


def speak_seconds(text: str) -> float:
    """Returns the time limit for speaking `text`. A child that takes longer counts as failed."""
    return min(SPEAK_SECONDS, LEAST_SPEAK_SECONDS + SECONDS_PER_LETTER * len(text))
