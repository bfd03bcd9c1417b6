"""A voice that runs in a child process, so that synthesis doesn't block the app. Each engine has its own worker module.

The voice starts the child, sends it one text at a time, and resamples the audio to 24 kHz. On exit, the child is
returned to the model pool. It also terminates with this process, because its standard input closes.

A child that fails is restarted once immediately. If that fails, too, another installed voice speaks, while the child is
started again after increasing delays.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.models.pool import MODELS, model_key
from app.platform.children import ChildError, ChildWorker
from app.platform.installation import completing_command
from app.platform.supervision import LONGEST_PAUSE
from app.tts.base import Clip, ClipBuilder, VoiceError

_CLIP_SECONDS = 4.0
"""How long to wait on exit for a clip in progress before killing the child. A sentence normally takes half a second."""

SPEAK_SECONDS = 20.0
"""Maximum time limit for a clause. The slowest voices take a third of its duration on one core."""
PATIENCE_SECONDS = 3.0
"""How long a clause waits for a child that may not be restarted yet, if there is no other voice."""
LEAST_SPEAK_SECONDS, SECONDS_PER_LETTER = 5.0, 0.1
"""Time limit for a clause without letters, and for each letter. A voice speaks some 15 letters per second."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """The launch parameters of a voice's child process, which runs `module` with `arguments` and requires `file`.

    `gain`: gain in dB that matches the voice's loudness to that of the other voices. `label`: the voice's user-facing
    name.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    file: Path
    gain: float = 0.0
    label: str = ""


class _Stopped(Exception):
    """Raised if a child has failed and can't be restarted for now. `str(error)` is a clause with the cause."""


