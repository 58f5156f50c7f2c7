"""The propagation reaction: marks what changed, and brings what is derived in line with what is committed.

An event only says *that* something changed; the result is computed from committed state. So the order of events does
not matter, and a repeated one changes nothing.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from prometheus_client import CollectorRegistry, Counter
from psycopg import Connection

from lily.bus import topics
from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.model.assets import tag_key
from lily.model.governance import (
    ASSET,
    EDGE,
    EDGES,
    RULE,
    SETTING,
    TAG,
    concerns_tags,
    edges_of,
    rule_attributes_changed,
)
from lily.reactions.base import Event
from lily.reactions.metrics import run_seconds
from lily.store.postgres.propagation.propagator import PAGE, PROPAGATION, TenantPropagation


class Propagation:
    """A reaction. Its effects are derived tags and attributes, receipts, and rows of the outbox."""

    name = PROPAGATION
    topics = (topics.GOVERNANCE,)

    def __init__(self, registry: CollectorRegistry) -> None:
        self._marks = Counter("lily_propagation_marks", "Changes that propagation looked at", registry=registry)
        self._reached = Counter(
            "lily_propagation_reached", "Assets that gained or lost a derived tag", registry=registry
        )
        self._stated = Counter("lily_propagation_statements", "Values that rules set or took back", registry=registry)
        self._seconds = run_seconds(
            "lily_propagation_seconds", "Time a run of propagation took for one tenant, or a page of it", registry
        )
        self._propagation: TenantPropagation | None = None

    def open(self, connection: Connection[Any]) -> None:
        self._propagation = TenantPropagation(connection)

    def handle(self, tenant: str, events: Sequence[Event]) -> bool:
        assert self._propagation is not None  # noqa: S101 - the runner opens a reaction before it handles anything
        # Read after the events: all that they are about was committed before. A rule that comes later looks at the
        # whole graph, so nothing that is dropped here is missed.
        marks = marks_of((event.value for event in events), self._propagation.rule_attributes(tenant))
        if not marks.any:
            return False
        began = time.monotonic()
        result = self._propagation.run(tenant, marks, PAGE)
        if result.finished:
            self._marks.inc(len(marks.assets) + len(marks.edges))
        self._reached.inc(result.reached)
        self._stated.inc(result.stated)
        self._seconds.observe(time.monotonic() - began)
        return not result.finished


def marks_of(values: Iterable[bytes], rule_attributes: frozenset[str]) -> Marks:
    """What is dirty in a tenant, from records of `governance-events`."""
    marks = Marks()
    for value in values:
        record = orjson.loads(value)
        kind, position, correlation = record["kind"], record["position"], record.get("correlation", "")
        if kind == ASSET:
            changed = frozenset(record["changed"])
            tags = concerns_tags(changed)
            attributes = rule_attributes_changed(changed, record["layer"], rule_attributes)
            if tags or attributes:
                marks.assets.append(AssetMark(record["id"], position, correlation, tags=tags, attributes=attributes))
        elif kind in {EDGE, EDGES}:
            marks.edges += (EdgeMark(*edge) for edge in edges_of(record))
        elif kind == TAG:
            marks.tags.add(tag_key(record["name"]))
        elif kind == RULE:
            marks.rules.add(tag_key(record["name"]))
        elif kind == SETTING:
            marks.deletion = True
    return marks
