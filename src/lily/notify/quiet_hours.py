"""Quiet hours: whether a moment falls into them, and when they end.

They are read from the clock on the wall of their time zone. Where the clock is set back, an hour of the wall occurs
twice and is quiet twice; where it is set forward, an end that does not occur comes after the gap.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from lily.notify.events import Severity, at_least
from lily.notify.subscriptions import DAYS, QuietHours

_MOST_WINDOWS = 15  # that follow each other without a gap: two weeks, then something is wrong


def quiet_until(hours: QuietHours | None, severity: Severity, now: datetime) -> datetime | None:
    """When the quiet hours end in which `now` lies, in UTC; None if it lies in none, or is too severe to wait."""
    if hours is None or (hours.except_severity and at_least(severity, hours.except_severity)):
        return None
    until: datetime | None = None
    for _ in range(_MOST_WINDOWS):
        end = _end(hours, until or now)
        if end is None:
            break
        until = end
    return until


def _end(hours: QuietHours, now: datetime) -> datetime | None:
    zone = ZoneInfo(hours.timezone)
    wall = now.astimezone(zone).replace(tzinfo=None)
    for begins, ends in _windows(hours, wall.date()):
        if begins <= wall < ends:
            return _instant(ends, zone, now)
    return None


def _windows(hours: QuietHours, today: date) -> Iterator[tuple[datetime, datetime]]:
    """Those that begin yesterday or today, by the wall clock."""
    begin, end = time.fromisoformat(hours.begin), time.fromisoformat(hours.end)
    for day in (today - timedelta(days=1), today):
        if not hours.days or DAYS[day.weekday()] in hours.days:
            last = day if begin < end else day + timedelta(days=1)
            yield datetime.combine(day, begin), datetime.combine(last, end)


def _instant(wall: datetime, zone: ZoneInfo, after: datetime) -> datetime:
    """The first moment after the given one at which the clock shows `wall`."""
    first = wall.replace(tzinfo=zone).astimezone(UTC)
    return first if first > after else wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
