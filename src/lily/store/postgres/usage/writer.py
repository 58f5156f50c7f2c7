"""Counts usage events: daily counts, ids of events, findings, dead letters and the offset in one transaction."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from lily.model.records import Position, Record, Refusal
from lily.model.usage import UsageEvent
from lily.store.postgres.connection import connect
from lily.store.postgres.copying import id_array
from lily.store.postgres.dead_letters.refusals import insert_refusals
from lily.store.postgres.known_tenants import KnownTenants
from lily.store.postgres.quality.judge import Judge
from lily.store.postgres.queries import query

Counts = Counter[tuple[str, str, date]]  # queries by tenant, asset and day
Event = tuple[Record, UsageEvent]


class UsageCounts(NamedTuple):
    events: int  # that were counted: neither refused nor repeated
    refused: int
    opened: int  # findings
    closed: int


class UsageWriter:
    """One connection of the pipeline's role. A failure rolls back the whole batch, including its offset, so the caller
    can apply it again. Counting is not idempotent, so what lies below the offset that is stored is skipped."""

    def __init__(self, database_url: str) -> None:
        self._connection = connect(database_url, "lily-usage")
        self.tenants = KnownTenants(self._connection)
        self._judge = Judge(self._connection)

    def close(self) -> None:
        self._connection.close()

    def apply(
        self,
        until: Position,
        events: Sequence[Event],
        refusals: Sequence[Refusal],
        now: datetime | None = None,
    ) -> UsageCounts:
        """Applies records of one partition. `until` is the position after the last of them."""
        with self._connection.transaction():
            reached = self._reached(until)
            new = [(record, event) for record, event in events if record.offset >= reached]
            refused = [refusal for refusal in refusals if refusal.record.offset >= reached]
            once = self._without_repeats(new)
            judged = self._count(once, now or datetime.now(UTC))
            if refused:
                insert_refusals(self._connection, self._open_batch(), refused)
            self._connection.execute(query("progress/advance"), until)
            self._connection.execute("select pg_notify('lily_applied', '')")
        return UsageCounts(len(once), len(refused), *judged)

    def _reached(self, until: Position) -> int:
        row = self._connection.execute(query("usage/reached"), until._asdict()).fetchone()
        return 0 if row is None else int(row[0])

    def _without_repeats(self, events: Sequence[Event]) -> list[UsageEvent]:
        """Events without an id of their sender all count; of those with the same id the first one ever."""
        identified = {(event.tenant, event.asset_id, event.event_id): event for _, event in reversed(events)}
        keys = [key for key in identified if key[2]]
        plain = [event for _, event in events if not event.event_id]
        if not keys:
            return plain
        tenants, assets, ids = zip(*keys, strict=True)
        parameters = {"tenants": id_array(tenants), "assets": id_array(assets), "ids": list(ids)}
        rows = self._connection.execute(query("usage/remember_ids"), parameters).fetchall()
        return [*plain, *(identified[key] for key in rows)]

    def _count(self, events: Iterable[UsageEvent], now: datetime) -> tuple[int, int]:
        """Adds to the daily counts and judges the assets. Returns how many findings that opened and closed."""
        counts: Counts = Counter()
        touched: dict[str, set[str]] = {}
        for event in events:
            counts[event.tenant, event.asset_id, event.day] += event.query_count
            touched.setdefault(event.tenant, set()).add(event.asset_id)
        if not counts:
            return 0, 0
        tenants, assets, days = zip(*counts, strict=True)
        columns = {"tenants": id_array(tenants), "assets": id_array(assets), "days": list(days)}
        self._connection.execute(query("usage/add_queries"), columns | {"queries": list(counts.values())})
        # In one order: another partition's transaction judges the same tenants.
        judged = [self._judge.judge_assets(tenant, sorted(touched[tenant]), now) for tenant in sorted(touched)]
        return sum(one.opened for one in judged), sum(one.closed for one in judged)

    def _open_batch(self) -> int:
        row = self._connection.execute(query("outbox/open_batch"), (None, None, None, None)).fetchone()
        return 0 if row is None else int(row[0])
