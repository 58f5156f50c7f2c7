"""Validates and authorises the usage events of one request, each by itself."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Call
from lily.api.ingest.records import Record
from lily.api.reads.as_of import skew_of
from lily.bus import topics
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.model.usage import UsageEvent, read_usage_item
from lily.observe import traces

CHUNK = 500  # events that are validated before other requests can run


@dataclass(slots=True)
class UsageIntake:
    """The events to append, and why others were refused, by row: the first is 1."""

    events: dict[int, UsageEvent] = field(default_factory=dict)
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    rejected: int = 0

    def reject(self, row: int, *problems: Problem) -> None:
        self.rejected += 1
        self.problems += [(row, problem) for problem in problems]

    def errors(self, limit: int) -> list[dict[str, Any]]:
        """Of the first rows, so many."""
        in_order = sorted(self.problems, key=lambda found: found[0])[:limit]
        return [{"row": row, **problem.as_dict()} for row, problem in in_order]


async def usage_intake(call: Call, items: Sequence[Any]) -> UsageIntake:
    intake, received, trace = UsageIntake(), clock.now(), traces.traceparent()
    for row, item in enumerate(items, 1):
        if row % CHUNK == 0:
            await asyncio.sleep(0)
        try:
            intake.events[row] = read_usage_item(
                item,
                tenant=call.tenant,
                received=received,
                skew=skew_of(call),
                correlation=call.correlation,
                trace=trace,
            )
        except Refused as refused:
            intake.reject(row, *refused.problems)
    denied = await denied_references(call, "WRITE", {event.asset_id for event in intake.events.values()})
    for row in [row for row, event in intake.events.items() if event.asset_id in denied]:
        event = intake.events.pop(row)
        intake.reject(row, Problem("FORBIDDEN", denied[event.asset_id].reason, event.asset_id))
    return intake


def usage_record(event: UsageEvent) -> Record:
    return Record(topics.USAGE, "hot", event.key, orjson.dumps(event.as_cloudevent()), propagates=False)
