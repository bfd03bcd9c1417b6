"""The desk for sound: tries out a microphone, and a loudspeaker. See `SoundService`.

Needs no session and knows nothing of one, nor of windows. Each test is one job on a thread of the loop's executor,
which opens its device, and closes it before it ends. Adapters are imported there, when they are wanted.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

import numpy as np
import soxr

from app.audio.io.base import AudioSink, AudioSource, EndOfAudio
from app.audio.io.errors import AudioError, DeviceError
from app.audio.io.files import read_part
from app.audio.io.levels import CLIPPED, FLOOR_DBFS, peak_dbfs, rms_dbfs
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, Frame
from app.conversation.voice import WINDOW_SECONDS, VoiceWindow
from app.platform.installation import completing_command
from app.services.protocols import Clip, MicrophoneTest, MicrophoneVerdict
from app.session.errors import UserError
from app.session.recorder import ASSISTANT_FILE, USER_FILE
from app.stt.base import TranscriberError, VoiceActivity
from app.tts.base import Voice, VoiceError

SENTENCE = "This is how I sound."
EARS_RATE = 16_000

SILENT_DBFS = -70.0
"""Nothing at all, if not even the loudest sample reaches this: a switched-off microphone gives zeros or a few units of
16 bits (-90 dBFS), a voice in front of any working one much more."""

QUIET_DBFS = -50.0
"""Speech below this is quiet. With a microphone's own noise at -72 dBFS the ears begin to err at -60 (word error rate
8 % in place of 3 % on five questions of the bench)."""

NOISY_DB = 10.0
"""Speech that stands out less is noisy: in white noise the ears begin to err below 9 dB (9 % in place of 3 %)."""

DROWNING_DBFS = -35.0
"""Noise as loud as a voice at the microphone: there, speech may not even be noticed."""

CLIPPED_SAMPLES = 4
"""So many at full scale are no chance."""

VOICED = 0.5
SPEECH_SECONDS = 0.16
"""Less voice than this is a cough or a click."""
SILENCE_SECONDS = 0.5
"""Silence behind speech that ends the test."""
MARGIN_SECONDS = 0.4
"""Kept before and behind the voice for the ears: a consonant leads it."""
SHORTEST_SECONDS = 0.3
"""A test that was stopped sooner tells nothing of the device."""

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 3.0
"""How much later than its sound a loudspeaker may end, and a microphone."""
VOICE_SECONDS = 30.0

_NOTHING = np.zeros(0, np.float32)
_T = TypeVar("_T")


class Ears(Protocol):
    """Sound to words; see `WhisperDecoder`."""

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples`: float32 at 16 kHz."""
        ...


def _microphone(name: str | None) -> AudioSource:
    from app.audio.devices.microphone import Microphone

    return Microphone(name)


def _loudspeaker(name: str | None) -> AudioSink:
    from app.audio.devices.loudspeaker import Loudspeaker

    return Loudspeaker(name)


