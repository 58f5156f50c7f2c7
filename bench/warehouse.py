"""What the lake's tables take up, and what compaction did, read from their own metadata and from the directory."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Files:
    """`live` are those of the newest snapshot; `on_disk` all of the table's, metadata included."""

    live: int
    live_bytes: int
    on_disk: int
    disk_bytes: int


def files(stack: BenchStack, table: str) -> Files:
    path, _, summary = _newest(stack, table)
    found = [_size_of(file) for file in path.parents[1].rglob("*") if file.is_file()]
    live, live_bytes = int(summary.get("total-data-files", 0)), int(summary.get("total-files-size", 0))
    return Files(live, live_bytes, len(found), sum(found))


def sizes(stack: BenchStack) -> dict[str, TableSize]:
    return {table: _size(stack, table) for table in (ASSETS, EVENTS)}


def _newest(stack: BenchStack, table: str) -> tuple[Path, dict[str, Any], dict[str, str]]:
    """The table's metadata: where it is, what it says, and the summary of the newest snapshot."""
    (location,) = stack.database.execute(_LOCATION, [CATALOG, table]).fetchone() or ("",)
    path = Path(str(location).removeprefix("file:"))
    metadata: dict[str, Any] = json.loads(path.read_text())
    newest = metadata.get("current-snapshot-id")
    summary: dict[str, str] = next(
        (found["summary"] for found in metadata["snapshots"] if found["snapshot-id"] == newest), {}
    )
    return path, metadata, summary


def _size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # compacted away since it was listed
        return 0


def _size(stack: BenchStack, table: str) -> TableSize:
    path, metadata, summary = _newest(stack, table)
    # A batch only ever appends, so what overwrites is a compaction.
    compactions = [found["summary"] for found in metadata["snapshots"] if found["summary"]["operation"] == "overwrite"]
    return TableSize(
        rows=int(summary.get("total-records", 0)),
        live=int(summary.get("total-files-size", 0)),
        on_disk=sum(file.stat().st_size for file in (path.parents[1] / "data").rglob("*") if file.is_file()),
        compactions=len(compactions),
        rewritten=sum(int(found.get("added-records", 0)) for found in compactions),
    )
