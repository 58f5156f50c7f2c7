"""Parses single facets: `_deleted: true` clears what the facet had stated."""

from typing import Any

import orjson

from lily.model.values import MAX_ITEMS, MAX_TAG, Checker

Json = dict[str, Any]

MAX_KEPT = 16 << 10  # bytes of a facet that is kept as it came
MAX_ENTRIES = 20_000  # of one list or object in a facet: no event may have more assets or edges

_TYPES = frozenset({"table", "view", "materialized_view", "file", "topic", "stream", "model"})


def is_deleted(facet: Json) -> bool:
    return facet.get("_deleted") is True


def objects(checker: Checker, given: Any, entity: str) -> list[Json]:
    """A list of objects. Absent and null mean an empty list."""
    if given is None:
        return []
    if isinstance(given, list) and len(given) > MAX_ENTRIES:
        checker.refuse("TOO_LONG", f"{entity} must not have more than {MAX_ENTRIES} items", entity)
        return []
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        checker.refuse("INVALID_TYPE", f"{entity} must be a list of objects", entity)
        return []
    return given


def documentation(checker: Checker, facet: Json, where: str) -> Json:
    """The attributes that a documentation facet states."""
    if is_deleted(facet):
        return {"description": None}
    text = facet.get("description")
    return {} if text is None else {"description": checker.text(text, f"{where}.description")}


def ownership(checker: Checker, facet: Json, where: str) -> Json:
    """`owner` is the first owner; `owners` has all of them with their types."""
    where = f"{where}.owners"
    owners = [] if is_deleted(facet) else objects(checker, facet.get("owners"), where)
    if not owners:
        return {"owner": None, "owners": None}
    if len(owners) > MAX_ITEMS:
        checker.refuse("TOO_LONG", f"{where} must not have more than {MAX_ITEMS} items", where)
        return {}
    named = [
        {"name": checker.name(owner.get("name"), f"{where}.name"), "type": checker.free(owner.get("type"), where)}
        for owner in owners
    ]
    return {"owner": named[0]["name"], "owners": [_without_null(owner) for owner in named]}


def kept_as(checker: Checker, facet: Json, where: str, attribute: str) -> Json:
    """The facet as an attribute, without what it says about itself."""
    if is_deleted(facet):
        return {attribute: None}
    fields = {name: value for name, value in facet.items() if not name.startswith("_")}
    if json_size(fields) > MAX_KEPT:
        checker.refuse("TOO_LONG", f"{where} must not exceed {MAX_KEPT} bytes", where)
        return {}
    return {attribute: checker.free(fields, where)}


def json_size(value: Any) -> int:
    """In bytes. 0 for what is no valid JSON: checking it finds out why."""
    try:
        return len(orjson.dumps(value))
    except TypeError:  # too deep, or text that is no Unicode
        return 0


def dataset_type(checker: Checker, facet: Json, where: str) -> str | None:
    """The type of the asset; None if Lily does not know the one that the facet names."""
    kind, subtype = facet.get("datasetType"), facet.get("subType")
    if kind is None:
        return None
    name = (checker.name(kind, f"{where}.datasetType") or "").lower()
    if name == "view" and isinstance(subtype, str) and subtype.lower().startswith("materialized"):
        return "materialized_view"
    return name if name in _TYPES else None


class Tags:
    """The tags of a tags facet: of the dataset or job itself, and of its fields."""

    __slots__ = ("_of_fields", "covers_fields", "own")

    def __init__(self, checker: Checker, facet: Json, where: str) -> None:
        where = f"{where}.tags"
        given = [] if is_deleted(facet) else objects(checker, facet.get("tags"), where)
        own: list[str] = []
        self._of_fields: dict[str, list[str]] = {}
        for entry in given:
            tag, field = _tag(checker, entry, where), entry.get("field")
            if field is not None:
                self._of_fields.setdefault(checker.name(field, f"{where}.field") or "", []).extend(tag)
            else:
                own.extend(tag)
        self.own = list(dict.fromkeys(own))
        # A facet that names no field leaves the tags of fields alone; an empty one clears them.
        self.covers_fields = bool(self._of_fields) or not given

    def of_field(self, field: str) -> list[str]:
        return list(dict.fromkeys(self._of_fields.get(field, ())))

    def fields(self) -> list[str]:
        return list(self._of_fields)


def _tag(checker: Checker, entry: Json, where: str) -> list[str]:
    """`key` if the value is empty or true, none if it is false, else `key:value`."""
    key, value = entry.get("key"), entry.get("value")
    if not isinstance(key, str):
        checker.refuse("INVALID_TYPE", f"{where}.key must be a string", f"{where}.key")
        return []
    if value is not None and not isinstance(value, str | bool | int | float):
        checker.refuse("INVALID_TYPE", f"{where}.value must be a string", f"{where}.value")
        return []
    text = str(value).strip().lower() if value is not None else ""
    if text == "false":
        return []
    name = checker.name(key if text in {"", "true"} else f"{key}:{value}", f"{where}.key", MAX_TAG)
    return [name] if name else []


def _without_null(entry: Json) -> Json:
    return {key: value for key, value in entry.items() if value is not None}
