"""The two lanes of ingestion: hot for what people search for, bulk for plain columns and fields (decision D7)."""

from typing import Literal, get_args

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.layers import TAGS

Lane = Literal["hot", "bulk"]
LANES: tuple[Lane, ...] = get_args(Lane)

# Nine in ten assets, and rarely searched for one by one.
BULK_TYPES = frozenset({"column", "field", "bi_field"})

# Only columns are directly below one of these; producers of OpenLineage state tables as datasets. Names of topics and
# files have separators of their own.
RELATIONAL = ("table", "view", "materialized_view", "dataset")


def lane_of(event: AssetEvent) -> Lane:
    """The lane of an event that arrived in bulk; a single write always takes the hot lane.

    Tags, edits by people, enrichment by rules and deletions are hot for every entity type, because decisions depend on
    them. So is a column whose name does not begin with its parent's name: the lake finds the children of a table by
    the id prefix that they share.
    """
    statement = event.statement
    plain = (
        statement.layer == "source"
        and statement.operation == "upsert"
        and statement.entity_type in BULK_TYPES
        and not statement.attributes.get(TAGS)
    )
    return "bulk" if plain and _is_named_below_parent(event) else "hot"


def _is_named_below_parent(event: AssetEvent) -> bool:
    parent = event.statement.attributes.get("parent")
    if parent is None:
        return True
    above = ids.name_prefix(event.statement.qualified_name)
    return parent == above or ids.resolve(event.tenant, parent) == ids.asset_id(event.tenant, above)
