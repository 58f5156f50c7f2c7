"""The columns that a schema facet states. The fields of a struct become children of its column."""

from typing import NamedTuple

from lily.intake.openlineage.asset_collector import column_name
from lily.intake.openlineage.facets import Json, is_deleted, objects
from lily.model.values import MAX_DEPTH, Checker


class Column(NamedTuple):
    qualified_name: str
    path: str  # within its dataset
    attributes: Json


def schema_columns(checker: Checker, facet: Json, where: str, dataset: str) -> list[Column] | None:
    """None if the facet states no schema."""
    if is_deleted(facet) or facet.get("fields") is None:
        return None
    columns: list[Column] = []
    where = f"{where}.fields"
    _add(checker, columns, (dataset, "", 0), objects(checker, facet["fields"], where), where)
    return columns


def _add(checker: Checker, columns: list[Column], inside: tuple[str, str, int], fields: list[Json], where: str) -> None:
    parent, path, depth = inside
    if depth >= MAX_DEPTH:
        return checker.refuse("TOO_DEEP", f"fields are nested deeper than {MAX_DEPTH} levels", where)
    name_at, type_at, text_at = f"{where}.name", f"{where}.type", f"{where}.description"
    for position, field in enumerate(fields, 1):
        found = column_name(checker, parent, field.get("name"), name_at)
        if found is None:
            continue
        qualified_name, name = found
        given = field.get("ordinal_position")
        attributes: Json = {"name": name, "parent": parent}
        attributes["ordinal_position"] = given if type(given) is int and 0 < given < 2**31 else position
        if (kind := field.get("type")) is not None:
            attributes["data_type"] = checker.text(kind, type_at)
        if (text := field.get("description")) is not None:
            attributes["description"] = checker.text(text, text_at)
        columns.append(Column(qualified_name, f"{path}{name}", attributes))
        if field.get("fields"):
            inner = objects(checker, field["fields"], f"{where}.fields")
            _add(checker, columns, (qualified_name, f"{path}{name}.", depth + 1), inner, where)
    return None
