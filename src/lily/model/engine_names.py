"""Mappings from the names that an engine's catalogue uses to the qualified names of assets."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lily.model import ids
from lily.model.errors import Problem, Refused
from lily.model.suggestions import MAX_LENGTH, hint
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, Checker, normal_form

FIELDS = ("name", "data_source", "engine_name", "asset_name")
_MEANING = {
    "name": "what the mapping is called",
    "data_source": "the data source that the engine reads",
    "engine_name": "a catalogue, schema or table as the engine names it",
    "asset_name": "the qualified name of the same object in Lily",
}


@dataclass(frozen=True, slots=True)
class EngineMapping:
    """What the engine calls `engine_name`, and everything below it, is `asset_name` in Lily."""

    id: str
    name: str
    data_source: str
    engine_name: str
    asset_name: str

    def as_dict(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in FIELDS}


def parse_engine_mapping(data: Any, *, mapping_id: str) -> EngineMapping:
    """Raises Refused with every problem found."""
    if not isinstance(data, dict):
        described = f"an engine mapping must be a JSON object with the fields {', '.join(FIELDS)}"
        raise Refused(Problem("INVALID_TYPE", described))
    checker = Checker()
    for field in [str(field) for field in data if field not in FIELDS][:20]:
        checker.refuse(
            "UNKNOWN_FIELD", f"unknown field `{field[:MAX_LENGTH]}`; {hint(field, FIELDS)}", field[:MAX_LENGTH]
        )
    found = {field: _field(checker, data.get(field), field) for field in FIELDS}
    if checker.problems:
        raise Refused(*checker.problems)
    return EngineMapping(mapping_id, **found)


def stored_form(name: str) -> str:
    """An engine's name as the catalogue would store it: an engine keeps `e` and an accent apart, or a space at the end,
    and its column would not be found by that name."""
    if name.isascii() and name.strip() == name:
        return name
    return normal_form(name, MAX_QUALIFIED_NAME) or name


def usual_spellings(table: str, column: str) -> tuple[str, ...]:
    """The names that a column may have below the name of its table, where nothing but its id is known of it. `column`
    is its qualified name by an engine."""
    below = column[len(ids.name_prefix(column)) :]
    return tuple(dict.fromkeys(table + one for one in (below, below.lower(), below.upper())))


def qualified_name(engine_name: str, data_source: str, mappings: Iterable[EngineMapping]) -> str:
    """The qualified name of an engine's object: by the mapping of its data source with the longest matching name, else
    the same name. Names compare without case."""
    given = engine_name.casefold()
    best, longest = engine_name, -1
    for mapping in mappings:
        start = mapping.engine_name.casefold()
        applies = mapping.data_source.casefold() == data_source.casefold()
        if applies and len(start) > longest and (given == start or given.startswith(f"{start}.")):
            best, longest = mapping.asset_name + engine_name[len(mapping.engine_name) :], len(start)
    return best


def engine_names(asset_name: str, data_source: str, mappings: Iterable[EngineMapping]) -> list[str]:
    """The names under which an engine has an asset: by the mappings of its data source with the longest matching asset
    name, else the same name. Only names that lead back to the asset: none if a mapping gives them to others."""
    known, given = list(mappings), asset_name.casefold()
    by_length: dict[int, list[str]] = {}
    for mapping in known:
        start = mapping.asset_name.casefold()
        applies = mapping.data_source.casefold() == data_source.casefold()
        if applies and (given == start or given.startswith(f"{start}.")):
            name = mapping.engine_name + asset_name[len(mapping.asset_name) :]
            by_length.setdefault(len(start), []).append(name)
    for names in (*(by_length[length] for length in sorted(by_length, reverse=True)), [asset_name]):
        found = dict.fromkeys(name for name in names if qualified_name(name, data_source, known).casefold() == given)
        if found:
            return list(found)
    return []


def _field(checker: Checker, value: Any, field: str) -> str:
    if value is None:
        checker.refuse("MISSING_FIELD", f"{field} is required: {_MEANING[field]}", field)
        return ""
    limit = MAX_QUALIFIED_NAME if field.endswith("_name") else MAX_NAME
    return checker.name(value, field, limit) or ""
