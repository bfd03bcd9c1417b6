"""Removes the echo from aligned audio frames with the linear filter, WebRTC's canceller and the residual gate.

The linear filter comes first because it preserves the user's voice in double talk. WebRTC removes most of the remaining
echo, and the gate attenuates the rest until the filter has converged. All three are bypassed while no echo is detected.

The clock drift between loudspeaker and microphone can be estimated from the echo within seconds, to a few ppm. Drift
changes the echo's delay steadily, which rotates the phases of an adaptive filter that tracks the echo. Estimating drift
from queue levels takes minutes, because they change in blocks of 10 ms.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from app.audio.echo.adaptive_filter import AdaptiveFilter
from app.audio.echo.canceller import EarlyHops, EchoCanceller, joined
from app.audio.echo.far_end_aligner import FarEndAligner
from app.audio.echo.known_path import FAR_ACTIVE, HOP, KnownEchoPath, powers
from app.audio.echo.residual_gate import EchoPresence, ResidualEchoGate
from app.audio.echo.store import EchoStore
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE


class ConvergenceMonitor:
    """Monitors whether the filter has converged.

    `converged` becomes True once the filter attenuates the echo by 10 dB, and False within 0.5 s when it no longer
    does. The constants were tuned in simulated rooms (`tests.support.room_talks`).
    """

    COLD_HOPS = 400
    """Number of hops with an echo needed before the filter and the clock drift are trusted: 8 s."""
    KNOWN_HOPS = 15
    """The same if the echo path is known from another session: 0.3 s."""
    LEARNED_HOPS = 1400
    """Number of hops with an echo (28 s) after which a path counts as learned. A known path is credited with 7.7 s."""
    LOOK_BACK = 100
    """Number of most recent hops with far-end audio to evaluate: 2 s."""
    REMAINS = 10 ** (-10 / 10)
    """A hop is bad if more than this share of the microphone signal's power remains, because the filter hasn't
    converged or the user is speaking (in which case playback stops 0.3 s later)."""
    GAINED, LOST = 0.1, 0.3
    """Share of bad hops at or below which the filter counts as converged, and above which it no longer does."""
    LOUD = 10 ** (15 / 10)
    """A hop can only be bad if its residual power exceeds the room noise by this factor."""
    RISE = 1.002
    """Maximum rise of the noise estimate per hop: 0.4 dB per second. Decreases take effect immediately."""

    def __init__(self) -> None:
        self._noise = 1e9
        self.reset()

    def reset(self, *, known: bool = False) -> None:
        """Resets the state. `known`: the filter starts from a path known from another session."""
        self._known = known
        self._active = self.COLD_HOPS - self.KNOWN_HOPS if known else 0
        self.converged = False
        self._bad: deque[bool] = deque(maxlen=self.LOOK_BACK)

    @property
    def known(self) -> bool:
        """Whether the path comes from another session and hasn't been relearned in this session yet."""
        return self._known and self._active < self.LEARNED_HOPS

    def is_unexplained(self, near: np.ndarray, residual: np.ndarray) -> bool:
        """Whether the filter removes little of a hop, which indicates speech. Float32 (480,) each."""
        return self._is_bad(float(powers(near, HOP)[0]), float(powers(residual, HOP)[0]))

    def _is_bad(self, near: float, residual: float) -> bool:
        return residual > max(self.REMAINS * near, self.LOUD * self._noise)

    def update(self, near: np.ndarray, far: np.ndarray, residual: np.ndarray) -> bool:
        """Adds one frame and returns `converged`. `residual`: the filter's output. All are float32 (1920,)."""
        sounding = powers(far, HOP) > FAR_ACTIVE
        for near_power, residual_power, sounds in zip(powers(near, HOP), powers(residual, HOP), sounding, strict=True):
            self._noise = min(self._noise * self.RISE, max(float(near_power), 1e-10))
            if sounds:
                self._active += 1
                self._bad.append(self._is_bad(float(near_power), float(residual_power)))
        if self._active >= self.COLD_HOPS:
            share = sum(self._bad) / max(1, len(self._bad))
            self.converged = share <= (self.LOST if self.converged else self.GAINED)
        return self.converged


