"""Decides whether somebody is speaking; tracks the loudness of the user's speech and the assistant's own words."""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass

from app.conversation.words import fold, is_echo

WINDOW_SECONDS = 0.032
"""Length of one window of the voice detector."""

_RECENT_WINDOWS = 32
"""One second: longer than any run that is still in doubt."""
_BURST_WINDOWS = 12
"""A cough's burst and its voiced end lie within 0.4 s."""
_FADED_DB = 15.0
"""A window this much below the loudest of its run is no evidence: the detector lags behind the sound's end, or the
room noise adds high frequencies to the end of a hum."""


@dataclass(frozen=True, slots=True)
class VoiceWindow:
    """One result of the voice detector, for the 32 ms of sound up to `end` in seconds of session time.

    `probability`: that somebody speaks; `hum`: the sound is a closed-mouth "mhm"; `level`: RMS in dBFS; `voicing`: how
    periodic the sound is at a voice's pitch, as a normalised correlation, about 1 for a vowel, below 0.6 for breath,
    hiss and the turbulence of a cough (None: not measured).
    """

    end: float
    probability: float
    hum: bool = False
    level: float | None = None
    voicing: float | None = None


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """Thresholds; probabilities in [0, 1]. Silero's authors advise 0.5 for the onset and 0.15 less to go on.

    A window is evidence of speech if the detector is sure and the sound is as periodic as a vowel: its evidence is its
    probability above `sure_probability` times its periodicity, which rises from 0 at a voicing of `unvoiced` to 1 at
    `voiced`. A hum is no evidence. The evidence of a run is summed; `barge_in_evidence` is speech (two vowel windows at
    0.7, three at 0.67). After a burst of noise as loud as the sure windows, which is how a cough begins, it takes
    `burst_evidence`. No run counts before `barge_in_seconds`; a run of `doubtful_seconds` counts however unsure the
    detector is, and one that mostly hums after `hum_seconds`.

    A turn begins with the same evidence, or with a run of `unsure_seconds`, so that a whisper or an "mhm" that answers
    begins one too, and few coughs and knocks do.

    Once the user's own level is known, a voice that stays `far_db` below it is that of somebody else or of a
    television: it neither interrupts nor resumes a turn. It stays below as long as fewer than `near_windows` of its run
    are louder. In silence the limit is `far_in_silence_db`, so that a whisper begins a turn. The limit was chosen on
    150 sentences of 52 callers whose level was known from another of theirs: it delays and loses none of them. Of 26
    other callers, 92 % of the sentences interrupt, where at 20 dB 96 % did. With a second caller 15 dB softer, 54 % of
    the second caller's sentences interrupt, where at 20 dB all did.

    Tuned on half of MT-Bench's questions in two synthetic voices (58 recordings, and what follows the pauses in them)
    and on the tests' noises of seeds 0 to 99, 1000 to 1099 and 2000 to 2099. On the other half, in rooms of -65 and
    -50 dBFS, from 6 dB above to 12 dB below a headset's level (but 12 dB below in the louder room), 95.8 % of 1050
    onsets are recognised within 250 ms and 98.3 % within 300 ms, those of whole questions 98.5 % and all. Of 100 new
    coughs, throats and hums each, none stops the assistant in the quiet room, and one hum does in the loud one.
    """

    onset_probability: float = 0.5
    offset_probability: float = 0.35
    sure_probability: float = 0.6
    unvoiced: float = 0.6
    voiced: float = 0.8
    barge_in_seconds: float = 0.064
    barge_in_evidence: float = 0.2
    burst_evidence: float = 0.9
    doubtful_seconds: float = 0.8
    unsure_seconds: float = 0.32
    hum_seconds: float = 0.64
    far_db: float = 10.0
    far_in_silence_db: float = 26.0
    near_windows: int = 3

    def voiced_share(self, window: VoiceWindow) -> float:
        """How periodic a window is: 0 for noise, 1 for a vowel, 1 if it was not measured."""
        if window.voicing is None:
            return 1.0
        return min(1.0, max(0.0, (window.voicing - self.unvoiced) / (self.voiced - self.unvoiced)))