def _ears() -> Ears:
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
    """What is under way. `stop`: it is to end now; `dropped`: nobody waits for what comes of it."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.dropped = False

    def drop(self) -> None:
        self.dropped = True
        self.stop.set()


class SoundTester:
    """See `SoundService`. What it opens and loads can be given, for tests; it is opened and loaded anew each time."""

    def __init__(
        self,
        *,
        microphone: Callable[[str | None], AudioSource] = _microphone,
        loudspeaker: Callable[[str | None], AudioSink] = _loudspeaker,
        ears: Callable[[], Ears] = _ears,
        detector: Callable[[], VoiceActivity] = _detector,
        voice: Callable[[], AbstractContextManager[Voice]] = _voice,
    ) -> None:
        self._microphone = microphone
        self._loudspeaker = loudspeaker
        self._ears = ears
        self._detector = detector
        self._voice = voice
        self._recorded: np.ndarray | None = None
        self._sentence: np.ndarray | None = None
        self._turn = asyncio.Lock()
        self._jobs: set[_Job] = set()

    async def test_microphone(self, name: str, seconds: float, report: Callable[[float, bool], None]) -> MicrophoneTest:
        """See `SoundService.test_microphone`. Raises UserError."""
        loop = asyncio.get_running_loop()

        def hear(job: _Job) -> MicrophoneTest:
            def tell(level: float, clipped: bool) -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(lambda: None if job.dropped else report(level, clipped))

            return self._hear(job, name, seconds, tell)

        return await self._do(hear)

    async def play_back(self, loudspeaker: str) -> None:
        """See `SoundService.play_back`. Raises UserError, also before anything was recorded."""
        recorded = self._recorded
        if recorded is None or not recorded.size:
            raise UserError("Nothing has been recorded yet. Say something first.")
        await self._do(lambda job: self._play(job, loudspeaker, iter([recorded])))

    async def test_loudspeaker(self, name: str) -> None:
        """See `SoundService.test_loudspeaker`. Raises UserError."""
        await self._do(lambda job: self._play(job, name, self._sounds(job)))

    async def play(self, sound: np.ndarray | Clip, loudspeaker: str) -> None:
        """See `SoundService.play`. Raises UserError, also where nothing is kept."""

        def play(job: _Job) -> None:
            if isinstance(sound, Clip):
                name = {"user": USER_FILE, "assistant": ASSISTANT_FILE}[sound.speaker]
                samples = read_part(sound.folder / name, sound.begin, sound.end)
            else:
                samples = sound
            self._play(job, loudspeaker, iter([samples]))

        await self._do(play)

    def stop(self) -> None:
        """See `SoundService.stop`."""
        for job in self._jobs:
            job.stop.set()

    async def _do(self, work: Callable[[_Job], _T]) -> _T:
        """What `work` gives, on a thread; when cancelled, it ends only once that has ended."""
        job = _Job()
        self._jobs.add(job)  # before its turn comes: it can be stopped while it waits for that
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
                    _ = done.cancelled() or done.exception()  # nobody is left to hear of it
                    raise
        finally:
            self._jobs.discard(job)

    # -- on a thread of the executor

    def _hear(self, job: _Job, name: str, seconds: float, tell: Callable[[float, bool], None]) -> MicrophoneTest:
        with self._microphone(name or None) as microphone:
            ears, detector = self._ears(), self._detector()
            # What came meanwhile is not wanted, and a device that has just been opened may give a crack.
            microphone.drop_to_newest()
            samples, windows = _record(microphone, detector, seconds, tell, job.stop)
            heard = microphone.name
        if job.dropped:
            return MicrophoneTest(heard, "no speech")
        if job.stop.is_set() and samples.size < SHORTEST_SECONDS * SAMPLE_RATE:
            raise DeviceError("The test was stopped before anything was heard. Try again, and speak while it listens.")
        self._recorded = samples
        if not _spoken(windows):  # a very quiet voice is noticed once it is made louder
            windows = _listen_closer(samples, self._detector())
        voiced = [window.end for window in windows if window.probability > VOICED]
        words = ""
        if _spoken(windows):
            first, last = voiced[0] - WINDOW_SECONDS - MARGIN_SECONDS, voiced[-1] + MARGIN_SECONDS
            part = samples[max(0, round(first * SAMPLE_RATE)) : round(last * SAMPLE_RATE)]
            words = ears.decode(soxr.resample(part, SAMPLE_RATE, EARS_RATE)).strip()
        return judge(heard, samples, windows, words)

    def _play(self, job: _Job, name: str, parts: Iterator[np.ndarray]) -> None:
        with self._loudspeaker(name or None) as loudspeaker:
            until = time.monotonic() + PATIENCE_SECONDS
            for part in parts:
                loudspeaker.write(part)
                until = time.monotonic() + PATIENCE_SECONDS + loudspeaker.queued / SAMPLE_RATE
            while not job.stop.is_set():
                loudspeaker.write(_NOTHING)  # it tells when the device is gone
                if not loudspeaker.queued:
                    return
                if time.monotonic() > until:
                    raise DeviceError(
                        f"The loudspeaker “{loudspeaker.name}” takes no sound, so nothing can be heard. See that no "
                        "other program has it for itself, or choose another one."
                    )
                job.stop.wait(POLL_SECONDS)

    def _sounds(self, job: _Job) -> Iterator[np.ndarray]:
        yield chime()  # while it is heard, the voice is loaded
        if self._sentence is None and not job.stop.is_set():
            with self._voice() as voice:
                self._sentence = _spoken_by(voice, job.stop)
        if self._sentence is not None and not job.stop.is_set():
            yield self._sentence


def _record(
    microphone: AudioSource,
    detector: VoiceActivity,
    seconds: float,
    tell: Callable[[float, bool], None],
    stop: threading.Event,
) -> tuple[np.ndarray, list[VoiceWindow]]:
    """The sound, and what the detector says of it."""
    frames: list[np.ndarray] = []
    windows: list[VoiceWindow] = []
    until = time.monotonic() + seconds + PATIENCE_SECONDS
    while not stop.is_set() and len(frames) * FRAME_SECONDS < seconds and time.monotonic() < until:
        try:
            samples = microphone.read_frame(POLL_SECONDS)
        except EndOfAudio:
            break
        if samples is None:
            continue
        windows += detector.hear(Frame(len(frames), samples))
        frames.append(samples)
        tell(peak_dbfs(samples), bool((np.abs(samples) >= CLIPPED).any()))
        if _spoken(windows):
            last = max(window.end for window in windows if window.probability > VOICED)
            if windows[-1].end - last >= SILENCE_SECONDS:
                break
    return (np.concatenate(frames) if frames else _NOTHING), windows


def _listen_closer(samples: np.ndarray, detector: VoiceActivity) -> list[VoiceWindow]:
    """What the detector says of all the sound when it is made as loud as speech usually is."""
    if not samples.size:
        return []
    loud = float(np.percentile(np.abs(samples), 99))
    louder = np.clip(samples * (0.15 / max(loud, 1e-5)), -1.0, 1.0).astype(np.float32)
    windows: list[VoiceWindow] = []
    for index in range(samples.size // FRAME_SAMPLES):
        windows += detector.hear(Frame(index, louder[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES]))
    return windows


def _spoken(windows: Sequence[VoiceWindow]) -> bool:
    return sum(window.probability > VOICED for window in windows) * WINDOW_SECONDS >= SPEECH_SECONDS


def judge(name: str, samples: np.ndarray, windows: Sequence[VoiceWindow], words: str = "") -> MicrophoneTest:
    """What `samples` (float32 mono 24 kHz) from microphone `name` come to, in which the detector saw `windows`."""
    clipped = int(np.count_nonzero(np.abs(samples) >= CLIPPED)) >= CLIPPED_SAMPLES
    if samples.size:
        samples = samples - samples.mean()  # some devices give a constant voltage, which nobody hears
    voiced = np.array([window.probability > VOICED for window in windows], bool)
    parts = [
        samples[max(0, round((window.end - WINDOW_SECONDS) * SAMPLE_RATE)) : round(window.end * SAMPLE_RATE)]
        for window in windows
    ]
    # A voice fades in and out: its nearest neighbours are neither speech nor silence.
    near = np.convolve(voiced, np.ones(5), "same") > 0 if voiced.size else voiced
    still = [rms_dbfs(part) for part, beside in zip(parts, near, strict=True) if not beside]
    still = still or [min(map(rms_dbfs, parts))] if parts else [FLOOR_DBFS]
    noise = float(np.median(still))
    speech = None
    if _spoken(windows):
        speech = rms_dbfs(np.concatenate([part for part, spoke in zip(parts, voiced, strict=True) if spoke]))
    peak = peak_dbfs(samples)
    return MicrophoneTest(
        name, _verdict(samples.size / SAMPLE_RATE, peak, speech, noise, clipped), words, peak, speech, noise, clipped
    )


def _verdict(seconds: float, peak: float, speech: float | None, noise: float, clipped: bool) -> MicrophoneVerdict:
    if seconds < SHORTEST_SECONDS:
        return "no speech"
    if peak < SILENT_DBFS:
        return "silent"
    if speech is None:
        return "noisy" if noise > DROWNING_DBFS else "no speech"
    if clipped:
        return "clipped"
    if speech < QUIET_DBFS:
        return "quiet"
    return "noisy" if speech - noise < NOISY_DB else "good"


def chime() -> np.ndarray:
    """Two soft tones, a fourth apart, like a small bell's: float32 mono 24 kHz, 1.2 s."""
    out = np.zeros(round(1.2 * SAMPLE_RATE), np.float64)
    for start, hertz in ((0.0, 587.33), (0.28, 783.99)):
        first = round(start * SAMPLE_RATE)
        t = np.arange(out.size - first) / SAMPLE_RATE
        swell = np.minimum(1.0, t / 0.012) * np.exp(-t / 0.22)
        tone = sum(share * np.sin(2 * np.pi * hertz * times * t) for times, share in ((1, 1.0), (2, 0.22), (3, 0.06)))
        out[first:] += 0.16 * swell * tone
    out *= np.minimum(1.0, np.arange(out.size, 0, -1) / (0.05 * SAMPLE_RATE))
    return out.astype(np.float32)


def _spoken_by(voice: Any, stop: threading.Event) -> np.ndarray | None:
    """The sentence, with a breath before it; None when it was stopped."""
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
