"""Compact formats for money, token counts, durations and session times.

`SessionTime` estimates the current session time between events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

REMEMBERED_SECONDS = 6.0
"""How long measured delays are used. Older ones are outdated, since clocks drift and sessions may pause."""


class SessionTime:
    """Estimates the current session time (`now`) from the event times passed to `update`.

    `clock` returns a monotonic time in seconds. Events may arrive late or in batches, but never early, so the smallest
    recent delay gives the best estimate.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._offsets: deque[tuple[float, float]] = deque()
        """Pairs of an event's arrival time on the clock and the session start derived from it, earliest start first."""

    def begin(self) -> None:
        """Resets the estimate for a new session."""
        self._offsets.clear()

    def update(self, at: float) -> None:
        """Updates the estimate with the session time of an event that has just arrived."""
        if at <= 0:
            return  # session time doesn't advance before the first frame
        now = self.clock()
        start = now - at
        while self._offsets and self._offsets[-1][1] >= start:
            self._offsets.pop()
        self._offsets.append((now, start))
        while len(self._offsets) > 1 and now - self._offsets[0][0] > REMEMBERED_SECONDS:
            self._offsets.popleft()

    @property
    def now(self) -> float | None:
        """The estimated session time in seconds, or None before the first frame."""
        return self.clock() - self._offsets[0][1] if self._offsets else None


def dollars(amount: float) -> str:
    """Formats an amount in US dollars: $0.0031, $0.42, $12.30."""
    if amount <= 0:
        return "$0"
    if amount < 0.0001:
        return "<$0.0001"
    if amount < 0.01:
        return f"${amount:.4f}"
    return f"${amount:.3f}" if amount < 0.1 else f"${amount:.2f}"


def tokens(number: int) -> str:
    """Formats a token count: 812, 8.2k, 1.3M."""
    if number < 1000:
        return str(number)
    return f"{number / 1e3:.1f}k" if number < 999_950 else f"{number / 1e6:.1f}M"


_decimal_sign = "."


def use_decimal_sign(sign: str) -> None:
    """Sets the decimal sign of the user's language."""
    global _decimal_sign
    _decimal_sign = sign


def decimal(number: float, digits: int) -> str:
    """Formats a number with so many digits after the decimal sign."""
    return f"{number:z.{digits}f}".replace("-", "\u2212").replace(".", _decimal_sign)


def wait(seconds: float) -> str:
    """Formats a duration: 420 ms, 1.0 s, 12.3 s."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{decimal(seconds, 1)} s"


def seconds_words(seconds: float) -> str:
    """Formats a response time to hundredths of a second (0.45 s), or to tenths from 10 s (12.3 s)."""
    return f"{decimal(seconds, 2 if abs(seconds) < 9.995 else 1)} s"


def clock_words(seconds: float, tenths: bool = False) -> str:
    """Formats a session time as `m:ss`, or as `m:ss.s` if `tenths`."""
    if tenths:
        whole = round(max(0.0, seconds) * 10)
        return f"{whole // 600}:{whole // 10 % 60:02d}{_decimal_sign}{whole % 10}"
    whole = int(max(0.0, seconds))
    return f"{whole // 60}:{whole % 60:02d}"
