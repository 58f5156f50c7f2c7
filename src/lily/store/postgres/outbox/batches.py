"""The outbox as the relay reads it: batches that are committed and not yet published."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from psycopg import Connection
from psycopg.rows import dict_row, tuple_row
from psycopg.types.json import Jsonb

from lily.model.errors import Transient
from lily.store.postgres.connection import connect
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query

CHANGES_AT_ONCE = 2_000
_RELAY_LOCK = 0x6C72  # "lr": one relay at a time
KEEP_PUBLISHED = "1 day"


class Change(NamedTuple):
    position: int
    tenant_id: str
    asset_id: str
    qualified_name: str
    entity_type: str | None
    layer: str
    version: int
    before: dict[str, Any] | None
    after: dict[str, Any]
    causes: list[dict[str, str]]
    committed_at: datetime


class OutgoingChange(NamedTuple):
    """A change as the relay reads it: most are published without decoding their causes and their time."""

    position: int
    tenant_id: str
    asset_id: str
    qualified_name: str
    entity_type: str | None
    layer: str
    version: int
    before: dict[str, Any] | None
    after: dict[str, Any]
    causes: str  # JSON
    committed: str  # in UTC, as PostgreSQL writes a timestamp

    @property
    def committed_at(self) -> datetime:
        return datetime.fromisoformat(f"{self.committed}+00:00")

    def decoded(self) -> Change:
        return Change(*self[:9], orjson.loads(self.causes), self.committed_at)


class EdgeChange(NamedTuple):
    position: int
    tenant_id: str
    from_id: str
    to_id: str
    type: str
    before: dict[str, bool] | None
    after: dict[str, bool]
    causes: list[dict[str, str]]
    committed_at: datetime


class Propagated(NamedTuple):
    """Assets that gained or lost a derived tag."""

    position: int
    tenant_id: str
    tag: str
    change: str
    root: str
    assets: list[str]
    committed_at: datetime


class Decision(NamedTuple):
    """A change of a tag definition, a rule or a setting by an administrator."""

    position: int
    tenant_id: str
    kind: str
    name: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    by: str
    committed_at: datetime


class RuleStatement(NamedTuple):
    """A statement about an asset that a rule makes, or that follows from another event."""

    position: int
    tenant_id: str
    asset_id: str
    body: dict[str, Any]
    committed_at: datetime
    stated_at: datetime | None = None  # of statements that follow from an event: its time


class IncidentStatement(NamedTuple):
    """A statement about an incident: what a quality policy found, or that it is over."""

    position: int
    tenant_id: str
    body: dict[str, Any]
    committed_at: datetime


class Announcement(NamedTuple):
    """A message for WebSocket listeners that is not a change of a single asset."""

    position: int
    tenant_id: str
    body: dict[str, Any]
    committed_at: datetime


class RefreshRequest(NamedTuple):
    """A run of a refresh that was requested. `timeout` is seconds."""

    tenant_id: str
    run_id: str
    data_source: str
    reason: str
    due_at: datetime
    requested_at: datetime
    timeout: int


class RefreshEnd(NamedTuple):
    """A run of a refresh that has ended. `failure` is the external id of the incident that it is part of."""

    tenant_id: str
    run_id: str
    data_source: str
    state: str
    error: str
    failure: str | None
    finished_at: datetime


def delete_published(connection: Connection[Any]) -> int:
    """Deletes batches that were published long ago; their changes stay as history. Returns the number of batches."""
    row = connection.execute(query("outbox/delete_published"), [KEEP_PUBLISHED]).fetchone()
    return 0 if row is None else int(row[0])


class Outbox:
    """One connection of the pipeline's role. It looks for unpublished batches and not for ids above the last one,
    because transactions do not commit in the order in which they begin."""

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-relay", dict_row)
        # Everything is looked up by key. A plan that was made while a table was empty would go on reading all of it.
        self._connection.execute("set enable_seqscan = off")

    def close(self) -> None:
        self._connection.close()

    def try_lock(self) -> bool:
        """Whether this is the one active relay. The lock ends with the connection, so a dead relay never holds it."""
        row = self._connection.execute("select pg_try_advisory_lock(%s) as locked", [_RELAY_LOCK]).fetchone()
        if row is None or not row["locked"]:
            return False
        self._connection.execute("listen lily_applied")
        return True

    def wait(self, seconds: float) -> None:
        """Returns when something was committed, or after the given time."""
        for _ in self._connection.notifies(timeout=seconds, stop_after=1):
            pass

    def unpublished(self, limit: int) -> list[int]:
        """In the order of their commits as far as it matters: of two batches with the same asset, the one that changed
        it first comes first."""
        return [row["id"] for row in self._connection.execute(query("outbox/unpublished"), [limit])]

    def tables(self, batches: list[int]) -> frozenset[str]:
        """Which of the tables below have something of these batches. A batch is complete once it is visible, so no
        other table needs to be read: each would cost a transaction and a cursor."""
        rows = self._connection.execute(query("outbox/tables_of_batches"), {"batches": batches}).fetchall()
        return frozenset(rows[0]["tables"])

    def changes(self, batches: list[int]) -> Iterator[list[OutgoingChange]]:
        """In order of position, some at a time, because a batch may not fit into memory. Nor may so many large layers:
        the stream leaves out their values, which are read one by one, and each is the last of its list."""
        together: list[OutgoingChange] = []
        for row in map(OutgoingChange._make, self._stream("outbox/changes_of_batches", batches, CHANGES_AT_ONCE)):
            is_large = row.after is None
            together.append(self._with_values(row, batches) if is_large else row)
            if is_large or len(together) == CHANGES_AT_ONCE:
                yield together
                together = []
        if together:
            yield together

    def _with_values(self, row: OutgoingChange, batches: list[int]) -> OutgoingChange:
        with self._connection.cursor(row_factory=tuple_row) as cursor:
            parameters = {"batches": batches, "position": row.position}
            found = cursor.execute(query("outbox/values_of_change"), parameters).fetchone()
        if found is None:
            raise Transient(f"change {row.position} was deleted while it was published; trying again")
        return row._replace(before=found[0], after=found[1])

    def edge_changes(self, batches: list[int]) -> Iterator[EdgeChange]:
        return map(EdgeChange._make, self._stream("outbox/edge_changes_of_batches", batches, 2_000))

    def propagated(self, batches: list[int]) -> Iterator[Propagated]:
        return map(Propagated._make, self._stream("outbox/propagated_of_batches", batches, 20))

    def decisions(self, batches: list[int]) -> Iterator[Decision]:
        return map(Decision._make, self._stream("outbox/decisions_of_batches", batches, 100))

    def rule_statements(self, batches: list[int]) -> Iterator[RuleStatement]:
        return map(RuleStatement._make, self._stream("outbox/rule_statements_of_batches", batches, 2_000))

    def incident_statements(self, batches: list[int]) -> Iterator[IncidentStatement]:
        return map(IncidentStatement._make, self._stream("outbox/incident_statements_of_batches", batches, 1_000))

    def announcements(self, batches: list[int]) -> Iterator[Announcement]:
        return map(Announcement._make, self._stream("outbox/announcements_of_batches", batches, 20))

    def refresh_requests(self, batches: list[int]) -> Iterator[RefreshRequest]:
        return map(RefreshRequest._make, self._stream("outbox/refresh_requests_of_batches", batches, 2_000))

    def refresh_ends(self, batches: list[int]) -> Iterator[RefreshEnd]:
        return map(RefreshEnd._make, self._stream("outbox/refresh_ends_of_batches", batches, 2_000))

    def rule_attributes(self) -> dict[str, frozenset[str]]:
        """The attributes that propagation rules name now, by tenant."""
        rows = self._connection.execute(query("outbox/rule_attributes")).fetchall()
        return {row["tenant_id"]: frozenset(row["attributes"]) for row in rows}

    def subscribed_changes(self) -> dict[str, frozenset[str]]:
        """The changes of assets that subscriptions name now, by tenant."""
        rows = self._connection.execute(query("outbox/subscribed_changes")).fetchall()
        return {row["tenant_id"]: frozenset(row["changes"]) for row in rows}

    def in_graph(self, assets: Collection[tuple[str, str]]) -> set[str]:
        """The ids of the given assets (tenant, id) that have edges or are above such an asset in the hierarchy. In a
        tenant with open incidents, any parent counts."""
        parameters = {"tenants": [tenant for tenant, _ in assets], "ids": id_array(asset_id for _, asset_id in assets)}
        rows = self._connection.execute(query("outbox/in_graph"), parameters).fetchall()
        return {row["id"] for row in rows}

    def dead_letters(self, batches: list[int]) -> Iterator[dict[str, Any]]:
        yield from self._connection.execute(query("outbox/dead_letters_of_batches"), [batches])

    def mark_published(self, batches: list[int], ends: Mapping[str, Mapping[str, int]]) -> None:
        """`ends` are the end offsets of the change topics afterwards: readers that reach them have the batches."""
        self._connection.execute(query("outbox/mark_published"), {"batches": batches, "ends": Jsonb(dict(ends))})

    def _stream(self, name: str, batches: list[int], fetch_size: int) -> Iterator[tuple[Any, ...]]:
        with self._connection.transaction(), self._connection.cursor(name, row_factory=tuple_row) as cursor:
            cursor.itersize = fetch_size
            yield from cursor.execute(query(name), [batches])
