"""The conditions that leave assets out of a list which policies hide from its reader.

They never leave out more than that. They may leave out less: names beyond ASCII, ancestors that only the lake has, and
derived tags where any tag hides. The caller filters what is left.
"""

from typing import Any, LiteralString

from lily.policy import AssetSet
from lily.store.postgres.copying import id_array


def hidden_conditions(hidden: AssetSet) -> list[LiteralString]:
    """What the row of an asset itself shows."""
    conditions: dict[LiteralString, object] = {
        "lower(coalesce(entity_type, '')) <> all (%(hidden_types)s::text[])": hidden.entity_types,
        "coalesce(data_source, '') = ''": hidden.any_data_source,
        "lower(coalesce(data_source, '')) <> all (%(hidden_sources)s::text[])": hidden.data_sources,
        "assets.id <> all (%(hidden_ids)s::uuid[])": hidden.assets,
        "lower(qualified_name) <> all (%(hidden_names)s::text[])": hidden.names,
        "cardinality(tags) = 0": hidden.any_tag,
        "not (stated && %(hidden_tags)s::text[])": hidden.tags,
    }
    return [condition for condition, needed in conditions.items() if needed]


def hides_from_elsewhere(hidden: AssetSet) -> bool:
    """Whether other assets decide: ancestors that are hidden with their descendants, and tags that come from others."""
    return bool(hidden.assets or hidden.names or hidden.tags)


def hidden_parameters(hidden: AssetSet) -> dict[str, Any]:
    return {
        "hidden_types": sorted(hidden.entity_types),
        "hidden_sources": sorted(hidden.data_sources),
        "hidden_ids": id_array(hidden.assets),
        "hidden_names": sorted(hidden.names),
        "hidden_tags": sorted(hidden.tags),
    }
