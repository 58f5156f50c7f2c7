"""The columns of tables whatever somebody has stated them to be: stating that a column is something else, or of another
table, takes nothing of the table away."""

from collections.abc import Collection
from typing import Any, NamedTuple

from lily.model import ids
from lily.model.lanes import BULK_TYPES, RELATIONAL
from lily.store.postgres.copying import id_array


class HeldColumn(NamedTuple):
    """What is named directly below a table, or is a column that was moved away from it without authority."""

    table: str
    id: str
    qualified_name: str
    stated_name: str | None
    is_deleted: bool
    is_cut: bool = False  # it was deleted with authority

    @property
    def name(self) -> str:
        """What somebody has stated to be something else may have any name, so that of its place counts."""
        if self.stated_name and ids.name_prefix(self.qualified_name) != self.table:
            return self.stated_name
        return ids.own_name(self.qualified_name)


def held_columns_parameters(tenant: str, tables: Collection[str]) -> dict[str, Any]:
    """Of the query `table_changes/columns`, whose rows are those of `HeldColumn`."""
    between = [ids.ids_below(tenant, name) for name in tables]
    return {
        "tenant": tenant,
        "names": list(tables),
        "ids": id_array(ids.asset_id(tenant, name) for name in tables),
        "firsts": id_array(first for first, _ in between),
        "lasts": id_array(last for _, last in between),
        "types": [*RELATIONAL, *sorted(BULK_TYPES)],
        "columns": sorted(BULK_TYPES),
    }
