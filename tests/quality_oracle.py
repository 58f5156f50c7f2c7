"""What quality policies should find, worked out the slow way: from every usage event, day by day, in fractions.

It shares no code with `lily.quality`. It knows the rules that usage decides.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple


class Used(NamedTuple):
    """A usage event as its sender states it."""

    asset: str
    at: datetime
    queries: int
    event_id: str = ""


def daily(events: Iterable[Used]) -> dict[str, dict[date, int]]:
    """Queries by asset and UTC day. Of events of an asset with the same id the first one counts."""
    seen: set[tuple[str, str]] = set()
    counts: dict[str, dict[date, int]] = {}
    for event in events:
        if event.event_id and (event.asset, event.event_id) in seen:
            continue
        seen.add((event.asset, event.event_id))
        days = counts.setdefault(event.asset, {})
        day = event.at.astimezone(UTC).date()
        days[day] = days.get(day, 0) + event.queries
    return counts


def causes(policy: dict[str, Any], counts: dict[str, dict[date, int]], asset: str, now: datetime) -> set[str]:
    """Of one policy about one asset that exists since long ago and has nothing downstream."""
    mine = counts.get(asset, {})
    threshold, length = policy.get("threshold", 15), policy.get("days", 7)
    complete = (now - timedelta(hours=policy.get("delay_hours", 1))).date() - timedelta(days=1)
    partial = [complete + timedelta(days=n) for n in range(1, 9) if complete + timedelta(days=n) <= now.date()]

    def compare(day: date) -> int | None:
        """1 if the day is too high, -1 if it is too low, 0 if it is usual; None if that is unknown."""
        before = [complete - timedelta(days=n) for n in range(1 if day == complete else 0, length + 1)][:length]
        if not mine or min(mine) > min(before):
            return None
        mean = Fraction(sum(mine.get(one, 0) for one in before), length)
        if mean == 0:
            return None
        change = (Fraction(mine.get(day, 0)) - mean) / mean * 100
        return 1 if change > threshold else -1 if change < -threshold else 0

    found: set[str] = set()
    kind = policy["policy_type"]
    if kind == "query_spike" and any(mine.get(day, 0) > threshold for day in [complete, *partial]):
        found.add("spike")
    if kind == "query_count_deviation" and any(compare(day) == 1 for day in [complete, *partial]):
        found.add("above")
    recovered = any(compare(day) in {0, 1} for day in partial)
    if kind in {"query_count_deviation", "traffic_drop"} and compare(complete) == -1 and not recovered:
        found.add("below")
    if kind in {"unused_for_x_days", "orphaned_asset"}:
        reports = [day for days in counts.values() for day in days]
        start = complete - timedelta(days=threshold)
        known = bool(reports) and min(reports) <= start < max(reports)
        if known and not any(day > start and queries > 0 for day, queries in mine.items()):
            found.add("unused" if kind == "unused_for_x_days" else "orphaned")
    return found
