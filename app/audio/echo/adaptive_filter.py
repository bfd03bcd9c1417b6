"""A linear adaptive filter that subtracts the echo from the microphone signal but not the user's voice.

This is the partitioned-block frequency-domain Kalman filter: G. Enzner, P. Vary, "Frequency-domain adaptive Kalman
filter for acoustic echo control in hands-free telephones", Signal Processing 86 (2006); for the partitioned form see F.
Kuech, E. Mabande, G. Enzner, "State-space architecture of the partitioned-block-based acoustic echo controller", ICASSP
2014.
"""

from __future__ import annotations

import numpy as np

from app.audio.echo.known_path import HOP
from app.conversation.frame import FRAME_SAMPLES

PARTITIONS = 24
"""Number of partitions of `HOP` samples: 0.48 s of echo, enough for 0.25 s of latency and the early reverberation."""

BINS = HOP + 1


class AdaptiveFilter:
    """Learns the echo path from the loudspeaker to the microphone and subtracts the echo. Not thread-safe.

    No double-talk detector is needed, since the Kalman gain falls when the echo doesn't explain the microphone signal.
    However, the clocks must be synchronous: with a drift of 100 ppm (2.4 samples per second), the filter attenuates the
    echo by at most 7 dB, compared with 20 to 30 dB without drift.
    """

    STEADY, LEARNING = 0.9995, 0.998
    """Share of the echo path assumed to persist from hop to hop (A in both papers), after and during the first hops."""
    LEARNING_HOPS = 200
    SMOOTHING = 0.7
    """Smoothing factor per hop for the power of the unexplained signal."""
    PRIOR = 0.01
    """Initial power of each partition's unknown weights; all 24 partitions together correspond to an echo of -6 dB."""
    KNOWN_UNCERTAINTY = 0.05
    """Assumed error of an echo path learned in another session, as a share of the path's power."""
    CONSTRAINED = 4
    """Number of partitions constrained to 480 samples in each hop, in rotation: each partition once per 0.12 s."""
    SILENT = 0.1
    """Total power of the far-end spectra below which the filter doesn't adapt: about -80 dBFS."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Discards all state. Must be called when the alignment of the two signals has changed."""
        self._far = np.zeros((PARTITIONS, BINS), np.complex64)
        self._far_power = np.zeros((PARTITIONS, BINS), np.float32)
        self._last: np.ndarray = np.zeros(HOP, np.float32)
        self.active = False
        """Whether the last hop had far-end audio to learn from."""
        self.reset_weights()

    def reset_weights(self) -> None:
        """Discards the learned echo path."""
        self.weights: np.ndarray = np.zeros((PARTITIONS, BINS), np.complex64)
        """The echo path as spectra of its 480-sample pieces, earliest first, each padded with 480 zeros."""
        self._uncertainty = np.full((PARTITIONS, BINS), self.PRIOR, np.float32)
        self._unexplained = np.full(BINS, 1e-4, np.float32)
        self.hops = 0
        """The number of hops from which the filter has learned."""

    @property
    def response(self) -> np.ndarray:
        """The echo path as an impulse response: float32 (11520,)."""
        return np.fft.irfft(self.weights, axis=1)[:, :HOP].reshape(-1).astype(np.float32)

    def set_response(self, response: np.ndarray) -> None:
        """Sets the echo path to an impulse response in the format of the `response` property."""
        parts = response.reshape(PARTITIONS, HOP)
        self.weights = np.fft.rfft(parts, 2 * HOP, axis=1).astype(np.complex64)
        power = self.weights.real**2 + self.weights.imag**2
        self._uncertainty = (self.KNOWN_UNCERTAINTY * (power + power.mean(axis=1, keepdims=True))).astype(np.float32)
        self.hops = self.LEARNING_HOPS

    def process(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Returns `near` with the echo of `far` removed, or `near` itself if `far` is silent. Float32, whole hops."""
        assert len(near) == len(far) and len(near) % HOP == 0
        if not far.any() and not self._far_power.any() and not self._last.any():
            self.active = False
            return near
        out = np.empty(len(near), np.float32)
        for start in range(0, len(near), HOP):
            hop = slice(start, start + HOP)
            out[hop] = self._process_hop(near[hop], far[hop])
        return out

    def _process_hop(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        for history in (self._far, self._far_power):
            history[1:] = history[:-1]
        self._far[0] = np.fft.rfft(np.concatenate([self._last, far]))
        self._far_power[0] = self._far[0].real ** 2 + self._far[0].imag ** 2
        self._last = far
        # Overlap-save: the second half of the product is the convolution.
        echo = np.fft.irfft(np.einsum("pf,pf->f", self._far, self.weights))[HOP:]
        out = (near - echo).astype(np.float32)
        self.active = bool(self._far_power.sum() > self.SILENT)
        if self.active and near.any():  # a muted microphone would teach the filter that there is no echo
            self._learn(out)
        return out

    def _learn(self, out: np.ndarray) -> None:
        error = np.fft.rfft(np.concatenate([np.zeros(HOP, np.float32), out])).astype(np.complex64)
        power = error.real**2 + error.imag**2
        self._unexplained += (1.0 - self.SMOOTHING) * (power - self._unexplained)
        # Uses the full power, not just the part in the second half of the block. With the larger step that this part
        # would give, an echo across two partitions, whose blocks overlap, was not learned at all.
        expected = np.einsum("pf,pf->f", self._uncertainty, self._far_power)
        step = self._uncertainty / (expected + self._unexplained + 1e-9)
        self.weights += step * self._far.conj() * error
        self._constrain()
        kept = (self.LEARNING if self.hops < self.LEARNING_HOPS else self.STEADY) ** 2
        self._uncertainty *= kept * (1.0 - 0.5 * step * self._far_power)
        self._uncertainty += (1.0 - kept) * (self.weights.real**2 + self.weights.imag**2)
        self.hops += 1

    def _constrain(self) -> None:
        first = self.hops * self.CONSTRAINED % PARTITIONS
        part = slice(first, first + self.CONSTRAINED)
        pieces = np.fft.irfft(self.weights[part], axis=1)
        pieces[:, HOP:] = 0.0
        self.weights[part] = np.fft.rfft(pieces, axis=1)


assert FRAME_SAMPLES % HOP == 0 and PARTITIONS % AdaptiveFilter.CONSTRAINED == 0
