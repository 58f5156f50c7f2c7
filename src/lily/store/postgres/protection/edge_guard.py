"""Keeps those who may not take a protective tag away from deleting, blocking or masking the edge it passes."""

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from lily.model.edges import EdgeEvent, EdgeKey
from lily.model.records import Record, Refusal
from lily.store.postgres.protection.conducting_edges import (
    CUT_OF_ANY,
    Conducting,
    answered,
    asked,
    conducting_query,
    named,
    protected,
    takes_away,
)
from lily.store.postgres.queries import query

Pair = tuple[Record, EdgeEvent]


class EdgeGuard:
    """Works within the transaction of whoever calls it. Events are judged in the order of the log, each by what those
    before it have left; most need no look at all."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def allowed(self, events: Sequence[Pair]) -> tuple[Sequence[Pair], list[Refusal]]:
        """The events to apply, and the refusals of the others. What is taken away rightly leaves a trace."""
        suspects = {(event.tenant, event.statement.key) for _, event in events if takes_away(event.statement)}
        conducting = self._conducting(sorted(suspects))
        if not conducting:
            return events, []
        taken: list[Pair] = []
        refused: list[Refusal] = []
        for record, event in events:
            edge = conducting.get((event.tenant, event.statement.key))
            effect = edge.lost_by(event) if edge else None
            if effect and not event.statement.authorised:
                refused.append(Refusal(record, event.tenant, (protected(effect, event.statement.key),)))
                continue
            if effect:
                self._audit(event, effect)
            if edge:
                edge.take(event)
            taken.append((record, event))
        return taken, refused

    def _conducting(self, edges: Sequence[tuple[str, EdgeKey]]) -> dict[tuple[str, EdgeKey], Conducting]:
        rows = self._connection.execute(conducting_query(CUT_OF_ANY), asked(edges)).fetchall() if edges else []
        return {edge: conducting for edge, conducting in answered(edges, rows) if conducting.tags}

    def _audit(self, event: EdgeEvent, effect: str) -> None:
        entry = {
            "tenant": event.tenant,
            "principal": event.statement.by or "unknown",
            "action": effect,
            "entity": named(event.statement.key),
            "detail": Jsonb({"layer": event.statement.layer, "event": event.id, "correlation": event.correlation}),
        }
        self._connection.execute(query("protection/record_edge_audit"), entry)
