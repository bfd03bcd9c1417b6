"""The clock: the user's time, another zone's, and a sentence where a zone is not to be had."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from app.tools.base import ToolError
from app.tools.clock import Clock, system_now

MOMENT = datetime(2026, 1, 1, 23, 30, 5, tzinfo=UTC)


def _now(zone: tzinfo | None) -> datetime:
    return MOMENT.astimezone(zone or timezone(timedelta(hours=-3, minutes=-30)))


async def test_the_users_own_time() -> None:
    told = await Clock(_now).call({})
    assert told == "Thursday, 1 January 2026, 20:00:05 in the user's time zone (UTC-03:30, week 1)"


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "Tokyo", "asia/tokyo"])
async def test_another_zone_by_the_names_that_models_write(zone: str) -> None:
    told = await Clock(_now).call({"zone": zone})
    assert told == "Friday, 2 January 2026, 08:30:05 in Asia/Tokyo (UTC+09:00, week 1)"


@pytest.mark.parametrize("zone", ["Nowhere/Atall", "../../etc/passwd", "/etc/localtime", "Europe", "a\0b", "x" * 5_000])
async def test_no_zone_is_a_sentence(zone: str) -> None:
    with pytest.raises(ToolError, match="no time zone") as raised:
        await Clock(_now).call({"zone": zone})
    assert len(str(raised.value)) < 200


async def test_a_machine_without_zones_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(key: str) -> zoneinfo.ZoneInfo:
        raise zoneinfo.ZoneInfoNotFoundError(key)

    monkeypatch.setattr(zoneinfo, "ZoneInfo", none)
    monkeypatch.setattr(zoneinfo, "available_timezones", set)
    with pytest.raises(ToolError, match="tzdata"):
        await Clock(_now).call({"zone": "Europe/Berlin"})
    assert "23:30:05" in await Clock(_now).call({"zone": "utc"})


async def test_the_real_clock_runs() -> None:
    before = datetime.now(UTC)
    assert before <= system_now(None) <= datetime.now(UTC)
    assert str(before.year) in await Clock().call({"zone": "UTC"})
