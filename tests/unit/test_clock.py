"""Timestamps are UTC with microseconds in fixed width, so that text order is time order."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.model import clock
from lily.model.envelopes import read_time
from lily.model.errors import Refused

MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(MOMENTS, MOMENTS)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    assert (clock.stamp(one) < clock.stamp(other)) == (one < other)
    assert len(clock.stamp(one)) == 27


@given(MOMENTS)
def test_a_stamp_reads_back_as_itself(moment: datetime) -> None:
    assert clock.normalise_time(clock.stamp(moment)) == clock.stamp(moment)
    assert clock.parse(clock.stamp(moment)) == moment


@pytest.mark.parametrize(
    ("given_time", "expected"),
    [
        ("2026-11-15T08:36:00Z", "2026-11-15T08:36:00.000000Z"),
        ("2026-11-15t09:36:00.5+01:00", "2026-11-15T08:36:00.500000Z"),
        ("2026-11-15 03:06:00.123456789-05:30", "2026-11-15T08:36:00.123456Z"),
    ],
)
def test_a_time_with_a_zone_is_converted_to_utc(given_time: str, expected: str) -> None:
    assert clock.normalise_time(given_time) == expected


@pytest.mark.parametrize(
    "given_time",
    [
        "2026-11-15T08:36:00",  # no zone: whose morning?
        "2026-11-15",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "0001-01-01T00:00:00+05:00",
        "2026-11-15T08:36:00+99:00",
        "٢٠٢٦-11-15T08:36:00Z",
        1763195760,
    ],
)
def test_an_ambiguous_or_invalid_time_is_refused(given_time: object) -> None:
    with pytest.raises(Refused) as refused:
        read_time(given_time, received="2026-11-15T08:36:00.000000Z")
    assert refused.value.problems[0].code == "INVALID_TIME"


def test_a_time_beyond_the_allowed_skew_is_refused() -> None:
    received = "2026-11-15T08:36:00.000000Z"
    assert read_time("2026-11-15T08:41:00Z", received=received) == "2026-11-15T08:41:00.000000Z"
    with pytest.raises(Refused, match="TIME_IN_FUTURE"):
        read_time("2026-11-15T08:41:00.000001Z", received=received)


def test_an_event_without_a_time_gets_the_time_of_receipt() -> None:
    assert read_time(None, received="2026-11-15T08:36:00.000000Z") == "2026-11-15T08:36:00.000000Z"


@pytest.mark.parametrize(
    "zone", [UTC, timezone(timedelta(0)), timezone(timedelta(hours=5, minutes=45)), ZoneInfo("Europe/Rome")]
)
def test_a_stamp_is_in_utc_whatever_the_zone_of_the_moment(zone: tzinfo) -> None:
    moment = datetime(2026, 11, 15, 8, 36, 0, 5, tzinfo=UTC)
    assert clock.stamp(moment.astimezone(zone)) == "2026-11-15T08:36:00.000005Z"