class VoiceRun:
    """Tracks the current run of voiced windows."""

    def __init__(self, settings: VoiceSettings | None = None) -> None:
        self.settings = settings or VoiceSettings()
        self.seconds = 0.0
        """Length of the run; 0 while nobody speaks."""
        self.silence = 0.0
        """Seconds since the last voiced window; 0 while somebody speaks."""
        self.own_level: float | None = None
        """Level of the loud part of the user's speech in dBFS, once known."""
        self._hum = 0.0  # seconds of the run that only hum
        self._recent: deque[VoiceWindow] = deque(maxlen=_RECENT_WINDOWS)

    def hear(self, window: VoiceWindow) -> bool:
        """Adds the next window; returns whether it is voice."""
        s = self.settings
        self._recent.append(window)
        if window.probability >= (s.offset_probability if self.seconds else s.onset_probability):
            self.seconds += WINDOW_SECONDS
            self.silence = 0.0
            self._hum += WINDOW_SECONDS if window.hum else 0.0
            return True
        self.begin()
        self.silence += WINDOW_SECONDS
        return False

    def begin(self) -> None:
        """Starts a new run: the windows so far are dealt with."""
        self.seconds = self._hum = 0.0

    @property
    def begins(self) -> bool:
        """Whether the run begins a turn if it interrupts nobody."""
        if self.seconds + 1e-9 < self.settings.barge_in_seconds or self._is_far(self.settings.far_in_silence_db):
            return False
        return self.seconds + 1e-9 >= self.settings.unsure_seconds or self._is_speech()

    @property
    def resumes(self) -> bool:
        """Whether the run continues the turn that has just ended, whose speaker is near."""
        return self.begins and not self.is_far

    @property
    def is_far(self) -> bool:
        """Whether the run is the voice of somebody else, who is far away."""
        return self._is_far(self.settings.far_db)

    @property
    def interrupts(self) -> bool:
        """Whether the run is certainly speech: not a cough, a knock, music or "mhm"."""
        s, seconds = self.settings, self.seconds + 1e-9
        if seconds < s.barge_in_seconds or self.is_far:
            return False
        humming = self._hum >= 0.6 * self.seconds
        return seconds >= (s.hum_seconds if humming else s.doubtful_seconds) or self._is_speech()

    def _is_far(self, db: float) -> bool:
        """Whether the run, but for a window or two, is at least `db` softer than the user's speech."""
        levels = sorted((w.level for w in self._windows() if w.level is not None), reverse=True)
        if self.own_level is None or not levels:
            return False
        return levels[min(self.settings.near_windows, len(levels)) - 1] < self.own_level - db

    def _windows(self) -> list[VoiceWindow]:
        """The windows of the run that are still kept."""
        recent = list(self._recent)
        return recent[max(0, len(recent) - round(self.seconds / WINDOW_SECONDS)) :]

    def _is_speech(self) -> bool:
        s = self.settings
        recent, run = list(self._recent), self._windows()
        faded = max((w.level for w in run if w.level is not None), default=0.0) - _FADED_DB
        run = [w for w in run if w.level is None or w.level >= faded]
        evidence = sum(max(0.0, w.probability - s.sure_probability) * s.voiced_share(w) for w in run if not w.hum)
        sure = max((w.level for w in run if w.level is not None and w.probability >= s.sure_probability), default=None)
        # A cough begins with its loudest part, which is turbulence. A word's consonant is softer than its vowel, and a
        # vowel that the detector is not sure of yet is periodic.
        noises = [w.level for w in recent[-_BURST_WINDOWS:] if w.level is not None and self._is_noise(w)]
        burst = sure is not None and max(noises, default=sure - 1) >= sure
        return evidence + 1e-9 >= (s.burst_evidence if burst else s.barge_in_evidence)

    def _is_noise(self, window: VoiceWindow) -> bool:
        s = self.settings
        unsure = window.probability < s.sure_probability - 0.05
        return unsure and (window.voicing is None or s.voiced_share(window) < 0.5)


TURNS = 5
"""The estimate is the median of this many of the user's last turns."""
FADE_DB = 0.1
"""Subtracted for each second since the last turn, so that a user who has moved away is heard again after a while."""


class SpeechLevel:
    """Takes the levels (dBFS) of one turn's voiced windows after the other."""

    def __init__(self) -> None:
        self._turn: list[float] = []
        self._turns: deque[float] = deque(maxlen=TURNS)
        self._ended_at = 0.0

    def start_turn(self) -> None:
        """Forgets the windows of a turn that was not kept."""
        self._turn = []

    def add(self, level: float) -> None:
        """Adds a voiced window of the current turn."""
        self._turn.append(level)

    def keep_turn(self, at: float) -> None:
        """Counts the current turn, which ended at `at`."""
        if self._turn:
            # Four fifths of a turn's windows are softer: pauses, consonants, unstressed vowels.
            self._turns.append(sorted(self._turn)[len(self._turn) * 4 // 5])
            self._ended_at = at

    def estimate(self, at: float, *, resumes: bool) -> float | None:
        """Returns the level in dBFS of the loud part of the user's last turns; None before the first.

        `resumes`: a voice at `at` would resume the last turn. Its speaker may be softer than those of the turns before.
        """
        if not self._turns:
            return None
        level = statistics.median(self._turns) - FADE_DB * (at - self._ended_at)
        return min(level, self._turns[-1]) if resumes else level


REMEMBERED_SECONDS = 6.0
"""An utterance of the user's, and the delay of the devices."""
SHORT_ECHO_SECONDS = 0.5
"""An echo of two or three words begins no more than this after them."""


class OwnWords:
    """Keeps the assistant's words of the last seconds."""

    def __init__(self) -> None:
        self._words: deque[tuple[float, str]] = deque()  # each with when it was played

    def add(self, text: str, at: float) -> None:
        """Adds words that were played at `at`."""
        self._words.append((at, text))
        while at - self._words[0][0] > REMEMBERED_SECONDS:
            self._words.popleft()

    def is_echo(self, heard: str, *, onset: float, voice_end: float, language: str) -> bool:
        """Whether `heard`, spoken from `onset` to `voice_end`, is only a part of these words."""
        recent = [(at, text) for at, text in self._words if voice_end - at <= REMEMBERED_SECONDS]
        if not is_echo(heard, " ".join(text for _, text in recent), language):
            return False
        if len(fold(heard)) >= 4:
            return True
        # A short echo comes while the words are played; a user who repeats two words does so after them.
        near = " ".join(text for at, text in recent if at >= onset - SHORT_ECHO_SECONDS)
        return is_echo(heard, near, language)
