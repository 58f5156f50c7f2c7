"""Whether facts that were read for decisions are still those of now, without reading them again."""

from datetime import timedelta
from typing import Any, NamedTuple

from psycopg import Connection

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches

KEEP_CHANGES = timedelta(hours=1)  # longer than busy processes go without a decision


class State(NamedTuple):
    """A moment of the database: which transactions were visible, on which server since its start or last crash."""

    snapshot: str | None = None
    server: str | None = None


class Changes(NamedTuple):
    """`now` is the state, and `lags` whether propagation lags behind it. `assets` are the ids that were changed since
    an earlier state, None if anything may have changed; `names` are the names of these assets."""

    now: State
    lags: bool
    assets: tuple[str, ...] | None
    names: tuple[str, ...]


async def changes_since(database: Fetches, tenant: str, earlier: State) -> Changes:
    """What is read after this call is valid until a later call, with the state that this one returned, reports a change
    of it. Raises what `fetch` raises."""
    ((snapshot, server, lags, changed, names),) = await database.fetch(
        tenant, query("policies/facts/changes_since"), earlier._asdict()
    )
    return Changes(State(snapshot, server), lags, None if changed is None else tuple(changed), tuple(names or ()))


def delete_old_fact_changes(connection: Connection[Any]) -> int:
    """Deletes what was noted long ago. Returns the number of rows."""
    row = connection.execute(query("policies/facts/delete_old_changes"), [KEEP_CHANGES]).fetchone()
    return 0 if row is None else int(row[0])
