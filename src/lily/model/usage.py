"""Usage events: how many queries used an asset, and when.

The counts of a day are a sum, so unlike statements a usage event is not idempotent by itself. A sender that may send an
event twice gives it an `event_id`: of events of one asset with the same id the first one counts.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from lily.model import clock, ids
from lily.model.envelopes import FUTURE_SKEW, read_envelope, read_time
from lily.model.errors import Problem, Refused
from lily.model.events import LogEvent
from lily.model.suggestions import hint
from lily.model.values import MAX_QUALIFIED_NAME, Checker

USAGE_REPORTED = "lily.usage.reported"
MAX_QUERIES = 10**9  # per event: the sum of any day fits into a bigint
MAX_EVENT_ID = 128
KEEP_DAYS = 400  # daily counts are kept so long; an older event would be deleted at once
_ITEM = ("asset_id", "query_count", "timestamp", "event_id")


@dataclass(frozen=True, slots=True)
class UsageEvent(LogEvent):
    """`time` is when the queries ran. `event_id` is the sender's, empty if it gives none."""

    asset_id: str
    query_count: int
    event_id: str = ""

    @property
    def key(self) -> bytes:
        """The record's key, which keeps all events of an asset in one partition."""
        return f"{self.tenant}/{self.asset_id}".encode()

    @property
    def day(self) -> date:
        """The UTC day that it counts for, however late it arrives."""
        return date.fromisoformat(self.time[:10])

    def as_cloudevent(self) -> dict[str, Any]:
        data: dict[str, Any] = {"asset_id": self.asset_id, "query_count": self.query_count}
        return self.enclose(
            USAGE_REPORTED, self.asset_id, data | ({"event_id": self.event_id} if self.event_id else {})
        )


def read_usage_item(
    item: Any, *, tenant: str, received: str, skew: timedelta = FUTURE_SKEW, correlation: str = "", trace: str = ""
) -> UsageEvent:
    """The event for one item of a request. Raises Refused with every problem."""
    if not isinstance(item, dict):
        raise Refused(Problem("INVALID_TYPE", "an event must be a JSON object", ""))
    for name in item.keys() - set(_ITEM):
        raise Refused(Problem("UNKNOWN_FIELD", f"unknown field `{str(name)[:64]}`; {hint(str(name), _ITEM)}", name))
    asset_id, queries, event_id = _read_data(item, tenant)
    time = _checked_age(read_time(item.get("timestamp"), received=received, skew=skew), received)
    identity = _derived_id(tenant, asset_id, event_id) if event_id else ids.event_id()
    return UsageEvent(identity, time, tenant, asset_id, queries, event_id, correlation=correlation, trace=trace)


def read_usage_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> UsageEvent:
    """Validates a decoded CloudEvent. Raises Refused with every problem found."""
    envelope, data = read_envelope(event, USAGE_REPORTED, received=received, skew=skew)
    asset_id, queries, event_id = _read_data(data, envelope.tenant)
    time = _checked_age(envelope.time, received)
    return UsageEvent(
        envelope.id,
        time,
        envelope.tenant,
        asset_id,
        queries,
        event_id,
        correlation=envelope.correlation,
        trace=envelope.trace,
    )


def _read_data(data: Mapping[str, Any], tenant: str) -> tuple[str, int, str]:
    checker = Checker()
    asset = checker.name(data.get("asset_id"), "asset_id", MAX_QUALIFIED_NAME)
    given = data.get("event_id")
    event_id = "" if given is None else checker.name(given, "event_id", MAX_EVENT_ID)
    queries = data.get("query_count")
    if not isinstance(queries, int) or isinstance(queries, bool) or not 0 <= queries <= MAX_QUERIES:
        described = f"query_count must be a whole number from 0 to {MAX_QUERIES}, not {str(queries)[:32]}"
        checker.refuse("INVALID_VALUE", described, "query_count")
        queries = 0
    if asset is None or event_id is None or checker.problems:
        raise Refused(*checker.problems)
    return ids.resolve(tenant, asset), queries, event_id


def _checked_age(time: str, received: str) -> str:
    oldest = clock.parse(received).date() - timedelta(days=KEEP_DAYS)
    if date.fromisoformat(time[:10]) <= oldest:
        described = f"time {time} is more than {KEEP_DAYS} days ago; usage is kept no longer than that"
        raise Refused(Problem("TIME_TOO_OLD", described, "timestamp"))
    return time


def _derived_id(tenant: str, asset_id: str, event_id: str) -> str:
    """The same event has the same id in the log, so that any consumer can drop repeats."""
    return f"usage-{hashlib.sha256(f'{tenant}/{asset_id}/{event_id}'.encode()).hexdigest()[:32]}"
