"""A voice in a child process, one worker module for each engine, so that synthesis takes no time of this process.

Starts the child, sends it texts one by one, and resamples the sound to 24 kHz. On exit the child is released to the
pool of models; it also ends by itself when this process ends, because its input closes.
"""

from __future__ import annotations

import json
import logging
import queue
import subprocess
import threading
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.models.pool import MODELS, ModelKey, model_key
from app.platform.children import end_child, killed_after, python_module_command, quiet_child
from app.platform.installation import completing_command
from app.tts.base import Clip, VoiceError, amplified, make_clip
from app.untrusted.files import read_json_line
from app.untrusted.limits import CHILD_LINE

_START_TRIES = 2
"""A child that ends before it is ready is started again once: seen once under Wine, and not in 59 starts since."""
_CLIP_SECONDS = 4.0
"""A child that is still at a clip so long after its session is stuck, and ended: a sentence takes half a second."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Speaker:
    """How a child process speaks: `module` is run with `arguments`, and needs `file`.

    `gain`: decibels that make it as loud as the others.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    file: Path
    gain: float = 0.0


class ChildVoice:
    """A `Voice` that speaks as `speaker`."""

    def __init__(self, speaker: Speaker, rate: float = 1.0, volume: float = 1.0) -> None:
        self.name = speaker.name
        self.rate = rate
        self.volume = volume
        self.cpu_seconds = 0.0
        """Processor time of its texts so far."""
        self._speaker = speaker
        self._work: queue.SimpleQueue[tuple[str, Future[Clip]] | None] = queue.SimpleQueue()
        self._child: subprocess.Popen[bytes] | None = None
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
        self._child = MODELS.acquire(self._key)
        if self._child is None:
            self._start()
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
            self._stop_child()
            self._thread.join(5)
        MODELS.release(self._key, self._child, alive=lambda child: child.poll() is None, close=end_child)

    def synthesize(self, text: str) -> Future[Clip]:
        future: Future[Clip] = Future()
        self._work.put((text, future))
        return future

    @property
    def process(self) -> int:
        """The child's process id; 0 without one."""
        return self._child.pid if self._child is not None else 0

    def _start(self) -> None:
        for _ in range(_START_TRIES):
            if self._start_child():
                return
            if self._leaving:
                break
        raise VoiceError(
            f"The voice could not be started, so nothing can be spoken. Set the app up again: {completing_command()}."
        )

    def _start_child(self) -> bool:
        """Starts the child and waits until it is ready; False if it ended, or took too long and was ended."""
        command = python_module_command(self._speaker.module, *self._speaker.arguments)
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
        )
        with killed_after(self._child):
            ready = self._child.stdout.readline()  # type: ignore[union-attr]
        if not ready:
            self._stop_child()
            _log.warning("The voice's process ended with exit code %s before it could speak.", self._child.returncode)
        return bool(ready)

    def _stop_child(self) -> None:
        if self._child is not None:
            end_child(self._child, 2)

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
            except Exception:
                self._stop_child()  # it may still send a part of this clip
                future.set_exception(VoiceError(_BROKEN))
        while True:  # texts that still wait are cancelled
            try:
                item = self._work.get_nowait()
            except queue.Empty:
                return
            if item is not None:
                item[1].cancel()

    def _speak(self, text: str) -> Clip:
        try:
            return self._ask(text)
        except (OSError, ValueError):
            # The child died: it is tried again with a new one, and only then an error.
            if self._leaving:
                raise
            self._stop_child()
            self._start()
            return self._ask(text)

    def _ask(self, text: str) -> Clip:
        child = self._child
        assert child is not None and child.stdin is not None and child.stdout is not None
        child.stdin.write(json.dumps({"text": text, "rate": self.rate}).encode() + b"\n")
        child.stdin.flush()
        head = read_json_line(child.stdout, CHILD_LINE)
        if "error" in head:
            raise VoiceError(f"The voice could not speak a sentence ({head['error']}); it is left out.")
        raw = child.stdout.read(head["bytes"])
        if len(raw) < head["bytes"]:
            raise OSError("the voice's process ended")
        self.cpu_seconds += head["cpu_seconds"]
        samples, ends = np.frombuffer(raw, "<f4"), head["word_ends"]
        if (rate := head["sample_rate"]) != SAMPLE_RATE:
            samples = soxr.resample(samples, rate, SAMPLE_RATE, quality="HQ")
            ends = ends and [round(end * SAMPLE_RATE / rate) for end in ends]
        clip = make_clip(np.asarray(samples, np.float32), text, ends)
        return replace(clip, samples=amplified(clip.samples, self._speaker.gain, self.volume))


_BROKEN = "The voice's process ended and could not be started again; a sentence is left out."