class DriftEstimator:
    """Estimates corrections to the far end's rate, in ppm, from the filter's weights in each frame.

    The change in delay between two moments is the slope of the cross-spectrum's phase, with the bins up to `HIGHEST`
    (Hz) weighted by magnitude (generalised cross-correlation, C. Knapp and G. Carter, IEEE Trans. ASSP 24, 1976). The
    filter lags behind, so only part of the drift is visible at first, and the caller must accumulate the corrections.
    """

    BACK = 4
    """Frames between the two moments compared: 0.32 s."""
    HIGHEST = 4000.0
    GAIN = 0.1
    """Share of the observed drift corrected per frame. Decays as 1/t after `QUICK_FRAMES` frames with an echo."""
    QUICK_FRAMES = 75
    LEAST_SHARE = 0.1
    MOST_PPM = 200.0
    EXPLAINS = 10 ** (0.5 / 10)
    """Minimum attenuation by the filter: 0.5 dB. Below it, there is no echo, or the user is speaking over it."""
    MEMORY = 0.9
    """Decay factor per frame of the two power averages, for a memory of 0.8 s."""

    def __init__(self) -> None:
        self._bins = round(self.HIGHEST / SAMPLE_RATE * 2 * HOP)
        self._frequency = 2.0 * np.pi * np.arange(self._bins) / (2 * HOP)
        self.reset()

    def reset(self) -> None:
        """Resets the state. Must be called whenever the filter is reset."""
        self._weights: deque[np.ndarray] = deque(maxlen=self.BACK)
        self._frames = 0
        self._near = self._residual = 0.0

    def update(self, weights: np.ndarray, near: np.ndarray, residual: np.ndarray) -> float | None:
        """Returns the correction to add to the far end's rate, in ppm, or None if unknown.

        `weights`: complex64 (partitions, bins); `near`, `residual`: a frame with far-end audio before and after the
        filter, float32 (1920,).
        """
        self._near = self.MEMORY * self._near + float(near @ near)
        self._residual = self.MEMORY * self._residual + float(residual @ residual)
        now = weights[:, : self._bins].copy()
        before = self._weights[0] if len(self._weights) == self.BACK else None
        self._weights.append(now)
        if before is None or self._near < self.EXPLAINS * self._residual:
            return None
        self._frames += 1
        cross = np.einsum("pf,pf->f", now, before.conj())
        strength = np.abs(cross) * self._frequency
        samples = -float((strength * np.angle(cross)).sum()) / (float((strength * self._frequency).sum()) + 1e-30)
        ppm = samples / (self.BACK * FRAME_SAMPLES) * 1e6
        share = self.GAIN * max(self.LEAST_SHARE, min(1.0, self.QUICK_FRAMES / self._frames))
        return -share * min(max(ppm, -self.MOST_PPM), self.MOST_PPM)


MISTAUGHT_HOPS = 25
"""After this many far-end hops without an echo (0.5 s), the filter has learned that none exists and must be reset."""

SPEECH_HOPS = 6
"""Number of hops for which speech is assumed to continue after the last unexplained hop (0.12 s)."""

FIT_TRIES = 10
"""Number of frames with an echo (at least 0.8 s) in which fitting a known path is tried before it is discarded."""

STORE_FRAMES = 64
"""Number of frames with an echo between updates of the stored path (5 s), as devices may change at any time."""


