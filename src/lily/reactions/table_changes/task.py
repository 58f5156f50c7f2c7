"""The job that carries out changes of tables. What it states returns to the log, as if the producer had sent it."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from prometheus_client import CollectorRegistry, Counter
from psycopg import Connection

from lily.bus import topics
from lily.model import ids
from lily.model.edges import ClaimsEvent, EdgeEvent, read_claims_event
from lily.model.events import AssetEvent
from lily.model.lanes import lane_of
from lily.reactions.run_queries import ColumnSource
from lily.reactions.run_queries.lacking_columns import ColumnsUnavailable
from lily.reactions.table_changes.columns import KnownColumns
from lily.reactions.table_changes.moves import Moves, deleted
from lily.reactions.table_changes.rights import DeletionRights, MoveRights
from lily.store.postgres.jobs import Job, Later
from lily.store.postgres.table_changes.ledger import TableLedger
from lily.store.postgres.table_changes.queueing import Gone

WAITS = timedelta(minutes=2)  # for the lake to have what was in the log before; other changes of the job's tables wait

AT_ONCE = 2_000  # events: a table may have ten thousand columns, and the producer's queue is shared

Append = Callable[
    [Sequence[tuple[str, AssetEvent | ClaimsEvent | EdgeEvent]]], None
]  # with topics; returns when they are in the log


class ChangingTables:
    def __init__(self, registry: CollectorRegistry, append: Append, lake: Callable[[], ColumnSource]) -> None:
        self._columns, self._append = KnownColumns(lake), append
        self._changed = Counter(
            "lily_table_changes",
            "Columns that moved with renamed tables, deletions carried out, and deletions refused to their sender",
            ["outcome"],
            registry=registry,
        )

    def run(self, connection: Connection[Any], job: Job) -> Later | None:
        """Appends to the log before its transaction commits: it may do so twice, which changes nothing. Raises what
        `append` raises."""
        given = job.arguments["event"]
        event = read_claims_event(given, received=given["time"])  # whether it is too new was decided at the door
        waits = datetime.now(UTC) - job.enqueued_at < WAITS
        if event.tables.renamed and waits and not TableLedger(connection, job.tenant).lake_is_fresh(job.enqueued_at):
            return Later(1.0, "the lake does not have everything yet that was stated before the rename")
        try:
            moves = self._moves(connection, event)
        except ColumnsUnavailable as error:
            return Later(5.0, str(error))
        deletions = self._deletions(connection, event, moves, job.arguments.get("gone", []))
        stated: list[AssetEvent | ClaimsEvent | EdgeEvent] = [
            *moves.edges.values(),
            *moves.new.values(),
            *moves.schemas(),
            *deletions,
        ]
        for begin in range(0, len(stated), AT_ONCE):
            self._append([(_topic(one), one) for one in stated[begin : begin + AT_ONCE]])
        self._changed.labels("moved").inc(len(moves.edges))
        return None

    def _moves(self, connection: Connection[Any], event: ClaimsEvent) -> Moves:
        moves, before = Moves(event), datetime.fromisoformat(event.time)
        for old, new in event.tables.renamed:
            moves.add(old, new, self._columns.with_earlier(connection, event.tenant, old, before))
        moves.state_only(MoveRights(connection, event).permitted(moves.origins()))
        return moves

    def _deletions(
        self, connection: Connection[Any], event: ClaimsEvent, moves: Moves, gone: Iterable[Gone]
    ) -> list[AssetEvent]:
        """What is left behind, dropped and no longer in a schema, as far as the sender may delete it."""
        renamed, left = {old for old, _ in event.tables.renamed}, moves.gone()
        tables = {name: _table_of(name, renamed) for name in left}
        kinds = dict.fromkeys(left, "column") | TableLedger(connection, event.tenant).kinds(event.tables.dropped)
        deletions = {name: deleted(event, name, kind, left.get(name, ""), event.time) for name, kind in kinds.items()}
        for dataset, name, own_name, clock in gone:
            tables[name], kinds[name] = _named_above(event.tenant, dataset, name), "column"
            deletions[name] = deleted(event, name, "column", own_name, clock.partition("/")[0])
        may = DeletionRights(connection, event).permitted(kinds, tables)
        self._changed.labels("deleted").inc(len(may))
        self._changed.labels("refused").inc(len(deletions) - len(may))
        return [deletion for name, deletion in deletions.items() if name in may]


def _table_of(column: str, tables: Collection[str]) -> str:
    parts = column.split(".")
    above = (".".join(parts[:count]) for count in range(1, len(parts)))
    return next((name for name in above if name in tables), ids.name_prefix(column))


def _named_above(tenant: str, dataset: str, column: str) -> str:
    """The name of the table that has this id, which the name of its column begins with."""
    name = column
    while (above := ids.name_prefix(name)) != name:
        if ids.asset_id(tenant, above) == dataset:
            return above
        name = above
    return ids.name_prefix(column)


def _topic(event: AssetEvent | ClaimsEvent | EdgeEvent) -> str:
    return topics.OF_LANE[lane_of(event)] if isinstance(event, AssetEvent) else topics.LINEAGE_INTAKE
