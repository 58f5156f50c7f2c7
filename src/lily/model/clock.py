"""Timestamps: UTC with microseconds in fixed width, so that text order is time order.

A *clock* is `TIME/EVENT_ID`. The event's id breaks ties within a microsecond, so any two events have the same order in
Python, in Spark and in PostgreSQL (with COLLATE "C").
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_RFC3339 = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,12}))?(?:([Zz])|([+-])(\d{2}):(\d{2}))", re.ASCII
)
_CANONICAL = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z", re.ASCII)


def stamp(moment: datetime) -> str:
    """`2026-11-15T08:36:00.123456Z`, always 27 characters."""
    text = moment.isoformat(timespec="microseconds")
    if not text.endswith("+00:00"):
        text = moment.astimezone(UTC).isoformat(timespec="microseconds")
    return text[:26] + "Z"


def now() -> str:
    return stamp(datetime.now(UTC))


def clock(time: str, event_id: str) -> str:
    return f"{time}/{event_id}"


def time_of(clock: str) -> str:
    return clock.partition("/")[0]


def normalise_time(text: str) -> str:
    """An RFC 3339 time with a zone, in fixed width; digits below µs are cut. Raises ValueError for other text."""
    if _CANONICAL.fullmatch(text):
        require_second(text[:19])
        return text
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError("expected a time with a zone such as 2026-11-15T08:36:00Z or 2026-11-15T09:36:00.5+01:00")
    day, clock_time, fraction, zulu, sign, hours, minutes = match.groups()
    moment = datetime.fromisoformat(f"{day}T{clock_time}.{(fraction or '')[:6]:0<6}+00:00")
    if not zulu:
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        if offset >= timedelta(days=1):
            raise ValueError("the zone's offset from UTC must be less than a day")
        try:
            moment = moment - offset if sign == "+" else moment + offset
        except OverflowError as error:
            raise ValueError("the year must be between 1 and 9999") from error
    return stamp(moment)


@lru_cache(maxsize=4096)  # events that arrive together state few different seconds
def require_second(text: str) -> None:
    """Raises ValueError for digits that are not a date and a time."""
    datetime.fromisoformat(text)


def milliseconds(time: str) -> str:
    """The time cut to milliseconds, Kafka's resolution. Compare it only with another one of the same length."""
    return time[:23]


def parse(time: str) -> datetime:
    return datetime.fromisoformat(time)


@lru_cache(maxsize=4096)  # Kafka's timestamps are in milliseconds, so neighbouring records share one
def stamp_micros(micros: int) -> str:
    return stamp(datetime.fromtimestamp(micros / 1_000_000, UTC))
