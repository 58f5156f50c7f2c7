"""Scans the data files of one table. Every method takes the tenant, and every row read is filtered by it."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lily.lineage.lake_nodes import LakeNode
from lily.model import ids as names
from lily.model.states import AssetState, merge_states
from lily.store.lake.asset_filter import AssetFilter
from lily.store.lake.buckets import bucket_of
from lily.store.lake.data_files import LakeFile, TableFiles
from lily.store.lake.nodes import NODE_COLUMNS, read_nodes
from lily.store.lake.parquet import ParquetFiles, RowGroup
from lily.store.lake.rows import STATE_COLUMNS, read_states
from lily.store.lake.tables import group_id, id_prefix
from lily.store.lake.term_index import COLUMNS as INDEXED_COLUMNS
from lily.store.lake.term_index import TermIndex

MIN_CANDIDATES, MAX_CANDIDATES = 32, 512  # whose states are read together
_AFTER_ALL_IDS = "~"


class LakeEvent(NamedTuple):
    """A Kafka record as stored in the table `events`."""

    received: str
    topic: str
    partition: int
    offset: int
    batch: int
    event: str


class SearchPage(NamedTuple):
    states: list[AssetState]
    next_start: str | None  # the id at which the search continues; None at its end


class _Group(NamedTuple):
    """A row group and its smallest id."""

    first: str
    file: LakeFile
    group: RowGroup


class _Part(NamedTuple):
    """Row groups in the order of their smallest ids, and the id from which on they are searched."""

    start: str
    groups: Sequence[_Group]


class Scan:
    def __init__(self, files: TableFiles, parquet: ParquetFiles) -> None:
        self._files = files
        self._parquet = parquet

    def states(self, tenant: str, ids: Collection[str]) -> dict[str, AssetState]:
        tables = [
            self._rows_of(tenant, file, held, STATE_COLUMNS) for file, held in self._files.of_ids(tenant, ids).items()
        ]
        return _merged(tables)

    def nodes(self, tenant: str, ids: Collection[str]) -> dict[str, LakeNode]:
        """What the graph stores of each asset that there is."""
        tables = (
            self._rows_of(tenant, file, held, NODE_COLUMNS) for file, held in self._files.of_ids(tenant, ids).items()
        )
        return read_nodes([rows for rows in tables if rows is not None])

    def children(self, tenant: str, parent_id: str, parent_name: str | None) -> list[AssetState]:
        condition = AssetFilter(parent=parent_id)
        if parent_name is None:
            found = self.states(tenant, self._stated_children(tenant, parent_id))
        else:
            found = self._with_prefix(tenant, id_prefix(names.asset_id(tenant, f"{parent_name}.any")))
        return [state for state in found.values() if condition.matches(state)]

    def events(self, tenant: str, asset_id: str) -> list[LakeEvent]:
        """The records about this asset, and those about several assets with its prefix, which may not name it."""
        found: list[LakeEvent] = []
        for file, held in self._files.of_ids(tenant, [asset_id, group_id(asset_id)]).items():
            if (rows := self._rows_of(tenant, file, held, ("tenant", "id", *LakeEvent._fields))) is not None:
                found += map(LakeEvent, *(rows.column(name).to_pylist() for name in LakeEvent._fields))
        return sorted(found)

    def search(
        self, tenant: str, condition: AssetFilter, index: TermIndex, *, start: str, limit: int, deadline: float
    ) -> SearchPage:
        """In the order of buckets, and of ids within a bucket: a page of something common reads the files of one."""
        found: list[AssetState] = []
        parts = self._parts_from(tenant, start)
        for number, part in enumerate(parts):
            page = self._search_part(tenant, condition, index, part, limit=limit - len(found), deadline=deadline)
            found += page.states
            if page.next_start is not None:
                return SearchPage(found, page.next_start)
            if number + 1 < len(parts) and time.monotonic() > deadline:
                return SearchPage(found, parts[number + 1].groups[0].first)
        return SearchPage(found, None)

    def _search_part(
        self,
        tenant: str,
        condition: AssetFilter,
        index: TermIndex,
        part: _Part,
        *,
        limit: int,
        deadline: float,
    ) -> SearchPage:
        """Reads the row groups in the order of their smallest ids, leaving out those that the index rules out. An id
        below the smallest id of the next group cannot occur again, so all rows of its asset are known by then."""
        found: list[AssetState] = []
        candidates: set[str] = set()
        start, groups = part
        ready: list[str] = []  # a read of states looks into every file, so it is for several of them
        size = min(max(limit, MIN_CANDIDATES), MAX_CANDIDATES)
        for position, (_, file, group) in enumerate(groups):
            if self._may_match(tenant, file, group, condition, index):
                candidates |= self._candidates(tenant, file, group, condition, start)
            frontier = groups[position + 1].first if position + 1 < len(groups) else _AFTER_ALL_IDS
            complete = sorted(asset_id for asset_id in candidates if asset_id < frontier)
            candidates.difference_update(complete)
            ready += complete
            is_late = time.monotonic() > deadline and start < frontier
            while ready and (len(ready) >= size or is_late or frontier == _AFTER_ALL_IDS):
                some, ready = ready[:size], ready[size:]
                states = self.states(tenant, some)
                found += [
                    states[asset_id] for asset_id in some if asset_id in states and condition.matches(states[asset_id])
                ]
                if len(found) >= limit:
                    return _page(found, limit)
                if time.monotonic() > deadline:
                    return SearchPage(found, after(some[-1]))
            if is_late and frontier < _AFTER_ALL_IDS:
                return SearchPage(found, frontier)
        return SearchPage(found, None)

    def _parts_from(self, tenant: str, start: str) -> list[_Part]:
        """The row groups of each bucket, from the bucket and the id where the search starts. If the number of buckets
        was changed, all are one part until the old files have been rewritten."""
        files = self._files.of_tenant(tenant)
        counts = {file.buckets for file in files}
        if len(counts) != 1:
            parts = [_Part(start, self._groups_from(files, start))]
        else:
            first = bucket_of(counts.pop())(id_prefix(start)) if start else 0
            of_bucket: dict[int, list[LakeFile]] = defaultdict(list)
            for file in files:
                of_bucket[file.bucket].append(file)
            starts = {bucket: start if bucket == first else "" for bucket in sorted(of_bucket) if bucket >= first}
            parts = [_Part(at, self._groups_from(of_bucket[bucket], at)) for bucket, at in starts.items()]
        return [part for part in parts if part.groups]

    def _groups_from(self, files: Iterable[LakeFile], start: str) -> list[_Group]:
        groups = [
            _Group(group.ids.first or file.first, file, group)
            for file in files
            if start <= file.last
            for group in self._parquet.groups(self._files.io, file.path)
            if group.ids.overlaps(start, _AFTER_ALL_IDS)
        ]
        return sorted(groups, key=lambda entry: entry.first)

    def _may_match(
        self, tenant: str, file: LakeFile, group: RowGroup, condition: AssetFilter, index: TermIndex
    ) -> bool:
        """Whether a row of the group may match. After the first search that visits the group, nothing is read."""

        def read() -> pa.Table | None:
            return self._read(tenant, file, INDEXED_COLUMNS, lambda other: other.number == group.number)

        known = index.terms((tenant, file.path, group.number), read)
        states = (("owner", condition.owner), ("data_source", condition.data_source))
        return known.may_match(condition.terms) and all(known.may_state(name, value) for name, value in states)

    def _candidates(self, tenant: str, file: LakeFile, group: RowGroup, condition: AssetFilter, start: str) -> set[str]:
        rows = self._read(tenant, file, condition.columns(), lambda other: other.number == group.number)
        if rows is None:
            return set()
        rows = condition.prefilter(rows.filter(pc.greater_equal(rows.column("id"), start)))
        return set(rows.column("id").to_pylist())

    def _stated_children(self, tenant: str, parent_id: str) -> set[str]:
        found: set[str] = set()
        for file in self._files.of_tenant(tenant):
            rows = self._read(
                tenant, file, ("tenant", "id", "parent"), lambda group: group.parents.overlaps(parent_id, parent_id)
            )
            if rows is not None:
                found.update(rows.filter(pc.equal(rows.column("parent"), parent_id)).column("id").to_pylist())
        return found

    def _with_prefix(self, tenant: str, prefix: str) -> dict[str, AssetState]:
        def tables() -> Iterator[pa.Table | None]:
            for file in self._files.of_prefix(tenant, prefix):
                rows = self._read(
                    tenant, file, STATE_COLUMNS, lambda group: group.ids.overlaps(prefix, prefix + _AFTER_ALL_IDS)
                )
                yield None if rows is None else rows.filter(pc.starts_with(rows.column("id"), prefix))

        return _merged(tables())

    def _rows_of(self, tenant: str, file: LakeFile, ids: Sequence[str], columns: Sequence[str]) -> pa.Table | None:
        return _of_tenant(tenant, self._parquet.read_ids(self._files.io, file.path, columns, sorted(ids)))

    def _read(
        self, tenant: str, file: LakeFile, columns: Sequence[str], wanted: Callable[[RowGroup], bool]
    ) -> pa.Table | None:
        return _of_tenant(tenant, self._parquet.read(self._files.io, file.path, columns, wanted))


def _of_tenant(tenant: str, rows: pa.Table | None) -> pa.Table | None:
    """A second check: only the tenant's rows leave a file, whatever its metadata states."""
    return None if rows is None else rows.filter(pc.equal(rows.column("tenant"), tenant))


def _merged(tables: Iterable[pa.Table | None]) -> dict[str, AssetState]:
    states = merge_states(state for rows in tables if rows is not None for state in read_states(rows))
    return {asset_id: state for (_, asset_id), state in states.items()}


def _page(found: list[AssetState], limit: int) -> SearchPage:
    return SearchPage(found[:limit], after(found[limit - 1].id))


def after(asset_id: str) -> str:
    """Where a search continues after this asset. All ids have the same length, so none is in between."""
    return f"{asset_id}+"
