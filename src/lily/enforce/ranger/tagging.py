"""The tags of tables and columns as a Ranger plug-in reads them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lily.enforce.ranger.definitions import DATA
from lily.enforce.ranger.entries import can_be_named, only
from lily.enforce.ranger.rights import Ruling
from lily.enforce.ranger.tables import CatalogueTable

TagNames = Callable[[str], str]  # how a tag is shown, by its folded name
Tagged = tuple[dict[str, Any], tuple[str, ...]]


def tagged_resources(tables: Iterable[CatalogueTable], ruling: Ruling, shown: TagNames) -> Iterator[Tagged]:
    """The effective tags of each table and of each column that has others than its table. A tag of a table is also one
    of its columns."""
    for table in tables:
        if not can_be_named(*table.path):
            continue
        own = _tags(ruling, table.path, is_column=False)
        if own:
            yield _elements(table.path), tuple(map(shown, own))
        for column in table.columns:
            tags = _tags(ruling, (*table.path, column.name), is_column=True)
            if tags != own and tags and can_be_named(column.name):
                yield _elements((*table.path, column.name)), tuple(map(shown, tags))


def _tags(ruling: Ruling, path: tuple[str, ...], *, is_column: bool) -> list[str]:
    found = ruling.facts(path, is_column=is_column)
    return sorted({tag for facts in found for tag in facts.tags})


def _elements(path: tuple[str, ...]) -> dict[str, Any]:
    return {level: only(name).as_json() for level, name in zip(DATA, path, strict=False)}
