"""Refuses events that stop a protective tag on an edge without authorisation, and audits those that may."""

from collections.abc import Sequence
from typing import Any

import psycopg

from lily.lineage.edge_protection import EdgeEffect, EdgeState, edge_name, may_stop_tags, protected_edge
from lily.model.edges import EdgeEvent
from lily.model.records import Record, Refusal
from lily.store.postgres.audit.entries import AuditEntry, insert_audit
from lily.store.postgres.protection.edge_states import (
    CUT_OF_ANY_TENANT,
    TenantEdge,
    edge_parameters,
    edge_states,
    edge_states_query,
)

Pair = tuple[Record, EdgeEvent]


class EdgeProtection:
    """Runs in the caller's transaction. Validates events in the order of the log, each against the effect of those
    before it; most need no look-up."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def validate(self, events: Sequence[Pair]) -> tuple[Sequence[Pair], list[Refusal]]:
        """Returns the events to merge and the refusals of the others, and writes the audit."""
        candidates = {(event.tenant, event.statement.key) for _, event in events if may_stop_tags(event.statement)}
        states = self._states_with_tags(sorted(candidates))
        if not states:
            return events, []
        accepted: list[Pair] = []
        refused: list[Refusal] = []
        for record, event in events:
            edge = states.get((event.tenant, event.statement.key))
            effect = edge.effect_of(event) if edge else None
            if effect and not event.statement.authorised:
                refused.append(Refusal(record, event.tenant, (protected_edge(effect, event.statement.key),)))
                continue
            if effect:
                insert_audit(self._connection, [_audit_entry(event, effect)])
            if edge:
                edge.merge(event)
            accepted.append((record, event))
        return accepted, refused

    def _states_with_tags(self, edges: Sequence[TenantEdge]) -> dict[TenantEdge, EdgeState]:
        if not edges:
            return {}
        rows = self._connection.execute(edge_states_query(CUT_OF_ANY_TENANT), edge_parameters(edges)).fetchall()
        return {edge: state for edge, state in edge_states(edges, rows) if state.tags}


def _audit_entry(event: EdgeEvent, effect: EdgeEffect) -> AuditEntry:
    statement = event.statement
    detail = {"layer": statement.layer, "event": event.id, "correlation": event.correlation}
    return AuditEntry(event.tenant, statement.by or "unknown", effect, edge_name(statement.key), detail)
