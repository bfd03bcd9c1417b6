"""The clock: date, weekday and time here or in a named zone. Knows nothing of the model that asks.

The names of days and months are written out here: what `strftime` gives depends on the process's locale.
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
    """The present moment in `zone`, or in the machine's own one."""
    return datetime.now(UTC).astimezone(zone)


class Clock:
    """Says what the date and the time are. `now` gives the moment in a zone, or in the user's for None."""

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
        """Gives the moment in one line. Raises ToolError for a zone that is not known."""
        wanted = str(arguments.get("zone") or "").strip()
        if not wanted or wanted.lower() in ("local", "here"):
            return _told(self._now(None), "the user's time zone")
        # Zones are read from files.
        zone = await asyncio.to_thread(_zone, wanted)
        return _told(self._now(zone), str(zone))


def _zone(wanted: str) -> tzinfo:
    if wanted.upper() in ("UTC", "GMT", "Z"):
        return UTC
    try:
        return zoneinfo.ZoneInfo(wanted.replace(" ", "_"))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        pass  # not there, no name at all, or the name of a folder
    # Models write “Tokyo” or “america/new york”, too.
    known = zoneinfo.available_timezones()
    if not known:
        # Windows has no such table of its own; the package tzdata brings one.
        raise ToolError(
            "This machine has no table of time zones (on Windows it comes with the Python package tzdata), so only "
            "the user's own time and UTC can be told."
        )
    plain = wanted.replace(" ", "_").lower()
    found = sorted(name for name in known if plain in (name.lower(), name.rpartition("/")[2].lower()))
    if not found:
        raise ToolError(f"There is no time zone “{wanted[:60]}”: name one such as Europe/Berlin or Asia/Tokyo.")
    return zoneinfo.ZoneInfo(min(found, key=lambda name: ("/" not in name, name)))


def _told(moment: datetime, where: str) -> str:
    offset = moment.strftime("%z")
    date = f"{_DAYS[moment.weekday()]}, {moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
    return f"{date}, {moment:%H:%M:%S} in {where} (UTC{offset[:3]}:{offset[3:5]}, week {moment.isocalendar().week})"
