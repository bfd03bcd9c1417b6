"""Tests of microphones and loudspeakers, and playback of parts of recorded sessions.

Each test runs as a job on an executor thread, which imports the adapters, opens the device and closes it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import numpy as np
import soxr

from app.audio.io.base import AudioError, AudioSink, AudioSource, DeviceError
from app.audio.io.files import read_part
from app.conversation.frame import SAMPLE_RATE
from app.conversation.turns.voice import WINDOW_SECONDS
from app.platform.installation import completing_command
from app.services.microphone_check import (
    PATIENCE_SECONDS,
    POLL_SECONDS,
    SHORTEST_SECONDS,
    VOICED,
    MicrophoneTest,
    detect_amplified,
    has_speech,
    judge,
    record,
)
from app.session.control import UserError
from app.session.recorder import ASSISTANT_FILE, USER_FILE
from app.stt.base import TranscriberError, VoiceActivity
from app.tts.base import Voice, VoiceError

SENTENCE = "This is how I sound."
RECOGNISER_RATE = 16_000
MARGIN_SECONDS = 0.4
"""How much audio before and after the voice activity is also passed to the recogniser. A consonant, for example, may
precede the detected onset."""
VOICE_SECONDS = 30.0

_NOTHING = np.zeros(0, np.float32)
_T = TypeVar("_T")


class Recogniser(Protocol):
    """A speech recogniser such as `WhisperDecoder`."""

    def decode(self, samples: np.ndarray) -> str:
        """Transcribes `samples` (float32 mono at 16 kHz)."""
        ...


@dataclass(frozen=True, slots=True)
class Clip:
    """A part of a recorded session. `folder`: the recording's folder; `begin`, `end`: session time in seconds."""

    folder: Path
    speaker: Literal["user", "assistant"]
    begin: float
    end: float


def _microphone(name: str | None) -> AudioSource:
    from app.audio.devices.microphone import Microphone

    return Microphone(name)


def _loudspeaker(name: str | None) -> AudioSink:
    from app.audio.devices.loudspeaker import Loudspeaker

    return Loudspeaker(name)


def _recogniser() -> Recogniser:
    from app.models.locations import default_model
    from app.stt.whisper_decoder import WhisperDecoder

    model = default_model("stt")
    if not model.is_dir():
        raise TranscriberError(
            "The speech recognition model is not installed, so nothing can be understood. Set the app up again: "
            f"{completing_command()}."
        )
    return WhisperDecoder(model)


def _detector() -> VoiceActivity:
    from app.stt.silero import SileroVoiceActivity

    return SileroVoiceActivity()


def _voice() -> Voice:
    from app.tts.voices import make_voice

    return make_voice()


