"""A linear adaptive filter that subtracts the echo from the microphone's sound and preserves the user in double talk.

The partitioned-block frequency-domain Kalman filter: G. Enzner, P. Vary, "Frequency-domain adaptive Kalman filter for
acoustic echo control in hands-free telephones", Signal Processing 86 (2006); in its partitioned form F. Kuech,
E. Mabande, G. Enzner, "State-space architecture of the partitioned-block-based acoustic echo controller", ICASSP 2014.
"""

from __future__ import annotations

import numpy as np

from app.audio.echo.known_path import HOP
from app.conversation.frame import FRAME_SAMPLES

PARTITIONS = 24
"""Each of `HOP` samples. 0.48 s of echo: 0.25 s of latency and the loud part of a room's tail."""

BINS = HOP + 1


class AdaptiveFilter:
    """Learns the echo path from the loudspeaker to the microphone and subtracts the echo. One thread.

    It needs no double-talk detector: the Kalman gain falls where the microphone's sound can't be explained. It needs
    synchronous clocks, though: at 100 ppm (2.4 samples a second) it removes no more than 7 dB, at 0 ppm 20 to 30.
    """

    STEADY, LEARNING = 0.9995, 0.998
    """How much of the path is assumed to persist over a hop (A in both papers), later on and for the first seconds."""
    LEARNING_HOPS = 200
    SMOOTHING = 0.7
    """How the power of what isn't explained is averaged from hop to hop."""
    PRIOR = 0.01
    """Power of each partition's unknown weights at first: 24 of them make an echo of -6 dB."""
    KNOWN_UNCERTAINTY = 0.05
    """Share of its power by which a path learned in another session is assumed to be wrong."""
    CONSTRAINED = 4
    """Partitions per hop whose weights are cut back to their 480 samples in turn: all of them five times in 0.6 s."""
    SILENT = 0.1
    """Power of all the far end's spectra together below which there is nothing to learn: about -80 dBFS."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Drops everything: the two sounds are aligned differently from now on."""
        self._far = np.zeros((PARTITIONS, BINS), np.complex64)
        self._far_power = np.zeros((PARTITIONS, BINS), np.float32)
        self._last: np.ndarray = np.zeros(HOP, np.float32)
        self.active = False
        """Whether there was something to learn from in the last hop."""
        self.reset_weights()

    def reset_weights(self) -> None:
        """Drops the learned echo path."""
        self.weights: np.ndarray = np.zeros((PARTITIONS, BINS), np.complex64)
        """The path: spectra of its pieces of 480 samples, each padded with 480 zeros; the earliest first."""
        self._uncertainty = np.full((PARTITIONS, BINS), self.PRIOR, np.float32)
        self._unexplained = np.full(BINS, 1e-4, np.float32)
        self.hops = 0
        """Hops in which it had something to learn from."""

    @property
    def response(self) -> np.ndarray:
        """The path as an impulse response: float32 (11520,)."""
        return np.fft.irfft(self.weights, axis=1)[:, :HOP].reshape(-1).astype(np.float32)

    def set_response(self, response: np.ndarray) -> None:
        """Starts from an impulse response in the form of `response`."""
        parts = response.reshape(PARTITIONS, HOP)
        self.weights = np.fft.rfft(parts, 2 * HOP, axis=1).astype(np.complex64)
        power = self.weights.real**2 + self.weights.imag**2
        self._uncertainty = (self.KNOWN_UNCERTAINTY * (power + power.mean(axis=1, keepdims=True))).astype(np.float32)
        self.hops = self.LEARNING_HOPS

    def process(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Returns `near` without the echo of `far`: float32 (n,) each, whole hops. `near` itself if nothing sounds."""
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
        if self.active and near.any():  # a muted microphone would teach it that there is no echo
            self._learn(out)
        return out

    def _learn(self, out: np.ndarray) -> None:
        error = np.fft.rfft(np.concatenate([np.zeros(HOP, np.float32), out])).astype(np.complex64)
        power = error.real**2 + error.imag**2
        self._unexplained += (1.0 - self.SMOOTHING) * (power - self._unexplained)
        # The whole power and not the half that is in the block's second half: with the full step an echo over two
        # partitions, whose blocks overlap, was not learned at all.
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
