"""Tells whether the microphone hears the loudspeaker at all: with headphones it doesn't, and nothing need be cancelled.

The generalised cross-correlation with phase transform of what is heard and what was played (C. Knapp and G. Carter,
IEEE Trans. ASSP 24, 1976): an echo stands out as a peak at its delay within a frame or two, under a voice too, while
somebody else's voice has no peak anywhere.
"""

from __future__ import annotations

import numpy as np

from app.audio.echo.known_path import KnownEchoPath
from app.audio.echo.residual_echo import FAR_ACTIVE, powers
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

WINDOW = 3 * FRAME_SAMPLES
"""What of the microphone's sound is compared: the last 0.24 s."""
MOST_DELAY = 5 * FRAME_SAMPLES
"""The echo may come so much later than its origin: 0.4 s."""
SIZE = 24_576
"""Of the Fourier transforms: no less than both together, and 3 * 2^13."""
BAND = slice(round(100.0 * SIZE / SAMPLE_RATE), round(4000.0 * SIZE / SAMPLE_RATE))
"""A voice's, 100 to 4000 Hz, by the transforms' bins."""
PLACES = SIZE // 3
"""Delays that are told apart, cyclic: each an eighth of a millisecond, by the bins up to 4 kHz."""


class EchoPresence:
    """Fed with each frame's near and far end; `heard` is whether the one follows the other, `doubtful` whether the last
    frame may be the first of an echo.

    Of 30 voices over headphones none reached a peak of more than 11 times the root mean square of all delays; of 30
    echoes in simulated rooms (20 to 250 ms, -6 to -26 dB, noise of -65 to -50 dBFS) all reached 12 within two frames
    of being louder than the noise, and most within one.
    """

    PEAK, TWO_PEAKS = 12.0, 22.0
    """In one frame, or in two together whose delay is the same."""
    DOUBTFUL_PEAK, DOUBTFUL_FRAMES = 7.0, 12
    """Half of all echoes reach this in their first frame and `PEAK` in the second. So do some voices as they begin:
    it counts only in the loudspeaker's first second."""
    GONE_FRAMES = 100
    """Frames (8 s) in which the loudspeaker sounds and the microphone doesn't, since the last ones with an echo, behind
    which there is none any more: somebody has put headphones on. A faint echo in a loud room is found less often than
    it is there."""
    SILENT = 10 ** (4 / 10)
    """What is no louder than this above the room's noise is silence."""
    RISE = 1.008
    """The noise's estimate rises by 0.4 dB a second and falls at once."""

    def __init__(self) -> None:
        self._noise = 1e9
        self.begin()

    def begin(self) -> None:
        """The two sounds are in another relation from now on: nothing is known."""
        self.heard = self.doubtful = False
        self._near = self._left = np.zeros(WINDOW, np.float32)
        self._far = np.zeros(WINDOW + MOST_DELAY, np.float32)
        self._alone = self._sounding = 0
        self._last = (0, 0.0)

    def measure(self, near: np.ndarray, far: np.ndarray) -> bool:
        """Takes one frame of each, float32 (1920,); whether an echo was in the last of them."""
        self._near, self._far = (
            np.concatenate([old[FRAME_SAMPLES:], new]) for old, new in ((self._near, near), (self._far, far))
        )
        power = float(powers(near, FRAME_SAMPLES)[0])
        self._noise = min(self._noise * self.RISE, max(power, 1e-10))
        self.doubtful = False
        if not self._sounded():
            return False
        self._sounding += 1
        if power <= self.SILENT * self._noise:
            self._alone += 1
            if self._alone >= self.GONE_FRAMES:
                self.heard = False
            return False
        place, peak = self._peak(self._near)
        again = abs(place - self._last[0]) <= 1 and peak + self._last[1] >= self.TWO_PEAKS
        self._last = (place, peak)
        if peak < self.PEAK and not again:
            self.doubtful = self.undecided and peak >= self.DOUBTFUL_PEAK
            return False
        self.heard, self._alone = True, 0
        return True

    @property
    def undecided(self) -> bool:
        """Whether an echo may begin at any moment: the loudspeaker hasn't sounded for long, if at all."""
        return not self.heard and self._sounding <= self.DOUBTFUL_FRAMES

    def remains(self, left: np.ndarray) -> bool:
        """Whether an echo may be in what a filter left of the frame that was measured last; wants each frame's."""
        self._left = np.concatenate([self._left[FRAME_SAMPLES:], left])
        return self._sounded() and self._peak(self._left)[1] >= self.DOUBTFUL_PEAK

    def fitted(self, known: KnownEchoPath) -> KnownEchoPath | None:
        """See `KnownEchoPath.fitted`: what is known, brought into step with what was heard last."""
        return known.fitted(self._near, self._far)

    def _sounded(self) -> bool:
        return bool((powers(self._far, FRAME_SAMPLES) > FAR_ACTIVE).any())

    def _peak(self, sound: np.ndarray) -> tuple[int, float]:
        """The delay at which the two are most alike, and by how much more than at all others."""
        cross = np.zeros(PLACES // 2 + 1, complex)
        product = np.fft.rfft(sound * _TAPER, SIZE)[BAND] * np.fft.rfft(self._far, SIZE)[BAND].conj()
        cross[BAND] = product / (np.abs(product) + 1e-12)
        # The far end's window begins `MOST_DELAY` before the near end's.
        found = np.abs(np.roll(np.fft.irfft(cross, PLACES), MOST_DELAY // 3)[: MOST_DELAY // 3])
        place = int(np.argmax(found))
        return place, float(found[place] / np.sqrt(np.mean(found**2) + 1e-20))


_TAPER = np.hanning(WINDOW).astype(np.float32)
