"""Which records of the log were refused: the lake has them too, because it does not wait for the hot lane."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from psycopg import Connection

from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

TenantAsset = tuple[str, str]
Position = tuple[str, int, int]  # topic, partition, offset


class LogRecord(Protocol):
    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...


Recorded = TypeVar("Recorded", bound=LogRecord)


def position_of(record: LogRecord) -> Position:
    return record.topic, record.partition, record.offset


async def without_refused(database: Database, tenant: str, records: Sequence[Recorded]) -> list[Recorded]:
    """The records of a tenant that were not refused."""
    if not records:
        return []
    rows = await database.fetch(tenant, query("dead_letters/refused_among"), _columns(map(position_of, records)))
    refused = {tuple(row) for row in rows}
    return [record for record in records if position_of(record) not in refused]


def refused_of_assets(
    connection: Connection[Any], assets: Sequence[TenantAsset], topics: Sequence[str]
) -> dict[TenantAsset, set[Position]]:
    """The refused records of these topics, of those assets that have any."""
    parameters = {
        "tenants": [tenant for tenant, _ in assets],
        "ids": [asset_id for _, asset_id in assets],
        "topics": list(topics),
    }
    found: dict[TenantAsset, set[Position]] = {}
    for tenant, asset_id, *position in connection.execute(query("dead_letters/refused_of_assets"), parameters):
        topic, partition, offset = position
        found.setdefault((tenant, asset_id), set()).add((topic, partition, offset))
    return found


def _columns(positions: Iterable[Position]) -> dict[str, list[Any]]:
    found = list(positions)
    return {
        "topics": [topic for topic, _, _ in found],
        "partitions": [partition for _, partition, _ in found],
        "offsets": [offset for _, _, offset in found],
    }
