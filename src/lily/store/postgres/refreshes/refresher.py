"""The refresher as the worker runs it: finds data sources, ends runs whose time is over, and requests what is due."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from psycopg import Connection

from lily.store.postgres.queries import query

AT_ONCE = 1_000  # runs that one statement ends or requests
KEEP_FINISHED = timedelta(days=90)


class Turn(NamedTuple):
    """What one turn of the refresher did."""

    appeared: int  # data sources that had no schedule
    timed_out: int
    requested: int


def turn(connection: Connection[Any], now: datetime | None = None) -> Turn:
    """Runs in the caller's transaction. `now` is the database's clock unless it is given. A run whose time is over ends
    first, so that its data source can be requested again in the same turn."""
    row = connection.execute(query("refreshes/sync_schedules"), {"now": now}).fetchone()
    late = query("refreshes/ending_late") + query("refreshes/end_runs")
    timed_out = _repeated(connection, late, now)
    return Turn(row[0] if row else 0, timed_out, _repeated(connection, query("refreshes/request_due"), now))


def delete_old_runs(connection: Connection[Any]) -> int:
    """Returns the number of deleted runs."""
    return connection.execute(query("refreshes/forget_runs"), [KEEP_FINISHED]).rowcount


def _repeated(connection: Connection[Any], statement: Any, now: datetime | None) -> int:
    """Until a statement finds fewer rows than it may: returns how many it found in all."""
    found, parameters = 0, {"now": now, "limit": AT_ONCE}
    while rows := connection.execute(statement, parameters).fetchall():
        found += len(rows)
        if len(rows) < AT_ONCE:
            break
    return found