class _Engine:
    """The child process of a speaker. It comes from the model pool and returns to it."""

    def __init__(self, speaker: Speaker) -> None:
        self.speaker = speaker
        self.label = speaker.label or speaker.name
        self._key = model_key("tts", speaker.module, speaker.arguments, speaker.file)
        self.child: ChildWorker = MODELS.acquire(self._key) or ChildWorker(speaker.module, *speaker.arguments)

    def start(self, patience: float = 0.0) -> None:
        """Starts the child if it isn't running, as `ChildWorker.start` does. Raises _Stopped."""
        try:
            if not self.child.alive():
                self.child.start(patience)
        except ChildError as error:
            raise _Stopped(str(error)) from None

    def close(self) -> None:
        """Returns the child to the pool, which closes it if it isn't running."""
        MODELS.release(self._key, self.child)

    def speak(
        self,
        text: str,
        rate: float,
        patience: float,
        on_part: Callable[[dict[str, Any], np.ndarray], bool] | None = None,
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Returns the header and the audio for `text`; only those of the last part if `on_part` gets the others.

        - `patience`: how many seconds to wait for a child that may not be restarted yet.
        - `on_part`: see `ChildWorker.ask`.

        Raises _Stopped or VoiceError.
        """
        asked = json.dumps({"text": text, "rate": rate, "parts": on_part is not None}).encode() + b"\n"

        def take(head: dict[str, Any], raw: bytes) -> bool:
            return on_part is None or on_part(head, np.frombuffer(raw, "<f4"))

        try:
            head, raw = self.child.ask(asked, speak_seconds(text), patience, take)
        except ChildError as error:
            raise _Stopped(str(error)) from None
        if "error" in head:
            raise VoiceError(f"The voice could not speak a sentence ({head['error']}); it is left out.")
        return head, np.frombuffer(raw, "<f4")


class ChildVoice:
    """A `Voice` that runs `speaker` in a child process.

    - `others`: voices that may speak if this one keeps failing, the best one first.
    - `first`: whether one of them also speaks if this one can't be started. Otherwise, that raises VoiceError.

    `name` is that of the voice in use.
    """

    def __init__(
        self,
        speaker: Speaker,
        rate: float = 1.0,
        volume: float = 1.0,
        others: Sequence[Speaker] = (),
        *,
        first: bool = False,
    ) -> None:
        self.name = speaker.name
        self.rate = rate
        self.volume = volume
        self._speaker = speaker
        self._others = others
        self._first = first
        self._untried: list[Speaker] = []
        self._work: queue.SimpleQueue[tuple[str, bool, Future[Clip]] | None] = queue.SimpleQueue()
        self._wanted: _Engine  # exists since the voice was entered
        self._other: _Engine | None = None  # speaks while the wanted one doesn't work
        self._notice = ""
        self._thread: threading.Thread | None = None
        self._restarting: threading.Thread | None = None
        self._leaving = False

    def __enter__(self) -> ChildVoice:
        """Loads the voice. Raises VoiceError."""
        if not self._speaker.file.exists():
            raise VoiceError(
                f"The voice {self._speaker.name} is not installed, so nothing can be spoken. "
                f"Set the app up again: {completing_command()}."
            )
        self._leaving, self._untried = False, list(self._others)
        self._wanted = _Engine(self._speaker)
        try:
            self._wanted.start()
        except _Stopped as error:
            if not self._first or not self._replace(str(error)):
                self._wanted.close()
                raise VoiceError(
                    f"The voice could not be started, so nothing can be spoken: {error}. Set the app up again: "
                    f"{completing_command()}."
                ) from None
            self._begin_restart()
        self._thread = threading.Thread(target=self._run, name="voice", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._leaving = True
        self._work.put(None)
        if self._thread is None:
            return
        self._thread.join(_CLIP_SECONDS)
        if self._thread.is_alive():
            for engine in filter(None, (self._wanted, self._other)):
                engine.child.close()
            self._thread.join(5)
        if self._restarting is not None and self._restarting.is_alive():
            self._wanted.child.close()
            self._restarting.join(5)
        self._use(None)
        self._wanted.close()

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        future: Future[Clip] = Future()
        self._work.put((text, growing, future))
        return future

    @property
    def process(self) -> int:
        """The process ID of the child in use, or 0 if there is no child."""
        return (self._other or self._wanted).child.pid if self._thread is not None else 0

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            text, growing, future = item
            if self._leaving:
                future.cancel()
            if not future.set_running_or_notify_cancel():
                continue
            builders: list[ClipBuilder] = []

            def publish(
                builder: ClipBuilder, future: Future[Clip] = future, builders: list[ClipBuilder] = builders
            ) -> None:
                assert builder.clip is not None
                builders.append(builder)
                future.set_result(builder.clip)

            try:
                clip = self._speak(text, publish if growing else None)
                if not future.done():
                    future.set_result(clip)
            except Exception as error:
                # Anything but a VoiceError: the child's reply is not a valid clip.
                known = isinstance(error, VoiceError)
                sentence = f"The voice could not speak a sentence ({type(error).__name__}); it is left out."
                if not future.done():
                    future.set_exception(error if known else VoiceError(sentence))
                for builder in builders:
                    builder.break_off(str(error) if known else sentence)
        while True:  # cancel the texts still queued
            try:
                item = self._work.get_nowait()
            except queue.Empty:
                return
            if item is not None:
                item[2].cancel()

    def _speak(self, text: str, publish: Callable[[ClipBuilder], None] | None = None) -> Clip:
        """Speaks `text` with the wanted voice, or with another one while that doesn't work. Raises VoiceError.

        `publish`: gets the clip's builder when its first part is there.
        """
        if self._restarting is not None:
            self._restarting.join(0.0 if self._other is not None else PATIENCE_SECONDS)
            if not self._restarting.is_alive():
                self._restarting = None
        cause = "it is being started again"
        if self._restarting is None:
            try:
                return self._spoken(self._wanted, text, publish)
            except _Stopped as error:
                cause = str(error)
            if self._other is not None or self._replace(cause):
                self._begin_restart()
        while self._other is not None:
            try:
                return self._spoken(self._other, text, publish)
            except _Stopped as error:
                cause = str(error)
                self._replace(cause)
        raise VoiceError(f"The voice has stopped: {cause}. A sentence is left out.")

    def _spoken(self, engine: _Engine, text: str, publish: Callable[[ClipBuilder], None] | None) -> Clip:
        """Speaks `text` with one voice. Raises _Stopped, or VoiceError, also if it stops after a part of the clip."""
        builder: ClipBuilder | None = None
        resampler: soxr.ResampleStream | None = None
        published = False

        def add(head: dict[str, Any], samples: np.ndarray, *, last: bool) -> None:
            nonlocal builder, resampler
            if builder is None:
                rate, length, ends = head["sample_rate"], head["length"], head["word_ends"]
                if rate != SAMPLE_RATE:
                    resampler = soxr.ResampleStream(rate, SAMPLE_RATE, 1, dtype="float32", quality="HQ")
                    length = round(length * SAMPLE_RATE / rate)
                    ends = ends and [round(end * SAMPLE_RATE / rate) for end in ends]
                builder = ClipBuilder(text, length, ends, engine.speaker.gain, self.volume)
            builder.add(samples if resampler is None else resampler.resample_chunk(samples, last=last))

        def on_part(head: dict[str, Any], samples: np.ndarray) -> bool:
            nonlocal published
            add(head, samples, last=False)
            assert builder is not None
            if builder.clip is None:
                return True
            if not published and publish is not None:
                published = True
                builder.clip.notice = self._take_notice(engine)
                publish(builder)
            return not builder.clip.unwanted

        patience = 0.0 if self._others else PATIENCE_SECONDS
        try:
            head, samples = engine.speak(text, self.rate, patience, on_part if publish is not None else None)
        except _Stopped as error:
            if published:
                raise VoiceError(f"The voice has stopped: {error}. The rest of a sentence is left out.") from None
            raise
        if "stopped" not in head:
            add(head, samples, last=True)
        assert builder is not None
        if not published:
            clip = builder.finish()
            clip.notice = self._take_notice(engine)
            return clip
        if builder.clip is not None and not builder.clip.unwanted:
            return builder.finish()
        return builder.clip or builder.finish()

    def _take_notice(self, engine: _Engine) -> str:
        """Returns what the user should know about the voice, which has just spoken."""
        cause = engine.child.take_notice()
        notice = f"The voice had stopped and was started again: {cause}." if cause else ""
        if engine is self._wanted and self._other is not None:
            self._use(None)
            self._notice = f"The voice {engine.label} works again, and speaks from now on."
        notice, self._notice = self._notice or notice, ""
        return notice

    def _replace(self, cause: str) -> bool:
        """Has the next of the other voices speak that can be started. Returns False if there is none."""
        while self._untried and not self._leaving:
            other = _Engine(self._untried.pop(0))
            try:
                other.start()
            except _Stopped:
                other.close()
                continue
            self._use(other)
            failed = self._wanted.label
            self._notice = f"The voice {failed} doesn't work ({cause}), so {other.label} speaks until it does."
            return True
        self._use(None)
        return False

    def _use(self, other: _Engine | None) -> None:
        """Speaks with `other` from now on, or with the wanted voice."""
        if self._other is not None:
            self._other.close()
        self._other = other
        self.name = (other or self._wanted).speaker.name
        if other is None:
            self._untried = list(self._others)

    def _begin_restart(self) -> None:
        self._restarting = threading.Thread(target=self._restart, name="restart a voice", daemon=True)
        self._restarting.start()

    def _restart(self) -> None:
        """Starts the wanted voice again, after increasing delays, until it runs."""
        while not self._leaving:
            with suppress(ChildError):
                self._wanted.child.start(LONGEST_PAUSE)
                return


def speak_seconds(text: str) -> float:
    """Returns the time limit for speaking `text`. A child that takes longer counts as failed."""
    return min(SPEAK_SECONDS, LEAST_SPEAK_SECONDS + SECONDS_PER_LETTER * len(text))
