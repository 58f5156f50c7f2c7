"""The daily counts of an asset, and their retention."""

from datetime import date, timedelta
from typing import Any, NamedTuple

from psycopg import Connection

from lily.model.usage import KEEP_DAYS
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

ID_DAYS = 30  # how long the ids of events are remembered: a repeat comes within hours, or from a replayed export


class DailyQueries(NamedTuple):
    day: str
    queries: int


async def usage_of(database: Database, tenant: str, asset_id: str, last: date, days: int) -> list[DailyQueries]:
    """So many days up to the last one, oldest first."""
    parameters = {"asset": asset_id, "first": last - timedelta(days=days - 1), "last": last}
    return [DailyQueries(*row) for row in await database.fetch(tenant, query("usage/of_asset"), parameters)]


def delete_old_usage(connection: Connection[Any]) -> int:
    """Returns the number of rows."""
    row = connection.execute(query("usage/delete_old"), {"days": KEEP_DAYS, "id_days": ID_DAYS}).fetchone()
    return 0 if row is None else int(row[0])
