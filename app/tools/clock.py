"""The clock tool: the date, weekday and time in the user's or a named time zone.

The names of days and months are not taken from `strftime`, whose output depends on the locale of the process.
"""

from __future__ import annotations

import asyncio
import zoneinfo
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from app.tools.base import ToolError, ToolSpec, object_schema

_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()


def system_now(zone: tzinfo | None) -> datetime:
    """Returns the current time in `zone`; None means this machine's time zone."""
    return datetime.now(UTC).astimezone(zone)


class Clock:
    """The clock tool. `now` returns the current time in the given zone; None means the user's."""

    spec = ToolSpec(
        "clock",
        "Gives the present date, weekday, week and time where the user is, or in another time zone.",
        object_schema(
            {
                "zone": {
                    "type": "string",
                    "description": "An IANA zone such as Asia/Tokyo or America/New_York; leave it out for the user's.",
                }
            }
        ),
    )

    def __init__(self, now: Callable[[tzinfo | None], datetime] = system_now) -> None:
        self._now = now

    async def call(self, arguments: Mapping[str, Any]) -> str:
        """Returns the date and time as one line. Raises ToolError if the zone is unknown."""
        name = str(arguments.get("zone") or "").strip()
        if not name or name.lower() in ("local", "here"):
            return _describe(self._now(None), "the user's time zone")
        zone = await asyncio.to_thread(_find_zone, name)  # reads time zone files
        return _describe(self._now(zone), str(zone))


def _find_zone(name: str) -> tzinfo:
    if name.upper() in ("UTC", "GMT", "Z"):
        return UTC
    try:
        return zoneinfo.ZoneInfo(name.replace(" ", "_"))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        pass  # an unknown or invalid name, or that of a folder
    # Models also write “Tokyo” or “america/new york”.
    known = zoneinfo.available_timezones()
    if not known:
        raise ToolError(
            "This machine has no table of time zones (on Windows it comes with the Python package tzdata), so only "
            "the user's own time and UTC can be told."
        )
    plain = name.replace(" ", "_").lower()
    found = sorted(name for name in known if plain in (name.lower(), name.rpartition("/")[2].lower()))
    if not found:
        raise ToolError(f"There is no time zone “{name[:60]}”: name one such as Europe/Berlin or Asia/Tokyo.")
    return zoneinfo.ZoneInfo(min(found, key=lambda name: ("/" not in name, name)))


def _describe(moment: datetime, where: str) -> str:
    offset = moment.strftime("%z")
    date = f"{_DAYS[moment.weekday()]}, {moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
    return f"{date}, {moment:%H:%M:%S} in {where} (UTC{offset[:3]}:{offset[3:5]}, week {moment.isocalendar().week})"
