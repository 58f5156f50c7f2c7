"""Which days are compared: days are UTC, and a day is complete once it is over and its late reports have had time."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Self

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Calendar:
    """`complete` is the newest complete day. The days after it are partial: their counts can only grow."""

    today: date
    complete: date

    @classmethod
    def at(cls, now: datetime, delay_hours: int) -> Self:
        utc = now.astimezone(UTC)
        return cls(utc.date(), (utc - timedelta(hours=delay_hours)).date() - DAY)

    @property
    def partial(self) -> list[date]:
        return [self.complete + step * DAY for step in range(1, (self.today - self.complete).days + 1)]

    def before(self, day: date, days: int) -> list[date]:
        """So many complete days before a day."""
        end = min(day - DAY, self.complete)
        return [end - step * DAY for step in range(days)]
