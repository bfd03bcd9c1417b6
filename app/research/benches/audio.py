"""`bench audio`: measures the round trip from the loudspeaker through the microphone and the app, and its stages.

It needs a loopback: a cable, a virtual device, or just the loudspeaker next to the microphone. Whenever a short chirp
is detected in the microphone's audio, the next frame plays it again, so the time between two chirps is one round trip,
measured in microphone samples. The devices' share is measured first, without the app.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.audio.devices.duplex import DeviceDuplexAudio
from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.devices.microphone import Microphone
from app.audio.echo.canceller import EchoCanceller
from app.audio.io.base import AudioSink, AudioSource, DeviceError
from app.conversation.events import Processing
from app.conversation.frame import FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE
from app.diagnostics.tables import Progress, markdown, no_progress, quantile, rounded

CHIRP_SECONDS = 0.01
CHIRP_HZ = (400.0, 3400.0)
"""Start and end frequencies; any headset transmits them, even in call mode at 8 kHz."""
CHIRP_PEAK = 0.5
LIKENESS = 0.6
"""Minimum normalised correlation (0 to 1) for a chirp to be detected; noise of any loudness stays below 0.3."""
LOST_SECONDS = 1.0
"""A chirp that takes longer counts as lost; Bluetooth takes half a second at worst."""
SETTLE_SECONDS = 0.5
GOAL_MS = 40.0
"""Maximum latency that the app may add on top of one frame."""


def make_chirp() -> np.ndarray:
    """Makes the chirp: float32 of shape (240,), with soft ends."""
    count = round(CHIRP_SECONDS * SAMPLE_RATE)
    at = np.arange(count) / SAMPLE_RATE
    low, high = CHIRP_HZ
    phase = 2 * np.pi * (low * at + (high - low) / (2 * CHIRP_SECONDS) * at**2)
    return (CHIRP_PEAK * np.sin(phase) * np.hanning(count)).astype(np.float32)


class ChirpDetector:
    """Detects the chirp in frames.

    After a match it ignores the next 60 ms, so that room echo does not count as another chirp.
    """

    def __init__(self, chirp: np.ndarray) -> None:
        self._chirp = chirp / np.sqrt(np.sum(np.square(chirp)))
        self._rest: np.ndarray = np.zeros(len(chirp) - 1, np.float32)
        self._deaf = 0

    def find(self, frame: np.ndarray) -> int | None:
        """Returns the offset in `frame` (1 to its length) just after the end of a chirp; None if none ends there."""
        sound = np.concatenate([self._rest, frame])
        self._rest = sound[-len(self._rest) :].copy()
        match = np.correlate(sound, self._chirp, "valid")
        energy = np.convolve(np.square(sound, dtype=np.float64), np.ones(len(self._chirp)), "valid")
        likeness = np.abs(match) / np.sqrt(np.maximum(energy, 1e-7))
        likeness[: max(0, self._deaf)] = 0.0
        self._deaf -= len(frame)
        at = int(np.argmax(likeness))
        if likeness[at] < LIKENESS or self._deaf > 0:
            return None
        self._deaf = at + round(0.06 * SAMPLE_RATE) - len(frame)
        return at + 1


@dataclass(slots=True)
class AudioResult:
    """Latencies in milliseconds, by stage and round."""

    microphone: str
    loudspeaker: str
    device: list[float] = field(default_factory=list)
    trips: list[float] = field(default_factory=list)
    ring: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    stated: float = 0.0
    canceller: float = 0.0
    lost: int = 0
    underruns: int = 0
    prebuffer: float = 0.0

    @property
    def beyond(self) -> float:
        """Latency beyond that of the devices and one frame, in milliseconds, computed from medians."""
        return statistics.median(self.trips) - statistics.median(self.device) - FRAME_MS

    @property
    def ok(self) -> bool:
        """Whether `beyond` is within the goal."""
        return self.beyond <= GOAL_MS

    def rows(self) -> list[tuple[str, float, float, float]]:
        """Returns each stage's name, median, p95 and maximum in milliseconds."""
        stages = (
            ("devices, out and in, by themselves", self.device),
            ("one frame", [FRAME_MS]),
            ("step", self.step),
            ("ring before the loudspeaker", self.ring),
            ("round trip", self.trips),
        )
        return [(name, statistics.median(times), quantile(times, 0.95), max(times)) for name, times in stages if times]

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        head = (
            f"{self.microphone} ← {self.loudspeaker}: {len(self.trips)} rounds, {self.lost} lost, "
            f"{self.underruns} underruns"
        )
        rows = [(name, *(f"{value:.1f}" for value in values)) for name, *values in self.rows()]
        notes = (
            f"Added by the app beyond one frame: {self.beyond:.1f} ms (goal {GOAL_MS:.0f}).",
            f"The devices state {self.stated:.0f} ms of latency; prebuffer in force {self.prebuffer:.0f} ms; echo "
            f"cancellation, when it is on, adds {self.canceller:.1f} ms.",
        )
        return "\n".join([head, "", *markdown(("ms", "median", "p95", "worst"), rows), "", *notes])

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict, with times in milliseconds."""
        names = ("microphone", "loudspeaker", "lost", "underruns")
        times = {f"{name}_ms": getattr(self, name) for name in ("prebuffer", "stated", "canceller", "beyond")}
        stages = {name: {"median": a, "p95": b, "worst": c} for name, a, b, c in self.rows()}
        counts = {"rounds": len(self.trips), **{name: getattr(self, name) for name in names}}
        return rounded({**counts, **times, "within_goal": self.ok, "stages": stages}, 2)


def run_audio(
    microphone: str = "", loudspeaker: str = "", *, rounds: int = 40, progress: Progress = no_progress
) -> AudioResult:
    """Measures the round trip with the named devices, or the system defaults. Raises DeviceError."""
    progress("the devices by themselves")
    with Loudspeaker(loudspeaker or None) as sink, Microphone(microphone or None) as source:
        result = AudioResult(source.name, sink.name, stated=(source.latency + sink.latency) * 1000)
        _measure_devices(source, sink, max(5, rounds // 4), result)
    progress("round trips")
    edge = DeviceDuplexAudio(microphone, loudspeaker, Processing(echo=False))
    with edge.sink as out, edge.source as source:
        _go_round(source, out, rounds, result)
        health = edge.health()
        result.underruns, result.prebuffer = health.underruns, edge.prebuffer_seconds * 1000
    result.canceller = canceller_delay()
    return result


def _measure_devices(source: Microphone, sink: Loudspeaker, times: int, result: AudioResult) -> None:
    """Measures the time from the loudspeaker callback that takes the chirp until the microphone has received it."""
    chirp = make_chirp()
    detector = ChirpDetector(chirp)
    _wait(source, detector, SETTLE_SECONDS)
    lost = 0
    tap = np.empty(SAMPLE_RATE, np.float32)
    while len(result.device) < times:
        while sink.tap.read_into(tap):
            pass
        sink.write(chirp)
        handed = 0.0
        give_up = time.perf_counter() + LOST_SECONDS
        while True:
            if not handed:
                got = sink.tap.read_into(tap)
                if got and np.abs(tap[:got]).max() > 0.001:
                    handed = time.perf_counter()  # the chirp is played in one block
            frame = source.take()
            if frame is not None:
                now = time.perf_counter()
                at = detector.find(frame)
                if at is not None and handed:
                    ended = now - (FRAME_SAMPLES - at) / SAMPLE_RATE
                    result.device.append((ended - CHIRP_SECONDS - handed) * 1000)
                    break
            if time.perf_counter() > give_up:
                lost += 1
                _check_lost(lost, len(result.device), source.name, sink.name)
                break
            time.sleep(0.0005)
        # Varies the position of the next chirp within the devices' blocks.
        _wait(source, detector, 0.1 + 0.0037 * len(result.device))


def _go_round(source: AudioSource, sink: AudioSink, rounds: int, result: AudioResult) -> None:
    """Plays the chirp again whenever it returns, one output frame per input frame, as a front-end does."""
    chirp = make_chirp()
    detector = ChirpDetector(chirp)
    position, heard_at = 0, None
    play_at: int | None = round(SETTLE_SECONDS * SAMPLE_RATE)
    spill: np.ndarray = np.zeros(0, np.float32)
    silent_since = 0
    while len(result.trips) < rounds:
        frame = source.read_frame(0.5)
        begun = time.perf_counter()
        if frame is None:
            raise DeviceError(f"The microphone “{source.name}” gives no sound. Choose another one, then try again.")
        ended = detector.find(frame)
        if ended is not None:
            now = position + ended
            if heard_at is not None:
                result.trips.append((now - heard_at - len(chirp)) * 1000 / SAMPLE_RATE)
            heard_at, play_at, silent_since = now, now, now
        elif position - silent_since > (LOST_SECONDS + SETTLE_SECONDS) * SAMPLE_RATE:
            result.lost += 1
            _check_lost(result.lost, len(result.trips), source.name, sink.name)
            heard_at, play_at, silent_since = None, position, position
        out = np.zeros(FRAME_SAMPLES + len(chirp), np.float32)
        out[: len(spill)] += spill
        if play_at is not None and position <= play_at < position + FRAME_SAMPLES:
            out[play_at - position : play_at - position + len(chirp)] += chirp
            play_at = None
        spill = out[FRAME_SAMPLES:].copy()
        waiting = sink.queued
        result.step.append((time.perf_counter() - begun) * 1000)
        if position > SAMPLE_RATE // 2:
            result.ring.append(waiting * 1000 / SAMPLE_RATE)
        sink.write(out[:FRAME_SAMPLES])
        position += FRAME_SAMPLES


def _check_lost(lost: int, heard: int, microphone: str, loudspeaker: str) -> None:
    if lost > 2 + heard // 2:
        raise DeviceError(
            f"What “{loudspeaker}” plays doesn't come back through “{microphone}”, so there is nothing to measure. Put "
            "the loudspeaker beside the microphone and turn it up, or join the two with a cable, then try again."
        )


def _wait(source: Microphone, detector: ChirpDetector, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        frame = source.read_frame(left)
        if frame is not None:
            detector.find(frame)


def canceller_delay() -> float:
    """Returns the milliseconds by which echo cancellation delays the microphone's audio while there is an echo.

    This is the lag of the highest correlation between noise before and after cancellation.
    """
    canceller = EchoCanceller(Processing())
    canceller.load()
    noise = np.random.default_rng(3).standard_normal(FRAME_SAMPLES * 25).astype(np.float32) * 0.05
    out = canceller.process(noise, np.zeros_like(noise))
    half = len(noise) // 2
    piece = noise[half : half + SAMPLE_RATE // 2]
    lags = [float(np.dot(out[half + lag : half + lag + len(piece)], piece)) for lag in range(SAMPLE_RATE // 20)]
    return int(np.argmax(lags)) * 1000 / SAMPLE_RATE
