"""Tests the conversion of moments to dates, also of those that the system's own conversion refuses."""

from datetime import UTC, date, datetime

import pytest

from app.gui.conversations.list_model import Days
from app.platform import local_time
from app.platform.local_time import local_date, local_datetime

DAY = 86400.0


class _OfWindows(datetime):
    """Converts local times as Windows does: from 1970 to 3000."""

    @classmethod
    def fromtimestamp(cls, seconds, zone=None):  # type: ignore[override, no-untyped-def]
        if not 0 <= seconds < 32_536_850_000:
            raise OSError(22, "Invalid argument")
        return datetime.fromtimestamp(seconds, zone)

    def timestamp(self) -> float:
        if self.tzinfo is None and (self.year < 1971 or self.year > 3000):
            raise OSError(22, "Invalid argument")
        return super().timestamp()


@pytest.fixture(autouse=True, params=["this system", "as on Windows"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "as on Windows":
        monkeypatch.setattr(local_time, "datetime", _OfWindows)


@pytest.mark.parametrize("seconds", [-1e300, -1e12, -62e9, -1.0, 0.0, 1.0, 33e9, 250e9, 1e12, 1e300])
def test_every_moment_has_a_date(seconds: float) -> None:
    assert date.min <= local_date(seconds) <= date.max
    assert datetime.min <= local_datetime(seconds, UTC).replace(tzinfo=None) <= datetime.max


def test_what_no_calendar_holds_becomes_its_first_or_last_day() -> None:
    assert local_date(1e300) == date.max
    assert local_date(-1e300) == local_date(float("nan")) == date.min


@pytest.mark.parametrize("now", [-DAY, 0.0, DAY])
def test_the_days_about_1970_have_sections_too(now: float) -> None:
    assert Days(now).section(now) == "today"
    assert Days(now).section(now - 40 * DAY) == "earlier"
