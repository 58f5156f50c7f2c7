"""What PostgreSQL knows of the lake: its commits, how fresh it is, and who may write it."""

from collections.abc import Mapping
from datetime import datetime

from psycopg.types.json import Jsonb

from lily.model.errors import Transient
from lily.store.postgres.connection import connect
from lily.store.postgres.queries import query

_LOCK = 0x6C616B65  # "lake": two writers of the lake would each append the same events


class LakeLedger:
    """One connection of the pipeline's role. It holds the right to write the lake until it is closed or dies.

    Raises Transient if another process holds that right: it is asked for again when the query is started again.
    """

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-lake")
        (held,) = self._connection.execute("select pg_try_advisory_lock(%s)", [_LOCK]).fetchone() or (False,)
        if not held:
            self._connection.close()
            raise Transient("Another process writes the lake. This one waits until that one is gone.")

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
        """Notes a commit, and that the events of the topic `advances` can be read now. Idempotent."""
        nested: dict[str, dict[str, int]] = {}
        for (topic, partition), offset in positions.items():
            nested.setdefault(topic, {})[str(partition)] = offset
        with self._connection.transaction():
            self._connection.execute(
                query("lake/record_batch"),
                {"number": number, "committed_at": committed_at, "events": events, "positions": Jsonb(nested)},
            )
            self._connection.cursor().executemany(
                query("progress/advance"),
                [(topic, at, offset) for (topic, at), offset in positions.items() if topic == advances],
            )
            self._connection.execute("select pg_notify('lily_applied', '')")

    def fresh(self, fresh_as_of: datetime, batch: int) -> None:
        """Everything that the log took until then is in the lake."""
        self._connection.execute(query("lake/freshness"), {"fresh_as_of": fresh_as_of, "batch": batch})
