"""Looks through the files of one table. Every question names its tenant, and so does every filter of rows."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lily.model import ids as names
from lily.model.states import AssetState, merge_states
from lily.store.lake.files import LakeFile, TableFiles
from lily.store.lake.parquet import ParquetFiles, RowGroup
from lily.store.lake.rows import READ, read_states
from lily.store.lake.tables import place_of
from lily.store.lake.wanted import Wanted

FEWEST, MOST = 32, 512  # candidates whose rows are read together
_LAST = "~"  # sorts after every continuation of an id


class LakeEvent(NamedTuple):
    """A record of the log as the table `events` holds it."""

    received: str
    topic: str
    partition: int
    offset: int
    batch: int
    event: str


class Found(NamedTuple):
    states: list[AssetState]
    start: str | None  # the id from which on the rest has to be looked for; None where nothing is left


class Scan:
    def __init__(self, files: TableFiles, parquet: ParquetFiles) -> None:
        self._files = files
        self._parquet = parquet

    def states(self, tenant: str, ids: Collection[str]) -> dict[str, AssetState]:
        tables = [self._rows_of(tenant, file, held, READ) for file, held in self._files.of_ids(tenant, ids).items()]
        return _joined(tables)

    def children(self, tenant: str, parent_id: str, parent_name: str | None) -> list[AssetState]:
        wanted = Wanted(parent=parent_id)
        if parent_name is None:
            found = self.states(tenant, self._stated_children(tenant, parent_id))
        else:
            found = self._of_place(tenant, place_of(names.asset_id(tenant, f"{parent_name}.any")))
        return [state for state in found.values() if wanted.means(state)]

    def events(self, tenant: str, asset_id: str) -> list[LakeEvent]:
        found: list[LakeEvent] = []
        for file, held in self._files.of_ids(tenant, [asset_id]).items():
            if (rows := self._rows_of(tenant, file, held, ("tenant", "id", *LakeEvent._fields))) is not None:
                found += map(LakeEvent, *(rows.column(name).to_pylist() for name in LakeEvent._fields))
        return sorted(found)

    def search(self, tenant: str, wanted: Wanted, start: str, limit: int, deadline: float) -> Found:
        """A sweep over the row groups in the order of their smallest ids. What is smaller than the smallest id of the
        next one cannot be met again, so its assets are complete."""
        found: list[AssetState] = []
        waiting: set[str] = set()
        groups = self._groups_from(tenant, start)
        for position, (_, file, group) in enumerate(groups):
            waiting |= self._candidates(tenant, file, group, wanted, start)
            frontier = groups[position + 1][0] if position + 1 < len(groups) else _LAST
            ready = sorted(asset_id for asset_id in waiting if asset_id < frontier)
            waiting.difference_update(ready)
            at_once = min(max(limit, FEWEST), MOST)
            for begin in range(0, len(ready), at_once):
                some = ready[begin : begin + at_once]
                states = self.states(tenant, some)
                found += [
                    states[asset_id] for asset_id in some if asset_id in states and wanted.means(states[asset_id])
                ]
                if len(found) >= limit:
                    return _cut(found, limit)
                if time.monotonic() > deadline:
                    return Found(found, after(some[-1]))
            if time.monotonic() > deadline and start < frontier < _LAST:
                return Found(found, frontier)
        return Found(found, None)

    def _groups_from(self, tenant: str, start: str) -> list[tuple[str, LakeFile, RowGroup]]:
        groups = [
            (group.ids.first or file.first, file, group)
            for file in self._files.of_tenant(tenant)
            if start <= file.last
            for group in self._parquet.groups(self._files.io, file.path)
            if group.ids.meets(start, _LAST)
        ]
        return sorted(groups, key=lambda entry: entry[0])

    def _candidates(self, tenant: str, file: LakeFile, group: RowGroup, wanted: Wanted, start: str) -> set[str]:
        rows = self._read(tenant, file, wanted.columns(), lambda other: other.number == group.number)
        if rows is None:
            return set()
        rows = wanted.may_be_meant(rows.filter(pc.greater_equal(rows.column("id"), start)))
        return set(rows.column("id").to_pylist())

    def _stated_children(self, tenant: str, parent_id: str) -> set[str]:
        found: set[str] = set()
        for file in self._files.of_tenant(tenant):
            rows = self._read(
                tenant, file, ("tenant", "id", "parent"), lambda group: group.parents.meets(parent_id, parent_id)
            )
            if rows is not None:
                found.update(rows.filter(pc.equal(rows.column("parent"), parent_id)).column("id").to_pylist())
        return found

    def _of_place(self, tenant: str, place: str) -> dict[str, AssetState]:
        def tables() -> Iterator[pa.Table | None]:
            for file in self._files.of_place(tenant, place):
                rows = self._read(tenant, file, READ, lambda group: group.ids.meets(place, place + _LAST))
                yield None if rows is None else rows.filter(pc.starts_with(rows.column("id"), place))

        return _joined(tables())

    def _rows_of(self, tenant: str, file: LakeFile, ids: Sequence[str], columns: Sequence[str]) -> pa.Table | None:
        return _of_tenant(tenant, self._parquet.read_ids(self._files.io, file.path, columns, sorted(ids)))

    def _read(
        self, tenant: str, file: LakeFile, columns: Sequence[str], wanted: Callable[[RowGroup], bool]
    ) -> pa.Table | None:
        return _of_tenant(tenant, self._parquet.read(self._files.io, file.path, columns, wanted))


def _of_tenant(tenant: str, rows: pa.Table | None) -> pa.Table | None:
    """Whatever a file is said to hold, only the tenant's rows leave it."""
    return None if rows is None else rows.filter(pc.equal(rows.column("tenant"), tenant))


def _joined(tables: Iterable[pa.Table | None]) -> dict[str, AssetState]:
    states = merge_states(state for rows in tables if rows is not None for state in read_states(rows))
    return {asset_id: state for (_, asset_id), state in states.items()}


def _cut(found: list[AssetState], limit: int) -> Found:
    return Found(found[:limit], after(found[limit - 1].id))


def after(asset_id: str) -> str:
    """Where a search goes on that has told of this asset: all ids are of one length, so none lies in between."""
    return f"{asset_id}+"
