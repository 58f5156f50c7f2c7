"""Quiet hours by the clock on the wall, also where it is changed."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from lily.notify.quiet_hours import quiet_until
from lily.notify.subscriptions import DAYS, QuietHours


def hours(begin: str, end: str, zone: str = "Europe/Berlin", **more: object) -> QuietHours:
    return QuietHours.model_validate({"timezone": zone, "from": begin, "to": end, **more})


def until(quiet: QuietHours, at: str) -> str | None:
    """In the zone of the quiet hours."""
    zone = ZoneInfo(quiet.timezone)
    found = quiet_until(quiet, "info", datetime.fromisoformat(at).replace(tzinfo=zone))
    return None if found is None else f"{found.astimezone(zone):%Y-%m-%dT%H:%M}"


def test_a_night_ends_in_the_morning() -> None:
    night = hours("22:00", "07:00")
    assert until(night, "2026-01-10T23:30") == "2026-01-11T07:00"
    assert until(night, "2026-01-11T06:59") == "2026-01-11T07:00"
    assert until(night, "2026-01-11T07:00") is None
    assert until(night, "2026-01-11T21:59") is None


def test_days_are_those_on_which_the_hours_begin() -> None:
    friday = hours("22:00", "07:00", days=["fri"])
    assert until(friday, "2026-01-10T03:00") == "2026-01-10T07:00"  # a Saturday
    assert until(friday, "2026-01-09T03:00") is None


def test_whole_days_that_follow_each_other_are_one_time() -> None:
    weekend = hours("00:00", "00:00", days=["sat", "sun"])
    assert until(weekend, "2026-01-10T12:00") == "2026-01-12T00:00"


def test_what_is_severe_enough_does_not_wait() -> None:
    night = hours("22:00", "07:00", except_severity="critical")
    at = datetime(2026, 1, 10, 23, tzinfo=UTC)
    assert quiet_until(night, "critical", at) is None
    assert quiet_until(night, "warning", at) is not None
    assert quiet_until(None, "info", at) is None


def test_an_hour_that_occurs_twice_is_quiet_twice() -> None:
    night, zone = hours("02:00", "02:30"), ZoneInfo("Europe/Berlin")
    for fold in (0, 1):
        at = datetime(2026, 10, 25, 2, 15, tzinfo=zone, fold=fold)
        found = quiet_until(night, "info", at)
        assert found == at.astimezone(UTC) + timedelta(minutes=15)


def test_an_end_that_does_not_occur_comes_after_the_gap() -> None:
    assert until(hours("01:00", "02:30"), "2026-03-29T01:30") == "2026-03-29T03:30"


def test_hours_without_an_end_are_refused() -> None:
    with pytest.raises(ValidationError):
        hours("08:00", "08:00")
    with pytest.raises(ValidationError):
        hours("08:00", "08:00", days=list(DAYS))


CLOCK = st.builds(lambda hour, minute: f"{hour:02}:{minute:02}", st.integers(0, 23), st.integers(0, 59))
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])


@given(CLOCK, CLOCK, ZONES, st.lists(st.sampled_from(DAYS), unique=True, max_size=6), MOMENTS)
@example("00:00", "00:00", "UTC", ["sat", "sun"], datetime(2026, 1, 10, tzinfo=UTC))
def test_the_end_is_later_and_no_longer_quiet(begin: str, end: str, zone: str, days: list[str], now: datetime) -> None:
    if begin == end and not days:
        return
    quiet = hours(begin, end, zone, days=days)
    found = quiet_until(quiet, "info", now)
    if found is not None:
        assert now < found < now + timedelta(days=9)
        assert quiet_until(quiet, "info", found) is None
