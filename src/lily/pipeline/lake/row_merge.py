"""Merges rows of the same asset in a sorted stream of rows."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from lily.model.states import merge_states
from lily.store.lake.rows import STATE_SCHEMA, read_states, states_to_batch


def merge_sorted(batches: Iterable[pa.RecordBatch], run: int) -> Iterator[pa.RecordBatch]:
    """Rows that are the only one of their asset, as nearly all are, pass without being decoded."""
    rest: pa.Table | None = None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        table = pa.Table.from_batches([batch]).select(STATE_SCHEMA.names).cast(STATE_SCHEMA)
        table = table if rest is None else pa.concat_tables([rest, table]).combine_chunks()
        # The rows of the last asset may continue in the next batch.
        last = table.column("id")[-1].as_py()
        at = pc.index(table.column("id"), last).as_py()
        rest = table.slice(at)
        yield from _merge(table.slice(0, at), run)
    if rest is not None:
        yield from _merge(rest, run)


def _merge(table: pa.Table, run: int) -> Iterator[pa.RecordBatch]:
    if table.num_rows == 0:
        return
    ids = table.column("id").combine_chunks()
    same = pc.equal(ids.slice(1), ids.slice(0, len(ids) - 1)) if len(ids) > 1 else pa.array([], pa.bool_())
    no = pa.array([False])
    same_as_previous = _concat(no, same)
    repeated = pc.or_(same_as_previous, _concat(same, no))
    rows = _with_run(table.filter(pc.invert(repeated)), run)
    if pc.any(repeated).as_py():
        states = merge_states(read_states(table.filter(repeated))).values()
        rows = pa.concat_tables([rows, pa.Table.from_batches([states_to_batch(states, run)])])
        # Each merged row takes the position of the first row of its asset.
        positions = pa.array(range(len(ids)))
        single = positions.filter(pc.invert(repeated))
        first = positions.filter(pc.and_(repeated, pc.invert(same_as_previous)))
        rows = rows.take(pc.sort_indices(pa.concat_arrays([single, first])))
    yield from rows.combine_chunks().to_batches()


def _concat(*parts: pa.Array | pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays([part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part for part in parts])


def _with_run(table: pa.Table, run: int) -> pa.Table:
    numbers = pa.array([run] * table.num_rows, pa.int64())
    return table.set_column(STATE_SCHEMA.get_field_index("run"), STATE_SCHEMA.field("run"), numbers)
