"""The at-risk reaction: marks what incidents put at risk, and clears it when they are resolved.

An event only names what changed: an incident, an edge or a parent. What is at risk is computed from committed state, so
the order of events does not matter, and a repeated one changes nothing.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from prometheus_client import CollectorRegistry, Counter
from psycopg import Connection

from lily.bus import topics
from lily.model.governance import ASSET, EDGE, EDGES, INCIDENT, edges_of
from lily.model.held import PARENT_ID
from lily.reactions.base import Event
from lily.reactions.metrics import run_seconds
from lily.store.postgres.at_risk.spreading import AT_RISK, RiskMarks, TenantRisks


class AtRisk:
    """A reaction. Its effects are rows of `at_risk`, and announcements in the outbox."""

    name = AT_RISK
    topics = (topics.GOVERNANCE,)

    def __init__(self, registry: CollectorRegistry) -> None:
        self._assets = Counter(
            "lily_at_risk_assets", "Assets that came under risk or are no longer at risk", ["change"], registry=registry
        )
        self._seconds = run_seconds(
            "lily_at_risk_seconds", "Time a run of the at-risk reaction took for one tenant", registry
        )
        self._risks: TenantRisks | None = None

    def open(self, connection: Connection[Any]) -> None:
        self._risks = TenantRisks(connection)

    def handle(self, tenant: str, events: Sequence[Event]) -> None:
        assert self._risks is not None  # noqa: S101 - the runner opens a reaction before it handles anything
        marks = marks_of(event.value for event in events)
        # A tenant without open incidents pays for this query only. Read after the events: an incident that is opened
        # later is computed from the graph as it is then.
        if not marks.any or not (marks.incidents or self._risks.concerns(tenant)):
            return
        began = time.monotonic()
        result = self._risks.spread(tenant, marks)
        self._assets.labels("at_risk").inc(result.came)
        self._assets.labels("clear").inc(result.went)
        self._seconds.observe(time.monotonic() - began)


def marks_of(values: Iterable[bytes]) -> RiskMarks:
    """What changed in a tenant, from records of `governance-events`. A deletion changes nothing: a deleted asset still
    conducts what it passed on."""
    marks = RiskMarks()
    for value in values:
        record = orjson.loads(value)
        if record["kind"] == INCIDENT:
            marks.incidents.add(record["id"])
        elif record["kind"] in {EDGE, EDGES}:
            marks.edges.update((edge.from_id, edge.to_id) for edge in edges_of(record))
        elif record["kind"] == ASSET and PARENT_ID in record["changed"]:
            marks.moved.add(record["id"])
    return marks
