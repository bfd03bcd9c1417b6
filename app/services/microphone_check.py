"""The rating of a microphone, based on a recording: levels of speech and noise, and clipping."""

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
from app.conversation.voice import WINDOW_SECONDS, VoiceWindow
from app.stt.base import VoiceActivity

SILENT_DBFS = -70.0
"""If even the loudest sample stays below this, there was no sound: a muted microphone yields zeros or a few 16-bit
units (-90 dBFS), while speech into any working one is far louder."""

QUIET_DBFS = -50.0
"""Speech below this is quiet. With a microphone noise floor of -72 dBFS, recognition starts to degrade at -60 dBFS
(word error rate 8 % instead of 3 % on five synthetic questions of the benchmark)."""

NOISY_DB = 10.0
"""A lower signal-to-noise ratio is noisy: in white noise, recognition degrades below 9 dB (9 % errors instead of 3 %).
"""

DROWNING_DBFS = -35.0
"""Noise as loud as speech at the microphone, in which speech may not even be detected."""

CLIPPED_SAMPLES = 4
"""This many full-scale samples are unlikely to be a coincidence."""

VOICED = 0.5
SPEECH_SECONDS = 0.16
"""Shorter voice activity is a cough or a click."""
SILENCE_SECONDS = 0.5
"""How much silence after speech ends the test."""
SHORTEST_SECONDS = 0.3
"""A test stopped earlier is not conclusive."""

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 3.0
"""How far a device may lag behind the audio duration."""

MicrophoneVerdict = Literal["good", "silent", "quiet", "clipped", "noisy", "no speech"]
"""The result of a microphone test. `silent`: no sound at all (muted, or the wrong device); `no speech`: it works, but
nobody spoke."""


@dataclass(frozen=True, slots=True)
class MicrophoneTest:
    """The result of a microphone test; levels in dBFS. `name`: the device. `words`: the recognised text.

    `peak_dbfs`: the loudest sample; `speech_dbfs`: speech without its pauses (None if there was none); `noise_dbfs`:
    the level while nobody speaks. `clipped`: whether the signal was clipped.
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
    """Records for `seconds` at most, ending half a second after speech; returns the samples and their voice activity.

    `report` gets each frame's peak level in dBFS, and whether it is clipped.
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
    """Runs voice activity detection on the samples amplified to a normal speech level, for very quiet speakers."""
    if not samples.size:
        return []
    loud = float(np.percentile(np.abs(samples), 99))
    louder = np.clip(samples * (0.15 / max(loud, 1e-5)), -1.0, 1.0).astype(np.float32)
    windows: list[VoiceWindow] = []
    for index in range(samples.size // FRAME_SAMPLES):
        windows += detector.hear(Frame(index, louder[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES]))
    return windows


def has_speech(windows: Sequence[VoiceWindow]) -> bool:
    """Returns whether there is more voice activity than a cough would cause."""
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
    # A voice fades in and out, so windows next to speech count as neither speech nor silence.
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
