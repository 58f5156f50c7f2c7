"""Reads the row groups of data files that can hold what is looked for, and nothing else of them."""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO

FOOTERS = 512  # of files: a footer grows with the row groups of its file, so not all of a large lake are kept


class Span(NamedTuple):
    """The smallest and the largest value of a column in a row group; None where that is not known."""

    first: str | None
    last: str | None

    def meets(self, first: str, last: str) -> bool:
        return (self.first is None or self.first <= last) and (self.last is None or first <= self.last)


class RowGroup(NamedTuple):
    number: int
    ids: Span
    parents: Span


class Footer(NamedTuple):
    metadata: Any
    groups: list[RowGroup]


class ParquetFiles:
    """Data files never change, so their footers are kept. Raises OSError where a file cannot be read."""

    def __init__(self) -> None:
        self._footers: OrderedDict[str, Footer] = OrderedDict()
        self._lock = Lock()  # readers are threads

    def groups(self, io: FileIO, path: str) -> list[RowGroup]:
        return self._footer(io, path).groups

    def read(
        self, io: FileIO, path: str, columns: Sequence[str], wanted: Callable[[RowGroup], bool]
    ) -> pa.Table | None:
        """The wanted row groups; None where there are none."""
        footer = self._footer(io, path)
        numbers = [group.number for group in footer.groups if wanted(group)]
        if not numbers:
            return None
        with io.new_input(path).open() as opened, pq.ParquetFile(opened, metadata=footer.metadata) as file:
            return _rows(file, numbers, columns)

    def read_ids(self, io: FileIO, path: str, columns: Sequence[str], ids: Sequence[str]) -> pa.Table | None:
        """The rows of some ids, which must be sorted; None where there are none.

        Of most files that could have an id by their statistics only one has it, so the ids alone are read first.
        """
        footer = self._footer(io, path)
        numbers = [group.number for group in footer.groups if _has_one(ids, group.ids)]
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
            while len(self._footers) > FOOTERS:
                self._footers.popitem(last=False)
        return footer


def _rows(file: Any, numbers: list[int], columns: Sequence[str]) -> pa.Table:
    # Threads would cost more than they save on a few hundred kilobytes, and readers run side by side anyway.
    return file.read_row_groups(numbers, columns=list(columns), use_threads=False)


def _has_one(ordered: Sequence[str], span: Span) -> bool:
    place = bisect_left(ordered, span.first or "")
    return place < len(ordered) and (span.last is None or ordered[place] <= span.last)


def _read_footer(metadata: Any) -> Footer:
    names = metadata.schema.names
    places = {name: names.index(name) for name in ("id", "parent") if name in names}
    groups = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        groups.append(RowGroup(number, _span(group, places.get("id")), _span(group, places.get("parent"))))
    return Footer(metadata, groups)


def _span(group: Any, column: int | None) -> Span:
    statistics = None if column is None else group.column(column).statistics
    if statistics is None or not statistics.has_min_max:
        return Span(None, None)
    return Span(statistics.min, statistics.max)
