"""Notices that the machine is too slow for the conversation."""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 10.0
SKIPPED_SECONDS = 0.2
UNDERRUNS = 20
LATE_FRAMES = 5
"""The user is told when this much of their voice was skipped within the window, or when the loudspeaker ran dry or the
front-end's model was late this often."""
REPEAT_SECONDS = 60.0
STANDSTILL_SECONDS, AFTERMATH_SECONDS = 2.0, 2.0
"""A gap of this length is a standstill: the machine was asleep, or something hung. What is skipped or late this soon
after it is its consequence. (After 5 s of standstill, 0.8 s more were skipped 0.9 s later, under Wine.)"""


class Overload:
    """Detects that the machine is too slow, over a sliding window. A single standstill doesn't count."""

    def __init__(self) -> None:
        self._noted: deque[tuple[float, float, int, int]] = deque()
        self._told_at = self._stood_still_at = float("-inf")

    def gap(self, at: float, skipped: float, lost: float) -> str:
        """Adds a gap: seconds that were skipped as too late, and seconds lost by the device. Returns what `note`
        returns."""
        since = at - self._stood_still_at
        if skipped + lost >= STANDSTILL_SECONDS:
            self._stood_still_at = at
        counts = since > AFTERMATH_SECONDS and (skipped + lost < STANDSTILL_SECONDS or since <= WINDOW_SECONDS)
        return self.note(at, skipped=skipped) if skipped and counts else ""

    def note(self, at: float, *, skipped: float = 0.0, underruns: int = 0, late: int = 0) -> str:
        """Adds seconds of audio that were skipped, underruns, or frames for which the front-end's model was late.

        Returns what the user should be told, once a minute: a clause about the last `WINDOW_SECONDS`; or an empty
        string.
        """
        if at - self._stood_still_at <= AFTERMATH_SECONDS:
            late = 0
        self._noted.append((at, skipped, underruns, late))
        while at - self._noted[0][0] > WINDOW_SECONDS:
            self._noted.popleft()
        skipped = sum(one[1] for one in self._noted) + 1e-9
        underruns, late = sum(one[2] for one in self._noted), sum(one[3] for one in self._noted)
        much = skipped >= SKIPPED_SECONDS or underruns >= UNDERRUNS or late >= LATE_FRAMES
        if at - self._told_at < REPEAT_SECONDS or not much:
            return ""
        self._told_at = at
        if skipped >= SKIPPED_SECONDS:
            return f"{skipped:.1f} s of your voice were skipped"
        return f"the app's voice broke off {underruns + late} times"
