"""Decisions about what is pending: audited, and queued for `policy-events`."""

from collections.abc import Sequence
from functools import cache

from psycopg import sql
from psycopg.types.json import Jsonb

from lily.model.access import Principal
from lily.store.postgres.protection.pending import PendingItem
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

KIND = "protection"  # of these decisions, on `policy-events`


async def record_decisions(
    database: Database, principal: Principal, items: Sequence[PendingItem], done: str, correlation: str
) -> None:
    """Call it before the statements are appended, so that nothing is decided without an entry. If the connection is
    lost at the commit, they may be recorded twice."""
    parameters = {
        "names": [str(item.reviewed) for item in items],
        "befores": [Jsonb(_described(item)) for item in items],
        "done": done,
        "kind": KIND,
        "action": f"{KIND}.{done}",
        "by": principal.name,
        "correlation": correlation,
    }
    await database.fetch(principal.tenant, _statement(), parameters)


@cache
def _statement() -> sql.Composed:
    return sql.SQL(query("protection/pending/decided")).format(recorded=sql.SQL(query("outbox/record_decided")))


def _described(item: PendingItem) -> dict[str, object]:
    return {
        "kind": item.id.kind,
        "keys": list(item.id.keys),
        "tags": list(item.tags),
        "ended_by": item.ended_by,
        "ended_at": item.ended_at,
    }
