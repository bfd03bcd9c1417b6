"""Removes the echo from aligned sound, frame by frame: linear filter, WebRTC's canceller and residual gate together.

The linear filter comes first, since it preserves the user in double talk; WebRTC removes the rest, and the gate
attenuates the residual until the filter has converged. Where there is no echo, nothing is changed.
"""

from __future__ import annotations

import numpy as np

from app.audio.echo.adaptive_filter import AdaptiveFilter
from app.audio.echo.canceller import EchoCanceller
from app.audio.echo.convergence import ConvergenceMonitor
from app.audio.echo.drift_estimator import DriftEstimator
from app.audio.echo.early_hops import EarlyHops, joined
from app.audio.echo.far_end_aligner import FarEndAligner
from app.audio.echo.known_path import KnownEchoPath
from app.audio.echo.power import FAR_ACTIVE, HOP, powers
from app.audio.echo.presence import EchoPresence
from app.audio.echo.residual_gate import ResidualEchoGate
from app.audio.echo.store import EchoStore

MISTAUGHT_HOPS = 25
"""After so many sounding hops without an echo (0.5 s) the filter has learned that there is none, and must be reset."""

SPEECH_HOPS = 6
"""A voice keeps counting as present for so long between two sounds (0.12 s)."""

FIT_TRIES = 10
"""Frames with an echo (0.8 s and more) in which fitting a known path is tried; after them it is dropped."""

STORE_FRAMES = 64
"""What was learned is stored every five seconds, since the devices may change at any moment."""


class EchoRemover:
    """Processes the microphone's sound on the frame thread; never waits.

    Corrects the drift of `aligner`, and takes up and keeps echo paths in `store`.
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
        self._cancels = False  # as the canceller did at the last frame
        self._present = False  # whether there was an echo in the last frame
        self._passed = False  # whether nothing of the last frame was attenuated
        self._speech_hops = 0
        self._was_speech = self._echo_remains = False

    @property
    def is_steady(self) -> bool:
        """Whether the next frame will be processed as the last one was, and nothing of that was attenuated."""
        return self._canceller.cancels == self._cancels and (self._passed or not self._cancels)

    def restart(self) -> None:
        """Starts over, as the alignment does; a stored path is used once it is seen to fit."""
        self._reset()
        self._known, self._tries = None, 0
        if self._store is not None:
            self._pair = self._store.pair()
            self._known = self._store.get(self._pair)

    def process_hop(self, near: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Processes a hop of an incomplete frame, if `is_steady`; returns the filter's residual and the output."""
        residual = self._filter.process(near, far) if self._cancels else near
        out = self._prefer_residual(near, residual, self._canceller.process(residual, far))
        if self._cancels and not self._present:
            out = self._canceller.process_without_echo(near)
        return residual, out

    def process(self, near: np.ndarray, far: np.ndarray, early: EarlyHops) -> np.ndarray:
        """Processes a frame, float32 (1920,). `far`: the far end without the early hops."""
        if self._canceller.cancels != self._cancels:
            self._cancels = self._canceller.cancels
            self._reset()
        rest = near[early.samples :]
        if not near.any():
            # Muted: there is nothing to learn from it, but the filter needs all that the loudspeaker plays.
            self._passed = False
            if self._cancels:
                self._filter.process(rest, far)
            return near
        if not self._cancels:
            return joined(early.out, self._canceller.process(rest, far))
        residual = self._filter.process(rest, far)
        out = self._prefer_residual(rest, residual, self._canceller.process(residual, far))
        if not self._canceller.cancels:
            return near  # it has just failed
        far, residual = joined(early.far, far), joined(early.residual, residual)
        has_echo = self._update_presence(near, far)
        if not self._present:
            return self._without_echo(rest, early)
        if has_echo and self._known is not None:
            self._try_known_path(self._known)
        return self._with_echo(near, far, residual, joined(early.out, out), is_early=early.samples > 0)

    def store(self) -> None:
        """Keeps what was learned of the devices in use, once the filter has converged."""
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
        """Returns whether this frame shows an echo; where one starts, everything is learned again."""
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
        # The gate passes a voice. In silence it is open, too, but closes with the first sound.
        self._passed = converged or (gated is out and bool(powers(far, HOP).max() > FAR_ACTIVE))
        # The gate cuts the beginnings of words, so it is used only until convergence. Early hops are out already.
        return out if converged or is_early else gated

    def _prefer_residual(self, near: np.ndarray, residual: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Returns `out`, or the filter's residual in hops with a voice while WebRTC can't know the echo.

        If a filter that knew the path removes the echo from the first second on, WebRTC has had none to learn from, and
        takes any voice for it.
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
        """Starts from a path learned in an earlier session, if it fits the echo."""
        fitted = self._presence.fit(known)
        self._tries += 1
        if fitted is not None:
            self._aligner.set_drift(fitted.drift_ppm)
            self._filter.set_response(fitted.response)
            self._convergence.reset(known=True)
            self._gate.reset(known=True)
        if fitted is not None or self._tries >= FIT_TRIES:
            self._known = None
