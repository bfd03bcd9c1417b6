"""Converts Unix timestamps to local dates without ever failing.

Windows only supports the years 1970 to 3000, but a database or an imported conversation may contain any number.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def local_datetime(seconds: float, zone: tzinfo | None = None) -> datetime:
    """Converts a Unix timestamp to a date and time in `zone`, by default this machine's time zone.

    Falls back to the zone's standard offset for years that the system doesn't support. Timestamps outside the years 1
    to 9999 are clamped to the first or last day.
    """
    if zone is None:
        try:
            return datetime.fromtimestamp(seconds)
        except (OSError, OverflowError, ValueError):
            return _from_utc(seconds, timezone(timedelta(seconds=-time.timezone))).replace(tzinfo=None)
    return _from_utc(seconds, zone)


def local_date(seconds: float) -> date:
    """Converts a Unix timestamp to a date in this machine's time zone."""
    return local_datetime(seconds).date()


def _from_utc(seconds: float, zone: tzinfo) -> datetime:
    try:
        return (_EPOCH + timedelta(seconds=seconds)).astimezone(zone)
    except (OverflowError, ValueError):
        # NaN also becomes the first day.
        return (datetime.max if seconds > 0 else datetime.min).replace(microsecond=0, tzinfo=zone)
