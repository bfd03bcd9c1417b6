"""Converts seconds since 1970 to local dates, for any number.

Windows converts 1970 to 3000 only, and a database or an imported conversation may hold any number.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def local_datetime(seconds: float, zone: tzinfo | None = None) -> datetime:
    """The date and time of day at `seconds` since 1970, in `zone` or else in this machine's zone.

    For years that the system has no rules for, the zone's standard offset is used; a moment outside the years 1 to 9999
    becomes their first or last day.
    """
    if zone is None:
        try:
            return datetime.fromtimestamp(seconds)
        except (OSError, OverflowError, ValueError):
            return _from_utc(seconds, timezone(timedelta(seconds=-time.timezone))).replace(tzinfo=None)
    return _from_utc(seconds, zone)


def local_date(seconds: float) -> date:
    """The day at `seconds` since 1970, in this machine's zone."""
    return local_datetime(seconds).date()


def _from_utc(seconds: float, zone: tzinfo) -> datetime:
    try:
        return (_EPOCH + timedelta(seconds=seconds)).astimezone(zone)
    except (OverflowError, ValueError):
        # NaN becomes the first day, too.
        return (datetime.max if seconds > 0 else datetime.min).replace(microsecond=0, tzinfo=zone)
