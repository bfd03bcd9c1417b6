"""The voice that is going on: how long it has, whether it hums, and whether it is surely speech.

Fed with the voice detector's windows one by one. Pure: no model, no clock. What decides whether the assistant falls
silent for a sound lies here alone, so that the turn tracker and whoever listens ahead of it decide alike.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW_SECONDS = 0.032
"""What the voice detector looks at at once."""

_RECENT_WINDOWS = 32
"""A second of windows: longer than any run that is still in doubt."""
_BURST_WINDOWS = 12
"""A cough's burst and its voiced end lie within 0.4 s."""
_FADED_DB = 25.0
"""A window this much below the loudest of its run is the detector's own hanging on, and no evidence."""


@dataclass(frozen=True, slots=True)
class VoiceWindow:
    """One look of the voice detector: the 32 ms of sound up to `end`, in seconds of session time.

    `probability` is that somebody speaks; `hum` tells that the sound is a closed-mouth "mhm"; `level` is the
    sound's RMS in dBFS (None: not measured, and nothing is made of it).
    """

    end: float
    probability: float
    hum: bool = False
    level: float | None = None


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """Probabilities in [0, 1]. Silero's authors advise 0.5, and 0.15 less to go on.

    What each window of a run has above `sure_probability` adds up; `barge_in_evidence` of it is speech (two
    windows at 0.8, four at 0.7), behind a loud burst that was no speech `burst_evidence`. Tuned on 100 of each of the
    tests' noises against 168 beginnings of speech: at most 2 in 100 coughs at the level of speech get there, and
    96 in 100 beginnings within 300 ms. A run of `doubtful_seconds` is speech, however unsure. A run that hums is
    speech behind `hum_seconds` only, and one that doesn't no sooner than behind `barge_in_seconds`.
    """

    onset_probability: float = 0.5
    offset_probability: float = 0.35
    sure_probability: float = 0.6
    barge_in_seconds: float = 0.064
    barge_in_evidence: float = 0.4
    burst_evidence: float = 0.9
    doubtful_seconds: float = 0.8
    hum_seconds: float = 0.64


class VoiceRun:
    """Follows the voice window by window."""

    def __init__(self, settings: VoiceSettings | None = None) -> None:
        self.settings = settings or VoiceSettings()
        self.seconds = 0.0
        """Of unbroken voice; 0 while nobody speaks."""
        self.silence = 0.0
        """Seconds of unbroken silence; 0 while somebody speaks."""
        self._hum = 0.0  # seconds of the run that only hum
        self._recent: deque[VoiceWindow] = deque(maxlen=_RECENT_WINDOWS)

    def hear(self, window: VoiceWindow) -> bool:
        """Takes the next window; whether it is voice."""
        s = self.settings
        self._recent.append(window)
        if window.probability >= (s.offset_probability if self.seconds else s.onset_probability):
            self.seconds += WINDOW_SECONDS
            self.silence = 0.0
            self._hum += WINDOW_SECONDS if window.hum else 0.0
            return True
        self.seconds = self._hum = 0.0
        self.silence += WINDOW_SECONDS
        return False

    def begin(self) -> None:
        """What was heard so far is settled: a run begins anew."""
        self.seconds = self._hum = 0.0

    @property
    def interrupts(self) -> bool:
        """Whether somebody surely speaks: no cough, knock or music, and no "mhm"."""
        s = self.settings
        humming = self.seconds > 0 and self._hum >= 0.6 * self.seconds
        if self.seconds + 1e-9 < (s.hum_seconds if humming else s.barge_in_seconds):
            return False
        return humming or self._is_speech()

    def _is_speech(self) -> bool:
        s = self.settings
        if self.seconds + 1e-9 >= s.doubtful_seconds:
            return True
        recent = list(self._recent)
        run = recent[max(0, len(recent) - round(self.seconds / WINDOW_SECONDS)) :]
        levels = [w.level for w in run if w.level is not None]
        faded = max(levels, default=0.0) - _FADED_DB
        run = [w for w in run if w.level is None or w.level >= faded]
        evidence = sum(max(0.0, w.probability - s.sure_probability) for w in run)
        # A cough begins with its loudest part, and that is noise; a word's consonant is softer than its vowel.
        sure = max((w.level for w in run if w.level is not None and w.probability >= s.sure_probability), default=None)
        unsure = [
            w.level for w in recent[-_BURST_WINDOWS:]
            if w.level is not None and w.probability < s.sure_probability - 0.05
        ]  # fmt: skip
        burst = sure is not None and max(unsure, default=sure - 1) >= sure
        return evidence + 1e-9 >= (s.burst_evidence if burst else s.barge_in_evidence)