class _Job:
    """A running or queued test. `stop`: set to end it early; `dropped`: whether its result is no longer wanted."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.dropped = False

    def drop(self) -> None:
        self.dropped = True
        self.stop.set()


class SoundTestService:
    """Tests of audio devices, which are identified by name (empty for the system default).

    Tests can be run during a session. They run one at a time; further calls wait their turn. The coroutines don't block
    the event loop and raise UserError. A cancelled coroutine returns once its device is closed. The arguments are
    factories, replaceable in tests.
    """

    def __init__(
        self,
        *,
        microphone: Callable[[str | None], AudioSource] = _microphone,
        loudspeaker: Callable[[str | None], AudioSink] = _loudspeaker,
        recogniser: Callable[[], Recogniser] = _recogniser,
        detector: Callable[[], VoiceActivity] = _detector,
        voice: Callable[[], AbstractContextManager[Voice]] = _voice,
    ) -> None:
        self._microphone = microphone
        self._loudspeaker = loudspeaker
        self._recogniser = recogniser
        self._detector = detector
        self._voice = voice
        self._recorded: np.ndarray | None = None
        self._sentence: np.ndarray | None = None
        self._turn = asyncio.Lock()
        self._jobs: set[_Job] = set()

    async def test_microphone(self, name: str, seconds: float, report: Callable[[float, bool], None]) -> MicrophoneTest:
        """Records for up to `seconds`, ending early half a second after speech, and rates the recording.

        `report` is called on the loop's thread with each frame's peak level in dBFS and whether it is clipped; the
        first call indicates that the microphone is open. The recording is kept for `play_back`.
        """
        loop = asyncio.get_running_loop()

        def test(job: _Job) -> MicrophoneTest:
            def report_soon(level: float, clipped: bool) -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(lambda: None if job.dropped else report(level, clipped))

            return self._test_microphone(job, name, seconds, report_soon)

        return await self._run(test)

    async def play_back(self, loudspeaker: str) -> None:
        """Plays the recording of the last microphone test at its original level."""
        recorded = self._recorded
        if recorded is None or not recorded.size:
            raise UserError("Nothing has been recorded yet. Say something first.")
        await self._run(lambda job: self._play(job, loudspeaker, iter([recorded])))

    async def test_loudspeaker(self, name: str) -> None:
        """Plays two tones and a spoken sentence; returns when playback ends."""
        await self._run(lambda job: self._play(job, name, self._test_sounds(job)))

    async def play(self, sound: np.ndarray | Clip, loudspeaker: str) -> None:
        """Plays samples (float32 mono 24 kHz) or a part of a recorded session; returns when playback ends."""

        def play(job: _Job) -> None:
            if isinstance(sound, Clip):
                name = {"user": USER_FILE, "assistant": ASSISTANT_FILE}[sound.speaker]
                samples = read_part(sound.folder / name, sound.begin, sound.end)
            else:
                samples = sound
            self._play(job, loudspeaker, iter([samples]))

        await self._run(play)

    def stop(self) -> None:
        """Stops all tests. A microphone test rates what was recorded so far; playback ends without an error."""
        for job in self._jobs:
            job.stop.set()

    async def _run(self, work: Callable[[_Job], _T]) -> _T:
        """Runs `work` on an executor thread. On cancellation, stops the job and waits for it to end."""
        job = _Job()
        self._jobs.add(job)  # before waiting for its turn, so that `stop` affects queued jobs too
        try:
            async with self._turn:
                done = asyncio.ensure_future(asyncio.get_running_loop().run_in_executor(None, work, job))
                try:
                    return await asyncio.shield(done)
                except (AudioError, TranscriberError, VoiceError) as error:
                    raise UserError(str(error)) from error
                except asyncio.CancelledError:
                    job.drop()
                    while not done.done():
                        with contextlib.suppress(asyncio.CancelledError):
                            await asyncio.wait([done])
                    _ = done.cancelled() or done.exception()  # or asyncio would log it as never retrieved
                    raise
        finally:
            self._jobs.discard(job)

    # -- on an executor thread

    def _test_microphone(
        self, job: _Job, name: str, seconds: float, report: Callable[[float, bool], None]
    ) -> MicrophoneTest:
        with self._microphone(name or None) as microphone:
            recogniser, detector = self._recogniser(), self._detector()
            # Drops the audio recorded while loading, and any click that the device produced on opening.
            microphone.drop_to_newest()
            samples, windows = record(microphone, detector, seconds, report, job.stop)
            device = microphone.name
        if job.dropped:
            return MicrophoneTest(device, "no speech")
        if job.stop.is_set() and samples.size < SHORTEST_SECONDS * SAMPLE_RATE:
            raise DeviceError("The test was stopped before anything was heard. Try again, and speak while it listens.")
        self._recorded = samples
        if not has_speech(windows):
            windows = detect_amplified(samples, self._detector())
        voiced = [window.end for window in windows if window.probability > VOICED]
        words = ""
        if has_speech(windows):
            first, last = voiced[0] - WINDOW_SECONDS - MARGIN_SECONDS, voiced[-1] + MARGIN_SECONDS
            part = samples[max(0, round(first * SAMPLE_RATE)) : round(last * SAMPLE_RATE)]
            words = recogniser.decode(soxr.resample(part, SAMPLE_RATE, RECOGNISER_RATE)).strip()
        return judge(device, samples, windows, words)

    def _play(self, job: _Job, name: str, parts: Iterator[np.ndarray]) -> None:
        with self._loudspeaker(name or None) as loudspeaker:
            until = time.monotonic() + PATIENCE_SECONDS
            for part in parts:
                loudspeaker.write(part)
                until = time.monotonic() + PATIENCE_SECONDS + loudspeaker.queued / SAMPLE_RATE
            while not job.stop.is_set():
                loudspeaker.write(_NOTHING)  # raises if the device was disconnected
                if not loudspeaker.queued:
                    return
                if time.monotonic() > until:
                    raise DeviceError(
                        f"The loudspeaker “{loudspeaker.name}” takes no sound, so nothing can be heard. Check that no "
                        "other program has it for itself, or choose another one."
                    )
                job.stop.wait(POLL_SECONDS)

    def _test_sounds(self, job: _Job) -> Iterator[np.ndarray]:
        yield chime()  # the voice loads while it plays
        if self._sentence is None and not job.stop.is_set():
            with self._voice() as voice:
                self._sentence = _synthesised(voice, job.stop)
        if self._sentence is not None and not job.stop.is_set():
            yield self._sentence


def chime() -> np.ndarray:
    """Returns two soft bell-like tones a fourth apart: float32 mono at 24 kHz, 1.2 s."""
    out = np.zeros(round(1.2 * SAMPLE_RATE), np.float64)
    for start, hertz in ((0.0, 587.33), (0.28, 783.99)):
        first = round(start * SAMPLE_RATE)
        t = np.arange(out.size - first) / SAMPLE_RATE
        swell = np.minimum(1.0, t / 0.012) * np.exp(-t / 0.22)
        tone = sum(share * np.sin(2 * np.pi * hertz * times * t) for times, share in ((1, 1.0), (2, 0.22), (3, 0.06)))
        out[first:] += 0.16 * swell * tone
    out *= np.minimum(1.0, np.arange(out.size, 0, -1) / (0.05 * SAMPLE_RATE))
    return out.astype(np.float32)


def _synthesised(voice: Voice, stop: threading.Event) -> np.ndarray | None:
    """Returns the spoken test sentence, preceded by a short pause, or None if stopped. Raises VoiceError."""
    clip = voice.synthesize(SENTENCE)
    until = time.monotonic() + VOICE_SECONDS
    while not stop.is_set():
        try:
            samples = clip.result(POLL_SECONDS).samples
        except FutureCancelled:
            break
        except TimeoutError:
            if time.monotonic() < until:
                continue
            break
        return np.concatenate([np.zeros(SAMPLE_RATE // 5, np.float32), samples])
    if stop.is_set():
        return None
    raise VoiceError("The voice did not speak, so only the tones could be heard. Close the app, and start it again.")
