"""Reads only those row groups of data files that can contain the rows of a look-up."""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO

MAX_FOOTERS = 512  # a footer grows with the row groups of its file, so not all of a large lake's are cached


class ValueRange(NamedTuple):
    """The smallest and the largest value of a column in a row group; None if unknown."""

    first: str | None
    last: str | None

    def overlaps(self, first: str, last: str) -> bool:
        return (self.first is None or self.first <= last) and (self.last is None or first <= self.last)


class RowGroup(NamedTuple):
    number: int
    ids: ValueRange
    parents: ValueRange


class Footer(NamedTuple):
    metadata: Any
    groups: list[RowGroup]


class ParquetFiles:
    """Data files are immutable, so their footers are cached. Raises OSError if a file cannot be read."""

    def __init__(self) -> None:
        self._footers: OrderedDict[str, Footer] = OrderedDict()
        self._lock = Lock()  # several threads read

    def groups(self, io: FileIO, path: str) -> list[RowGroup]:
        return self._footer(io, path).groups

    def read(
        self, io: FileIO, path: str, columns: Sequence[str], wanted: Callable[[RowGroup], bool]
    ) -> pa.Table | None:
        """The rows of the wanted row groups; None if there are none."""
        footer = self._footer(io, path)
        numbers = [group.number for group in footer.groups if wanted(group)]
        if not numbers:
            return None
        with io.new_input(path).open() as opened, pq.ParquetFile(opened, metadata=footer.metadata) as file:
            return _rows(file, numbers, columns)

    def read_ids(self, io: FileIO, path: str, columns: Sequence[str], ids: Sequence[str]) -> pa.Table | None:
        """The rows of these ids, which must be sorted; None if there are none.

        Statistics often match several files of which only one contains the id, so the id column is read first.
        """
        footer = self._footer(io, path)
        numbers = [group.number for group in footer.groups if _overlaps_any(group.ids, ids)]
        if not numbers:
            return None
        sought = pa.array(ids)
        with io.new_input(path).open() as opened, pq.ParquetFile(opened, metadata=footer.metadata) as file:
            held = [at for at in numbers if pc.any(pc.is_in(_rows(file, [at], ["id"]).column("id"), sought)).as_py()]
            if not held:
                return None
            rows = _rows(file, held, columns)
        return rows.filter(pc.is_in(rows.column("id"), sought))

    def _footer(self, io: FileIO, path: str) -> Footer:
        with self._lock:
            if path in self._footers:
                self._footers.move_to_end(path)
                return self._footers[path]
        with io.new_input(path).open() as opened, pq.ParquetFile(opened) as file:
            footer = _read_footer(file.metadata)
        with self._lock:
            self._footers[path] = footer
            while len(self._footers) > MAX_FOOTERS:
                self._footers.popitem(last=False)
        return footer


def _rows(file: Any, numbers: list[int], columns: Sequence[str]) -> pa.Table:
    # Threads would cost more than they save on a few hundred kilobytes, and several reads run in parallel anyway.
    return file.read_row_groups(numbers, columns=list(columns), use_threads=False)


def _overlaps_any(values: ValueRange, ordered: Sequence[str]) -> bool:
    index = bisect_left(ordered, values.first or "")
    return index < len(ordered) and (values.last is None or ordered[index] <= values.last)


def _read_footer(metadata: Any) -> Footer:
    names = metadata.schema.names
    columns = {name: names.index(name) for name in ("id", "parent") if name in names}
    groups = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        groups.append(
            RowGroup(number, _value_range(group, columns.get("id")), _value_range(group, columns.get("parent")))
        )
    return Footer(metadata, groups)


def _value_range(group: Any, column: int | None) -> ValueRange:
    statistics = None if column is None else group.column(column).statistics
    if statistics is None or not statistics.has_min_max:
        return ValueRange(None, None)
    return ValueRange(statistics.min, statistics.max)
