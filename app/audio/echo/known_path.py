"""What was learned of an echo's way, and how it is brought into step with the next talk.

The way is the impulse response from loudspeaker to microphone: it tells about the room and the devices, and nothing of
what was said. From talk to talk its delay changes by some milliseconds, since devices begin at different moments, and
its loudness with the volume: both are found anew from the first quarter of a second of echo.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.conversation.frame import SAMPLE_RATE

MOST_SHIFT = SAMPLE_RATE // 10
"""How much earlier or later the way may be than it was in the last talk: 0.1 s."""
FITS = 0.5
"""Correlation of what is heard with what the way foretells, from which it is the way: 25 % of the power is explained.
Reverberation of 0.5 s and a voice over it leave that much of a right one; a wrong one has 0.2 at the most."""
LOWEST_HZ, HIGHEST_HZ = 100.0, 4000.0
"""The band in which the delay is looked for: a voice's."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownEchoPath:
    """`response`: float32 at 24 kHz, of any length. `drift_ppm`: how much faster the loudspeaker's clock runs."""

    response: np.ndarray
    drift_ppm: float

    def fitted(self, near: np.ndarray, far: np.ndarray) -> KnownEchoPath | None:
        """This way, as late and as loud as the echo in `near` is; None where that can't be its echo.

        `near`: what the microphone heard last; `far`: what was played, up to the same moment and longer, float32 each.
        """
        size = 1 << (len(far) + len(self.response) + MOST_SHIFT - 1).bit_length()
        foretold = np.fft.irfft(np.fft.rfft(far, size) * np.fft.rfft(self.response, size), size)[: len(far)]
        heard = np.zeros(len(far))
        heard[-len(near) :] = near
        cross = np.fft.rfft(heard, size) * np.fft.rfft(foretold, size).conj()
        low, high = (round(hz * size / SAMPLE_RATE) for hz in (LOWEST_HZ, HIGHEST_HZ))
        phases = np.zeros_like(cross)
        phases[low:high] = cross[low:high] / (np.abs(cross[low:high]) + 1e-12)
        likeness = np.roll(np.fft.irfft(phases, size), MOST_SHIFT)[: 2 * MOST_SHIFT + 1]
        at = int(np.argmax(likeness[1:-1])) + 1
        before, peak, behind = likeness[at - 1 : at + 2]
        shift = at - MOST_SHIFT + 0.5 * (before - behind) / (before - 2.0 * peak + behind - 1e-12)
        moved = _delayed(foretold, shift)[-len(near) :]
        alike = float(moved @ near)
        if alike < FITS * float(np.linalg.norm(moved) * np.linalg.norm(near)) + 1e-12:
            return None
        gain = alike / float(moved @ moved)
        return KnownEchoPath((gain * _delayed(self.response, shift)).astype(np.float32), self.drift_ppm)


def _delayed(samples: np.ndarray, by: float) -> np.ndarray:
    """`samples` so many later (negative: earlier), also by parts of one; what leaves at an end is gone."""
    size = 1 << (len(samples) + 2 * MOST_SHIFT - 1).bit_length()
    turn = np.exp(-2j * np.pi * np.arange(size // 2 + 1) * by / size)
    return np.fft.irfft(np.fft.rfft(samples, size) * turn, size)[: len(samples)]
