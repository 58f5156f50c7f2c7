"""Reads facets. An absent facet or null states nothing, `_deleted: true` clears, unknown facets are ignored."""

from typing import Any

from lily.model.values import MAX_ITEMS, MAX_TAG, Checker

Json = dict[str, Any]


def facets_of(checker: Checker, holder: Json, entity: str) -> Json:
    facets = holder.get("facets")
    if facets is None:
        return {}
    if not isinstance(facets, dict):
        checker.refuse("INVALID_TYPE", "facets must be an object", f"{entity}.facets")
        return {}
    return facets


def facet_of(checker: Checker, facets: Json, name: str, entity: str) -> Json | None:
    facet = facets.get(name)
    if facet is None or isinstance(facet, dict):
        return facet
    checker.refuse("INVALID_TYPE", f"the facet {name} must be an object", f"{entity}.facets.{name}")
    return None


def is_deleted(facet: Json) -> bool:
    return facet.get("_deleted") is True


def objects(checker: Checker, given: Any, entity: str) -> list[Json]:
    """A list of objects. Absent and null mean an empty list."""
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        checker.refuse("INVALID_TYPE", f"{entity} must be a list of objects", entity)
        return []
    return given


def description(checker: Checker, facets: Json, entity: str) -> Json:
    """The attributes that a documentation facet states."""
    facet = facet_of(checker, facets, "documentation", entity)
    if facet is None:
        return {}
    if is_deleted(facet):
        return {"description": None}
    text = facet.get("description")
    return {} if text is None else {"description": checker.text(text, f"{entity}.facets.documentation.description")}


def ownership(checker: Checker, facets: Json, entity: str) -> Json:
    """`owner` is the first owner; `owners` has all of them with their types."""
    facet = facet_of(checker, facets, "ownership", entity)
    if facet is None:
        return {}
    where = f"{entity}.facets.ownership.owners"
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


class Tags:
    """The tags of a tags facet: of the dataset or job itself, and of its fields."""

    __slots__ = ("_of_fields", "covers_fields", "own")

    def __init__(self, checker: Checker, facet: Json, entity: str) -> None:
        where = f"{entity}.facets.tags.tags"
        given = [] if is_deleted(facet) else objects(checker, facet.get("tags"), where)
        self.own: list[str] = []
        self._of_fields: dict[str, list[str]] = {}
        for entry in given:
            tag, field = _tag(checker, entry, where), entry.get("field")
            if field is not None:
                self._of_fields.setdefault(checker.name(field, f"{where}.field") or "", []).extend(tag)
            else:
                self.own.extend(tag)
        # A facet that names no field leaves the tags of fields alone; an empty one clears them.
        self.covers_fields = bool(self._of_fields) or not given

    def of_field(self, field: str) -> list[str]:
        return list(dict.fromkeys(self._of_fields.get(field, ())))

    def fields(self) -> list[str]:
        return list(self._of_fields)


def tags(checker: Checker, facets: Json, entity: str) -> Tags | None:
    """None if there is no tags facet."""
    facet = facet_of(checker, facets, "tags", entity)
    return None if facet is None else Tags(checker, facet, entity)


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
