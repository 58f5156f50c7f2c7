"""Records the commits and the freshness of the lake, and allows one writer at a time."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from psycopg.types.json import Jsonb

from lily.model.errors import Transient
from lily.store.lake.tables import CATALOG, NAMESPACE, ids_of_row
from lily.store.postgres.connection import connect
from lily.store.postgres.lake.parents import add_lake_parents
from lily.store.postgres.queries import query

_LOCK = 0x6C616B65  # "lake": two writers would append the same events twice
_CATALOG = {"catalog": CATALOG, "namespace": NAMESPACE}


class LakeLedger:
    """One connection of the pipeline's role. It holds the lock for writing the lake until it is closed or lost.

    Raises Transient if another process holds the lock. The query is restarted then, and tries again.
    """

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-lake")
        (held,) = self._connection.execute("select pg_try_advisory_lock(%s)", [_LOCK]).fetchone() or (False,)
        if not held:
            self._connection.close()
            raise Transient("Another process is writing to the lake. This one waits until that process ends.")
        self._connection.execute("select raise_positions()")  # promotion makes changes

    def close(self) -> None:
        self._connection.close()

    def applied(self, topic: str) -> dict[int, int]:
        rows = self._connection.execute("select partition, next_offset from applied where topic = %s", [topic])
        return dict(rows.fetchall())

    def record(
        self,
        number: int,
        events: int,
        positions: Mapping[tuple[str, int], int],
        *,
        advances: str,
        committed_at: datetime | None = None,
    ) -> None:
        """Records a commit, and that the events of the topic `advances` can be read now. Idempotent."""
        nested: dict[str, dict[str, int]] = {}
        for (topic, partition), offset in positions.items():
            nested.setdefault(topic, {})[str(partition)] = offset
        with self._connection.transaction():
            self._connection.execute(
                query("lake/insert_batch"),
                {"number": number, "committed_at": committed_at, "events": events, "positions": Jsonb(nested)},
            )
            self._connection.cursor().executemany(
                query("progress/advance"),
                [(topic, at, offset) for (topic, at), offset in positions.items() if topic == advances],
            )
            self._connection.execute("select pg_notify('lily_applied', '')")

    def metadata_locations(self) -> dict[str, str]:
        """The metadata file of each table, as the catalog names it."""
        return dict(self._connection.execute(query("lake/metadata_locations"), _CATALOG).fetchall())

    def set_metadata_location(self, table: str, old: str, new: str) -> None:
        """Does nothing if the catalog no longer names the old one."""
        self._connection.execute(
            query("lake/set_metadata_location"), {**_CATALOG, "table": table, "old": old, "new": new}
        )

    def last_batch(self) -> int:
        """The number of the newest commit that was recorded; 0 if there is none."""
        (number,) = self._connection.execute("select coalesce(max(number), 0) from lake_batches").fetchone() or (0,)
        return int(number)

    def withdraw(self, number: int, began: float, positions: Mapping[tuple[str, int], int], *, advances: str) -> None:
        """Records that this commit is the newest, although later ones were recorded."""
        offsets = {str(at): offset for (topic, at), offset in positions.items() if topic == advances}
        parameters = {"number": number, "began": began, "offsets": Jsonb(offsets), "topic": advances}
        self._connection.execute(query("lake/withdraw"), parameters)

    def await_promotion(self, rows: Sequence[tuple[str, str]]) -> int:
        """Marks assets, by tenant and the id under which `events` has their records, to be promoted from the lake
        again. Returns how many there are in PostgreSQL."""
        ranges = [ids_of_row(row_id) for _, row_id in rows]
        parameters = {
            "tenants": [tenant for tenant, _ in rows],
            "first": [first for first, _ in ranges],
            "last": [last for _, last in ranges],
        }
        (marked,) = self._connection.execute(query("lake/await_promotion"), parameters).fetchone() or (0,)
        return int(marked)

    def lacks_parents(self) -> bool:
        """Whether `lake_parents` may lack names below which the lake has columns."""
        found = self._connection.execute("select exists (select from lake_parents where place = '*')").fetchone()
        return found == (True,)

    def forget_parents(self) -> None:
        """Lets every name of every tenant be one that the lake may have, until `parents_are_complete`."""
        self._connection.execute(query("lake/forget_parents"))

    def add_parents(self, parents: Iterable[tuple[str, str]]) -> None:
        """By tenant and name."""
        add_lake_parents(self._connection, parents)

    def parents_are_complete(self) -> None:
        self._connection.execute("delete from lake_parents where place = '*'")

    def record_freshness(self, fresh_as_of: datetime, batch: int) -> None:
        """Records that the lake has everything that the log had at that time."""
        self._connection.execute(query("lake/upsert_freshness"), {"fresh_as_of": fresh_as_of, "batch": batch})
