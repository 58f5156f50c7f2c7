"""What the lake's tables take up, and what compaction did, read from their own metadata and from the directory."""

import json
from dataclasses import dataclass
from pathlib import Path

from bench.stack import BenchStack
from lily.store.lake.tables import ASSETS, CATALOG, EVENTS

_LOCATION = "select metadata_location from iceberg_tables where catalog_name = %s and table_name = %s"


@dataclass(frozen=True, slots=True)
class TableSize:
    """`live` is what the newest snapshot names; `on_disk` includes what only older ones keep."""

    rows: int
    live: int
    on_disk: int
    compactions: int
    rewritten: int  # rows that compaction has written again


def sizes(stack: BenchStack) -> dict[str, TableSize]:
    return {table: _size(stack, table) for table in (ASSETS, EVENTS)}


def _size(stack: BenchStack, table: str) -> TableSize:
    (location,) = stack.database.execute(_LOCATION, [CATALOG, table]).fetchone() or ("",)
    path = Path(str(location).removeprefix("file:"))
    metadata = json.loads(path.read_text())
    newest = metadata.get("current-snapshot-id")
    summary: dict[str, str] = next(
        (found["summary"] for found in metadata["snapshots"] if found["snapshot-id"] == newest), {}
    )
    # A batch only ever appends, so what overwrites is a compaction.
    compactions = [found["summary"] for found in metadata["snapshots"] if found["summary"]["operation"] == "overwrite"]
    return TableSize(
        rows=int(summary.get("total-records", 0)),
        live=int(summary.get("total-files-size", 0)),
        on_disk=sum(file.stat().st_size for file in (path.parents[1] / "data").rglob("*") if file.is_file()),
        compactions=len(compactions),
        rewritten=sum(int(found.get("added-records", 0)) for found in compactions),
    )
