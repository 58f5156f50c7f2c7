"""Which topics a committed change goes to.

Every change of an asset goes to `metadata-events`. Those that can travel along lineage, or that access decisions depend
on, also have a compact record on `governance-events`, and those that a subscription of the tenant names one on
`subscribed-changes`, so that a flood of plain changes reaches no reaction that has no use for them.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

import orjson

from lily.bus import topics
from lily.model import governance
from lily.model.changes import differing
from lily.reactions.relay import change_events, refresh_events
from lily.reactions.relay.plain_changes import is_plain, plain_event
from lily.store.postgres.outbox.batches import Change, EdgeChange, Outbox, OutgoingChange

AT_ONCE = 2_000  # changes of edges that are held together
EDGES_TOGETHER = 20  # of a tenant in one record for reactions: few enough for their limits of records to mean something

RuleAttributes = Mapping[str, frozenset[str]]  # by tenant


class Outgoing(NamedTuple):
    topic: str
    key: bytes
    value: bytes
    committed_at: datetime
    authorised: bool = False  # a statement that follows from one whose authority was verified

    @property
    def event(self) -> dict[str, Any]:
        decoded: dict[str, Any] = orjson.loads(self.value)
        return decoded


def _outgoing(topic: str, key: bytes, event: dict[str, Any], committed_at: datetime) -> Outgoing:
    return Outgoing(topic, key, change_events.sendable(event), committed_at)


def outgoing(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    """Everything that these batches hold, table by table, each in order of position."""
    holding = outbox.tables(batches)
    for table, events in _EVENTS_OF.items():
        if table in holding:
            yield from events(outbox, batches)


def _propagated(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    for found in outbox.propagated(batches):
        key = topics.key_of(found.tenant_id, found.root)
        yield _outgoing(topics.PROPAGATED, key, change_events.propagated_event(found), found.committed_at)


def _decisions(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    for decision in outbox.decisions(batches):
        key = topics.key_of(decision.tenant_id, f"{decision.kind}/{decision.name}")
        yield _outgoing(topics.POLICIES, key, change_events.decision_event(decision), decision.committed_at)
        record = governance.decision_record(decision.kind, decision.name, decision.position)
        yield _outgoing(topics.GOVERNANCE, key, record, decision.committed_at)


def _rule_statements(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    for statement in outbox.rule_statements(batches):
        key = topics.key_of(statement.tenant_id, statement.asset_id)
        said = _outgoing(topics.ASSETS, key, change_events.statement_event(statement), statement.committed_at)
        yield said._replace(authorised=bool(statement.body.get("authorised")))


def _incident_statements(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    for stated in outbox.incident_statements(batches):
        key = topics.key_of(stated.tenant_id, stated.body["external_id"])
        yield _outgoing(topics.INCIDENTS, key, change_events.incident_event(stated), stated.committed_at)


def _announcements(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    for announcement in outbox.announcements(batches):
        key = topics.key_of(announcement.tenant_id, announcement.body["root"])
        event = change_events.announcement_event(announcement)
        yield _outgoing(topics.NOTIFICATIONS, key, event, announcement.committed_at)
        if announcement.body["change"] == governance.INCIDENT:
            record = governance.incident_record(announcement.body["root"], announcement.position)
            yield _outgoing(topics.GOVERNANCE, key, record, announcement.committed_at)


def _dead_letters(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    for letter in outbox.dead_letters(batches):
        key = topics.key_of(letter["tenant_id"], letter["topic"])
        yield _outgoing(topics.DEAD_LETTERS, key, change_events.dead_letter_event(letter), letter["refused_at"])


def _edges(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    """Each for those who follow lineage, and several together for reactions, which compute from committed state."""
    changes = outbox.edge_changes(batches)
    while group := list(islice(changes, AT_ONCE)):
        by_tenant: defaultdict[str, list[EdgeChange]] = defaultdict(list)
        for edge in group:
            by_tenant[edge.tenant_id].append(edge)
            key = topics.key_of(edge.tenant_id, edge.to_id)
            yield _outgoing(topics.LINEAGE, key, change_events.edge_event(edge), edge.committed_at)
        for tenant, edges in by_tenant.items():
            for begin in range(0, len(edges), EDGES_TOGETHER):
                some = edges[begin : begin + EDGES_TOGETHER]
                changed = [
                    governance.EdgeChanged(edge.from_id, edge.to_id, edge.position, _correlation(edge.causes))
                    for edge in some
                ]
                key = topics.key_of(tenant, some[0].to_id)
                yield _outgoing(topics.GOVERNANCE, key, governance.edges_record(changed), some[0].committed_at)


def _refresh_requests(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    for run in outbox.refresh_requests(batches):
        key = topics.key_of(run.tenant_id, run.data_source)
        yield _outgoing(topics.SCRAPING_JOBS, key, refresh_events.request_event(run), run.requested_at)


def _refresh_ends(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    for end in outbox.refresh_ends(batches):
        event = refresh_events.outcome_event(end)
        yield _outgoing(topics.INCIDENTS, event.key, event.as_cloudevent(), end.finished_at)


def _changes(outbox: Outbox, batches: list[int]) -> Iterator[Outgoing]:
    # Read after the batches were chosen: all of their changes were committed before. A rule that comes later looks at
    # the whole graph, so nothing that is not routed here is missed.
    named, subscriptions = outbox.rule_attributes(), outbox.subscribed_changes()
    for group in outbox.changes(batches):
        members = _members(outbox, group)
        for row in group:
            changed = differing(row.before, row.after)
            rule_attributes, wanted = named.get(row.tenant_id, governance.NOTHING), subscriptions.get(row.tenant_id)
            if not wanted and is_plain(row, changed) and rule_attributes.isdisjoint(changed):
                value = plain_event(row, changed)
                if len(value) <= change_events.MAX_EVENT_BYTES:
                    key = topics.key_of(row.tenant_id, row.asset_id)
                    yield Outgoing(topics.METADATA, key, value, row.committed_at)
                    continue
            yield from _in_full(row.decoded(), changed, rule_attributes, wanted, members)


def _in_full(
    change: Change,
    changed: Collection[str],
    rule_attributes: frozenset[str],
    wanted: Collection[str] | None,
    members: Collection[str],
) -> Iterator[Outgoing]:
    """The records of one change. `changed` are the fields that differ, `wanted` the changes that subscriptions of its
    tenant name."""
    key = topics.key_of(change.tenant_id, change.asset_id)
    event = change_events.change_event(change, changed)
    yield _outgoing(topics.METADATA, key, event, change.committed_at)
    if concerns_governance(change, changed, rule_attributes, members):
        yield _outgoing(topics.GOVERNANCE, key, _record(change, changed, rule_attributes), change.committed_at)
    if wanted and (record := change_events.subscribed_record(event, wanted)) is not None:
        yield _outgoing(topics.SUBSCRIBED, key, record, change.committed_at)


def _members(outbox: Outbox, changes: Sequence[Change | OutgoingChange]) -> set[str]:
    """The new ones among the assets that are in the lineage graph: its edges may come before their assets."""
    new = [
        (change.tenant_id, change.asset_id)
        for change in changes
        if change.before is None and governance.needs_graph(change.after)
    ]
    return outbox.in_graph(new) if new else set()


def concerns_governance(
    change: Change, changed: Collection[str], rule_attributes: frozenset[str], members: Collection[str]
) -> bool:
    """`changed` are the fields that differ."""
    if change.before is None:
        return not governance.needs_graph(change.after) or change.asset_id in members
    if governance.concerns_tags(changed):
        return True
    return change.layer != "enriched" and not rule_attributes.isdisjoint(changed)


def _record(change: Change, changed: Collection[str], rule_attributes: frozenset[str]) -> governance.Record:
    stated = governance.concerning(change.after if change.before is None else changed, rule_attributes)
    return governance.asset_record(change.asset_id, change.layer, stated, change.position, _correlation(change.causes))


def _correlation(causes: Sequence[Mapping[str, str]]) -> str:
    """Of the write that caused it, the newest where there were several: a receipt is for a write."""
    return causes[-1].get("correlation", "") if causes else ""


# In this order: by the names of `tables_of_batches.sql`.
_EVENTS_OF: Mapping[str, Callable[[Outbox, list[int]], Iterator[Outgoing]]] = {
    "changes": _changes,
    "edge_changes": _edges,
    "propagated": _propagated,
    "decisions": _decisions,
    "rule_statements": _rule_statements,
    "incident_statements": _incident_statements,
    "announcements": _announcements,
    "refresh_requests": _refresh_requests,
    "refresh_ends": _refresh_ends,
    "dead_letters": _dead_letters,
}
