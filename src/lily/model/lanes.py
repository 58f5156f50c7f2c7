"""Two lanes: what people look for goes first, plain columns and fields that come in bulk follow (decision D7)."""

from typing import Literal, get_args

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.layers import TAGS

Lane = Literal["hot", "bulk"]
LANES: tuple[Lane, ...] = get_args(Lane)

# Nine in ten assets of an estate, and nearly never looked for one by one.
BULK_TYPES = frozenset({"column", "field", "bi_field"})


def lane_of(event: AssetEvent) -> Lane:
    """The lane of an event that came in bulk; a single write always takes the hot lane.

    A tag, a person's edit, a rule's enrichment and a deletion are hot, whatever they concern: decisions depend on
    them. So is a column whose name does not place it beside its parent's other columns, because the lake finds the
    children of a table by the place that its name gives them.
    """
    statement = event.statement
    plain = (
        statement.layer == "source"
        and statement.operation == "upsert"
        and statement.entity_type in BULK_TYPES
        and not statement.attributes.get(TAGS)
    )
    return "bulk" if plain and _lies_with_its_parent(event) else "hot"


def _lies_with_its_parent(event: AssetEvent) -> bool:
    parent = event.statement.attributes.get("parent")
    if parent is None:
        return True
    above = ids.prefix(event.statement.qualified_name)
    return parent == above or ids.resolve(event.tenant, parent) == ids.asset_id(event.tenant, above)
