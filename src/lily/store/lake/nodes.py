"""What the graph stores of assets in the lake, from their rows. A new job alone has thirty columns, so a row that shows
by itself what there is to store takes a short way: it is the only one of its asset, and a source alone states it."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from lily.lineage.lake_nodes import LakeNode, lake_node_of
from lily.model.assets import DELETED
from lily.model.held import HELD_FIELDS
from lily.model.states import merge_states
from lily.store.lake.rows import STATE_COLUMNS, read_states

NODE_COLUMNS: Final = (*STATE_COLUMNS, "entity_type", "name", "parent")
_STANDS: Final = f'"{DELETED}":false'  # a key of JSON: in a text its quotes would be escaped


def read_nodes(tables: Sequence[pa.Table]) -> dict[str, LakeNode]:
    """By id; the rows are of one tenant and have NODE_COLUMNS."""
    rows = pa.concat_tables(tables) if tables else None
    if rows is None or not rows.num_rows:
        return {}
    is_plain = _are_plain(rows)
    plain, others = rows.filter(is_plain), rows.filter(pc.invert(is_plain))
    columns = (plain.column(name).to_pylist() for name in ("parent", "qualified_name", "name", "entity_type"))
    nodes = dict(zip(plain.column("id").to_pylist(), map(LakeNode, *columns), strict=True))
    states = merge_states(read_states(others))
    return nodes | {asset_id: lake_node_of(state) for (_, asset_id), state in states.items()}


def _are_plain(rows: pa.Table) -> pa.ChunkedArray:
    counts = Counter(rows.column("id").to_pylist())
    repeated = [asset_id for asset_id, count in counts.items() if count > 1]
    source = rows.column("source")
    found = pc.match_substring(source, _STANDS)
    for name in ("source_clocks", "enriched", "user"):
        found = pc.and_(found, pc.is_null(rows.column(name)))
    for field in HELD_FIELDS:
        found = pc.and_not(found, pc.match_substring(source, f'"{field}'))
    found = pc.and_not(found, pc.is_in(rows.column("id"), pa.array(repeated, pa.string())))
    return pc.fill_null(found, False)
