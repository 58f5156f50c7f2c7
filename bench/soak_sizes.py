"""What a soak watches: one look at the memory, the disk, the tables and the lag of a stack."""

from pathlib import Path

from bench import warehouse
from bench.stack import BenchStack
from lily.bus.topics import ASSETS, ASSETS_BULK, GOVERNANCE, LINEAGE_INTAKE
from lily.embedded.memory import part_rows, tree_bytes
from lily.embedded.state import load
from lily.store.lake.tables import ASSETS as LAKE_ASSETS
from lily.store.lake.tables import EVENTS as LAKE_EVENTS
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.reactions.ledger import progress_topic

MEMORY, TABLE, INDEX, LAG = "memory: ", "table ", "index ", "lag: "
TABLES, WAL, KAFKA = "PostgreSQL: all tables", "PostgreSQL: WAL", "Kafka: disk"
Look = dict[str, float]  # bytes, but for what is a number of files or of events

_RELATIONS = """
select c.relname, i.relname, pg_total_relation_size(c.oid), coalesce(pg_relation_size(i.oid), 0)
from pg_class c left join pg_index x on x.indrelid = c.oid left join pg_class i on i.oid = x.indexrelid
where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
"""
_WAL = "select sum(size)::bigint from pg_ls_waldir()"


def look(stack: BenchStack) -> Look:
    return _memory(stack) | _lake(stack) | _tables(stack) | _disk(stack) | _lags(stack)


def _memory(stack: BenchStack) -> Look:
    parts = {f"{MEMORY}{row['name']}": float(str(row["rss_bytes"])) for row in part_rows(load(stack.data_dir))}
    return parts | {f"{MEMORY}all": float(tree_bytes(stack.processes()[0]))}


def _lake(stack: BenchStack) -> Look:
    """The files that the newest snapshot names, and all that there are: older snapshots need the others."""
    found: Look = {}
    for table in (LAKE_ASSETS, LAKE_EVENTS):
        files = warehouse.files(stack, table)
        found |= {
            f"lake {table}: files": files.live,
            f"lake {table}: bytes": files.live_bytes,
            f"lake {table}: files on disk, older snapshots and metadata included": files.on_disk,
            f"lake {table}: bytes on disk": files.disk_bytes,
        }
    return found


def _tables(stack: BenchStack) -> Look:
    """A table's size is without its indexes."""
    totals: Look = {}
    indexes: Look = {}
    of_table: Look = {}
    for table, index, total, size in stack.database.execute(_RELATIONS).fetchall():
        totals[table] = total
        if index:
            indexes[f"{INDEX}{index} of {table}"] = size
            of_table[table] = of_table.get(table, 0) + size
    heaps = {f"{TABLE}{name}": total - of_table.get(name, 0) for name, total in totals.items()}
    return heaps | indexes | {TABLES: sum(totals.values())}


def _disk(stack: BenchStack) -> Look:
    row = stack.database.execute(_WAL).fetchone()
    return {KAFKA: _bytes_below(stack.data_dir / "kafka"), WAL: float(row[0]) if row else 0.0}


def _lags(stack: BenchStack) -> Look:
    found = {f"{LAG}{topic}": float(stack.lag(topic)) for topic in (ASSETS, ASSETS_BULK, LINEAGE_INTAKE)}
    applied, ends = stack.applied(progress_topic(GOVERNANCE, PROPAGATION)), stack.ends(GOVERNANCE)
    behind = sum(max(end - applied.get(partition, 0), 0) for partition, end in ends.items())
    return found | {f"{LAG}{PROPAGATION}": float(behind)}


def _bytes_below(folder: Path) -> float:
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:  # deleted since it was listed
            continue
    return float(total)