class EchoRemover:
    """Processes the microphone signal on the frame thread without blocking.

    Corrects the drift in `aligner`, and loads and saves echo paths in `store`.
    """

    def __init__(self, canceller: EchoCanceller, aligner: FarEndAligner, store: EchoStore | None) -> None:
        self._canceller = canceller
        self._aligner = aligner
        self._store = store
        self._presence = EchoPresence()
        self._filter = AdaptiveFilter()
        self._drift = DriftEstimator()
        self._convergence = ConvergenceMonitor()
        self._gate = ResidualEchoGate()
        self._pair = ""
        self._known: KnownEchoPath | None = None
        self._tries = self._frames = 0
        self._cancels = False  # whether echo cancellation was in effect in the last frame
        self._present = False  # whether there was an echo in the last frame
        self._passed = False  # whether the last frame passed without attenuation
        self._speech_hops = 0
        self._was_speech = self._echo_remains = False

    @property
    def is_steady(self) -> bool:
        """Whether the last frame passed without attenuation and the next one will be processed in the same way."""
        return self._canceller.cancels == self._cancels and (self._passed or not self._cancels)

    def restart(self) -> None:
        """Resets the state after a realignment. A stored path is used once it is found to fit the echo."""
        self._reset()
        self._known, self._tries = None, 0
        if self._store is not None:
            self._pair = self._store.pair()
            self._known = self._store.get(self._pair)

    def process_hop(self, near: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Processes a hop of an incomplete frame; requires `is_steady`. Returns (the filter's residual, the output)."""
        residual = self._filter.process(near, far) if self._cancels else near
        out = self._prefer_residual(near, residual, self._canceller.process(residual, far))
        if self._cancels and not self._present:
            out = self._canceller.process_without_echo(near)
        return residual, out

    def process(self, near: np.ndarray, far: np.ndarray, early: EarlyHops) -> np.ndarray:
        """Returns the processed `near`, float32 (1920,). `far`: the far end of the samples after the early hops."""
        if self._canceller.cancels != self._cancels:
            self._cancels = self._canceller.cancels
            self._reset()
        rest = near[early.samples :]
        if not near.any():
            # Muted: there is nothing to learn, but the filter's history must include everything the loudspeaker plays.
            self._passed = False
            if self._cancels:
                self._filter.process(rest, far)
            return near
        if not self._cancels:
            return joined(early.out, self._canceller.process(rest, far))
        residual = self._filter.process(rest, far)
        out = self._prefer_residual(rest, residual, self._canceller.process(residual, far))
        if not self._canceller.cancels:
            return near  # the canceller has just failed
        far, residual = joined(early.far, far), joined(early.residual, residual)
        has_echo = self._update_presence(near, far)
        if not self._present:
            return self._without_echo(rest, early)
        if has_echo and self._known is not None:
            self._try_known_path(self._known)
        return self._with_echo(near, far, residual, joined(early.out, out), is_early=early.samples > 0)

    def store(self) -> None:
        """Stores the learned path and drift of the devices in use, if the filter has converged."""
        drift = self._aligner.drift_ppm
        if self._store is None or not self._present or not self._convergence.converged or drift is None:
            return
        if self._store.pair() == self._pair:
            self._store.put(self._pair, KnownEchoPath(self._filter.response, drift))

    def _reset(self) -> None:
        self._passed = self._present = False
        for part in (self._filter, self._drift, self._convergence, self._gate, self._presence):
            part.reset()

    def _update_presence(self, near: np.ndarray, far: np.ndarray) -> bool:
        """Returns whether this frame contains an echo. Restarts learning when an echo first appears."""
        has_echo = self._presence.update(near, far)
        if self._presence.present and not self._present:
            for part in (self._drift, self._convergence, self._gate):
                part.reset()
            if self._filter.hops > MISTAUGHT_HOPS:
                self._filter.reset_weights()
        self._present = self._presence.present
        return has_echo

    def _without_echo(self, rest: np.ndarray, early: EarlyHops) -> np.ndarray:
        self._passed = not self._presence.undecided
        out = joined(early.out, self._canceller.process_without_echo(rest))
        if self._presence.suspected and not early.samples:
            return out * np.float32(ResidualEchoGate.CLOSED)
        return out

    def _with_echo(
        self, near: np.ndarray, far: np.ndarray, residual: np.ndarray, out: np.ndarray, *, is_early: bool
    ) -> np.ndarray:
        if self._filter.active:
            correction = self._drift.update(self._filter.weights, near, residual)
            if correction is not None:
                self._aligner.adjust_drift(correction)
        self._echo_remains = self._convergence.known and self._presence.is_in(residual)
        gated = self._gate.apply(near, far, out)
        converged = self._convergence.update(near, far, residual)
        self._frames += 1
        if self._frames % STORE_FRAMES == 0:
            self.store()
        # An open gate passes speech. It is also open during far-end silence, but would close at the first sound.
        self._passed = converged or (gated is out and bool(powers(far, HOP).max() > FAR_ACTIVE))
        # The gate cuts off word onsets, so it is only used until convergence. Early hops have already been delivered.
        return out if converged or is_early else gated

    def _prefer_residual(self, near: np.ndarray, residual: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Returns `out`, but takes hops that contain speech from `residual` until WebRTC has learned the echo.

        If the filter starts from a known path, it removes the echo from the beginning. WebRTC then has no echo to learn
        from and mistakes any speech for echo.
        """
        if not (self._present and self._convergence.known and self._convergence.converged):
            return out
        chosen = out.copy()
        for start in range(0, len(near), HOP):
            hop = slice(start, start + HOP)
            is_speech = self._convergence.is_unexplained(near[hop], residual[hop])
            self._speech_hops = SPEECH_HOPS if is_speech and self._was_speech else max(0, self._speech_hops - 1)
            self._was_speech = is_speech
            if self._speech_hops and not self._echo_remains:
                chosen[hop] = residual[hop]
        return chosen

    def _try_known_path(self, known: KnownEchoPath) -> None:
        """Initialises the filter with a path learned in an earlier session, if the path fits the echo."""
        fitted = self._presence.fit(known)
        self._tries += 1
        if fitted is not None:
            self._aligner.set_drift(fitted.drift_ppm)
            self._filter.set_response(fitted.response)
            self._convergence.reset(known=True)
            self._gate.reset(known=True)
        if fitted is not None or self._tries >= FIT_TRIES:
            self._known = None
