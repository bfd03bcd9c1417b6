"""Microphone rating from a recording, based on speech level, noise level and clipping."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.audio.io.base import AudioSource, EndOfAudio
from app.audio.io.resample import CLIPPED, FLOOR_DBFS, peak_dbfs, rms_dbfs
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, Frame
from app.conversation.turns.voice import WINDOW_SECONDS, VoiceWindow
from app.stt.base import VoiceActivity

SILENT_DBFS = -70.0
"""If the peak level is below this, there was no signal: a muted microphone yields zeros or a few 16-bit quantization
steps (-90 dBFS), and speech into a working one is far louder."""

QUIET_DBFS = -50.0
"""Speech below this level is too quiet. With a noise floor of -72 dBFS, recognition starts to degrade at -60 dBFS: the
word error rate on five synthetic questions of the benchmark is 8 % instead of 3 %."""

NOISY_DB = 10.0
"""A signal-to-noise ratio below this is too low: in white noise, recognition degrades below 9 dB (a word error rate of
9 % instead of 3 %)."""

DROWNING_DBFS = -35.0
"""Noise above this level is as loud as speech itself, so that speech may not be detected at all."""

CLIPPED_SAMPLES = 4
"""The minimum number of full-scale samples that counts as clipping; fewer may be a coincidence."""

VOICED = 0.5
SPEECH_SECONDS = 0.16
"""Voice activity shorter than this is treated as a cough or a click."""
SILENCE_SECONDS = 0.5
"""The duration of silence after speech that ends the test."""
SHORTEST_SECONDS = 0.3
"""A test stopped earlier than this is inconclusive."""

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 3.0
"""How far a device may lag behind real time."""

MicrophoneVerdict = Literal["good", "silent", "quiet", "clipped", "noisy", "no speech"]
"""The result of a microphone test. `silent`: no sound at all (muted, or the wrong device); `no speech`: it works, but
nobody spoke."""


@dataclass(frozen=True, slots=True)
class MicrophoneTest:
    """The result of a microphone test.

    - `name`: the device's name.
    - `words`: the transcript.
    - `peak_dbfs`: the level of the loudest sample.
    - `speech_dbfs`: the RMS level of speech, excluding pauses; None if there was no speech.
    - `noise_dbfs`: the RMS level in the absence of speech.
    - `clipped`: whether the signal was clipped.
    """

    name: str
    verdict: MicrophoneVerdict
    words: str = ""
    peak_dbfs: float = -120.0
    speech_dbfs: float | None = None
    noise_dbfs: float = -120.0
    clipped: bool = False


def record(
    microphone: AudioSource,
    detector: VoiceActivity,
    seconds: float,
    report: Callable[[float, bool], None],
    stop: threading.Event,
) -> tuple[np.ndarray, list[VoiceWindow]]:
    """Records for up to `seconds`, ending early half a second after speech. Setting `stop` ends it immediately.

    Returns the samples and their voice activity. `report` is called with each frame's peak level in dBFS and whether it
    is clipped.
    """
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
        report(peak_dbfs(samples), bool((np.abs(samples) >= CLIPPED).any()))
        if has_speech(windows):
            last = max(window.end for window in windows if window.probability > VOICED)
            if windows[-1].end - last >= SILENCE_SECONDS:
                break
    return (np.concatenate(frames) if frames else np.zeros(0, np.float32)), windows


def detect_amplified(samples: np.ndarray, detector: VoiceActivity) -> list[VoiceWindow]:
    """Amplifies very quiet samples to a normal speech level and runs voice activity detection on them."""
    if not samples.size:
        return []
    loud = float(np.percentile(np.abs(samples), 99))
    louder = np.clip(samples * (0.15 / max(loud, 1e-5)), -1.0, 1.0).astype(np.float32)
    windows: list[VoiceWindow] = []
    for index in range(samples.size // FRAME_SAMPLES):
        windows += detector.hear(Frame(index, louder[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES]))
    return windows


def has_speech(windows: Sequence[VoiceWindow]) -> bool:
    """Returns whether the voice activity has lasted longer than a cough or a click."""
    return sum(window.probability > VOICED for window in windows) * WINDOW_SECONDS >= SPEECH_SECONDS


def judge(name: str, samples: np.ndarray, windows: Sequence[VoiceWindow], words: str = "") -> MicrophoneTest:
    """Rates `samples` (float32 mono 24 kHz) from microphone `name`, given their voice activity `windows`."""
    clipped = int(np.count_nonzero(np.abs(samples) >= CLIPPED)) >= CLIPPED_SAMPLES
    if samples.size:
        samples = samples - samples.mean()  # some devices have a DC offset
    voiced = np.array([window.probability > VOICED for window in windows], bool)
    parts = [
        samples[max(0, round((window.end - WINDOW_SECONDS) * SAMPLE_RATE)) : round(window.end * SAMPLE_RATE)]
        for window in windows
    ]
    # Speech fades in and out, so the windows next to it count as neither speech nor silence.
    near = np.convolve(voiced, np.ones(5), "same") > 0 if voiced.size else voiced
    still = [rms_dbfs(part) for part, beside in zip(parts, near, strict=True) if not beside]
    still = still or [min(map(rms_dbfs, parts))] if parts else [FLOOR_DBFS]
    noise = float(np.median(still))
    speech = None
    if has_speech(windows):
        speech = rms_dbfs(np.concatenate([part for part, spoke in zip(parts, voiced, strict=True) if spoke]))
    peak = peak_dbfs(samples)
    verdict = _verdict(samples.size / SAMPLE_RATE, peak, speech, noise, clipped)
    return MicrophoneTest(name, verdict, words, peak, speech, noise, clipped)


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
