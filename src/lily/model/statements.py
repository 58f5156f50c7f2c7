"""A statement about an asset, validated and normalised. The API and the pipeline use the same function."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

from lily.model import ids
from lily.model.assets import CUT, DELETED, ENTITY_TYPES, LAYERS, SUPPRESSED, TYPE, LayerName, tag_key
from lily.model.errors import Problem, Refused
from lily.model.held import AUTHORISED, AUTHORISED_PARENT, COVERS, PARENT_ID, RELEASED
from lily.model.layers import TAGS, Layer
from lily.model.releases import Release, read_release
from lily.model.suggestions import MAX_LENGTH, hint
from lily.model.values import MAX_ATTRIBUTES, MAX_KEY, MAX_NAME, MAX_QUALIFIED_NAME, MAX_TAG, MAX_TEXT, Checker

Operation = Literal["upsert", "delete", "restore", "tag", "untag", "suppress", "unsuppress", "release"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
_SINGLE_TAG_OPERATIONS = frozenset({"tag", "untag", "suppress", "unsuppress"})
_DELETING = frozenset({"delete", "restore"})
_PROPAGATING = frozenset({"delete", "restore", "release"})
MAX_ORIGINS = 1_000  # stored with a suppression, so that a new origin can be recognised
NAME_ATTRIBUTES = frozenset({"name", "owner", "created_by", "data_source", "external_id"})
# The attributes that are texts, with the longest of each.
_PLAIN_TEXTS = {
    **dict.fromkeys(NAME_ATTRIBUTES, MAX_NAME),
    **dict.fromkeys(("parent", "qualified_name"), MAX_QUALIFIED_NAME),
    "description": MAX_TEXT,
}
PLAIN_ATTRIBUTES = frozenset(_PLAIN_TEXTS) - {"qualified_name"}


class Statement(NamedTuple):
    """`attributes`: None clears one, an absent one is not stated."""

    layer: LayerName
    operation: Operation
    qualified_name: str
    entity_type: str | None
    attributes: dict[str, Any]
    tag: str | None = None
    by: str = ""
    reason: str = ""  # of a suppression
    origins: tuple[str, ...] = ()  # of the tag when it was suppressed
    authorised: bool = False  # the caller had `policy:write`, so the statement may remove protective tags
    release: Release | None = None  # what a release ends

    def as_data(self) -> dict[str, Any]:
        """The `data` of the event. `read_statement` returns the same statement from it."""
        data = {
            "layer": self.layer,
            "operation": self.operation,
            "qualified_name": self.qualified_name,
            "entity_type": self.entity_type,
            "attributes": self.attributes or None,
            "tag": self.tag,
            "by": self.by or None,
            "reason": self.reason or None,
            "origins": list(self.origins) or None,
            "authorised": self.authorised or None,
            "release": self.release.as_data() if self.release else None,
        }
        return {key: value for key, value in data.items() if value is not None}

    def as_layer(self, tenant: str, clock: str) -> Layer:
        """The layer that this statement alone would create, with the given clock."""
        if self.release is not None:
            return Layer(self.release.fields(), clock)
        attributes, operation = self.attributes, self.operation
        fields: dict[str, Any] = {key: value for key, value in attributes.items() if value is not None}
        clocks: dict[str, Any] = {}
        if len(fields) < len(attributes):
            clocks = {key: clock for key, value in attributes.items() if value is None}
        parent = fields.get("parent")
        if parent is not None:
            fields[PARENT_ID] = ids.resolve(tenant, parent)
        elif "parent" in clocks:
            clocks[PARENT_ID] = clock
        if self.layer == "source":
            if self.entity_type is not None:
                fields[TYPE] = self.entity_type
            fields[DELETED] = operation == "delete"
        else:
            if operation in _DELETING:
                fields[DELETED] = operation == "delete"
            if "parent" in attributes:
                fields[COVERS] = self.authorised
        if operation == "delete":
            fields[CUT] = self.authorised
        if self.tag is not None or TAGS in attributes:
            self._state_tags(fields, clocks, clock)
        if self.authorised:
            fields |= self._authority()
        return Layer(fields, clock, clocks or None)

    def _authority(self) -> dict[str, Any]:
        """The fields that an authorised statement has in addition: what it leaves out ends (`lily.model.held`)."""
        ends = {
            AUTHORISED: TAGS in self.attributes,
            AUTHORISED_PARENT: "parent" in self.attributes,
        }
        if self.operation == "untag" and self.tag is not None:
            ends[RELEASED + tag_key(self.tag)] = True
        return {field: True for field, stated in ends.items() if stated}

    def _state_tags(self, fields: dict[str, Any], clocks: dict[str, Any], clock: str) -> None:
        if TAGS in self.attributes:
            # A list states all tags: an empty list and null both clear them.
            clocks.pop(TAGS, None)
            fields[TAGS] = {tag_key(tag): tag for tag in self.attributes[TAGS] or ()}
        elif self.operation == "suppress" and self.tag is not None:
            about = {"tag": self.tag, "reason": self.reason, "by": self.by, "origins": list(self.origins)}
            fields[SUPPRESSED + tag_key(self.tag)] = about
        elif self.operation == "unsuppress" and self.tag is not None:
            clocks[SUPPRESSED + tag_key(self.tag)] = clock
        elif self.tag is not None:
            key = tag_key(self.tag)
            fields[TAGS] = {key: self.tag} if self.operation == "tag" else {}
            clocks[TAGS] = {key: clock}


def may_propagate(statement: Statement) -> bool:
    """Whether a statement can change derived tags: one about tags, a suppression, a deletion or a release.

    A new parent can as well, but nearly every statement names the parent and hardly any changes it.
    """
    return TAGS in statement.attributes or statement.tag is not None or statement.operation in _PROPAGATING


def read_statement(data: Mapping[str, Any], *, tenant: str) -> Statement:
    """Validates the `data` of an asset event. Raises Refused with every problem found."""
    return read_plain_statement(data) or read_any_statement(data, tenant=tenant)


def read_plain_statement(data: Mapping[str, Any]) -> Statement | None:  # noqa: PLR0911 - one per check
    """The statement if it obviously passes every check and need not be normalised, as nearly all do: a source states an
    asset by its name with plain attributes. None if that has to be looked at (`read_any_statement`)."""
    if data.get("layer", "source") != "source" or data.get("operation", "upsert") != "upsert":
        return None
    attributes, entity_type = data.get("attributes"), data.get("entity_type")
    if type(attributes) is not dict or "name" not in attributes or data.get("authorised") is True:
        return None
    if type(entity_type) is not str or entity_type not in ENTITY_TYPES:
        return None
    qualified_name = data.get("qualified_name")
    if qualified_name is None:
        qualified_name = attributes.get("qualified_name")
    if not is_plain_name(qualified_name, MAX_QUALIFIED_NAME) or ids.looks_like_uuid(qualified_name):
        return None
    if not are_plain(attributes):
        return None
    parent, by = attributes.get("parent", ""), data.get("by", "")
    if parent == qualified_name or ids.looks_like_uuid(parent) or not (by == "" or is_plain_name(by, MAX_NAME)):
        return None
    attributes = attributes.copy()  # the caller's stays as it is, and may be changed
    attributes.pop("qualified_name", None)
    return Statement("source", "upsert", qualified_name, entity_type, attributes, None, by)


def are_plain(attributes: dict[str, Any]) -> bool:
    if not _PLAIN_TEXTS.keys() >= attributes.keys():
        return False
    try:
        together = f"|{'|'.join(attributes.values())}|"
    except TypeError:  # not all are texts
        return False
    if (
        len(together) <= MAX_NAME
        and together.isascii()
        and together.isprintable()
        and not ("||" in together or "| " in together or " |" in together)  # nothing empty, no blanks around
    ):
        return True
    return all(_is_plain(key, value) for key, value in attributes.items())


def _is_plain(key: str, value: str) -> bool:
    if key == "description":
        return len(value) <= MAX_TEXT and value.isascii() and "\x00" not in value
    return is_plain_name(value, _PLAIN_TEXTS[key])


def is_plain_name(value: Any, limit: int) -> TypeGuard[str]:
    return (
        type(value) is str
        and 0 < len(value) <= limit
        and value.isascii()
        and value.isprintable()
        and value[0] != " " != value[-1]
    )


def read_any_statement(data: Mapping[str, Any], *, tenant: str) -> Statement:
    """`read_statement` without the short way."""
    checker = Checker()
    layer = _one_of(checker, data.get("layer", "source"), LAYERS, "layer")
    stated = data.get("operation")
    operation = _one_of(checker, "upsert" if stated is None else stated, OPERATIONS, "operation")
    releases = operation == "release"
    entity_type = _entity_type(checker, data.get("entity_type"), required=layer == "source" and not releases)
    attributes = {} if releases else read_attributes(checker, data.get("attributes"))
    tag = checker.name(data.get("tag"), "tag", MAX_TAG) if operation in _SINGLE_TAG_OPERATIONS else None
    qualified_name = _qualified_name(checker, data, attributes, entity_type)
    if layer == "source" and not releases and _states_no_name(data):
        checker.refuse("MISSING_FIELD", "attributes.name is required", "attributes.name")
    if layer != "source" and operation == "upsert" and not attributes:
        checker.refuse("MISSING_FIELD", "attributes must contain at least one attribute to change", "attributes")
    if layer == "source" and operation not in {"upsert", "delete", "release"}:
        checker.refuse(
            "INVALID_VALUE",
            f"operation {operation!r} is not allowed in the source layer; use upsert or delete",
            "operation",
        )
    by = checker.name(data["by"], "by") if data.get("by") else ""
    reason, origins = _suppression(checker, data) if operation == "suppress" else ("", ())
    release = read_release(checker, data) if releases else None
    if layer != "user" and operation in {"suppress", "unsuppress"}:
        checker.refuse("INVALID_VALUE", f"only the user layer can {operation}", "operation")
    if checker.problems:
        raise Refused(*checker.problems)
    _refuse_own_parent(tenant, qualified_name, attributes)
    return Statement(
        layer,
        operation,
        qualified_name,
        entity_type,
        attributes,
        tag,
        by or "",
        reason,
        origins,
        data.get("authorised") is True,
        release,
    )


def _suppression(checker: Checker, data: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    reason = checker.text(data.get("reason"), "reason")
    if reason is not None and not reason.strip():
        checker.refuse("MISSING_FIELD", "reason is required: why the tag is suppressed on this asset", "reason")
    origins = data.get("origins") or []
    if not isinstance(origins, list) or not all(isinstance(o, str) and ids.looks_like_uuid(o) for o in origins):
        checker.refuse("INVALID_VALUE", "origins must be a list of asset ids", "origins")
        origins = []
    return (reason or "").strip(), tuple(origins[:MAX_ORIGINS])


def read_attributes(checker: Checker, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        checker.refuse("INVALID_TYPE", "attributes must be an object", "attributes")
        return {}
    if len(given) > MAX_ATTRIBUTES:
        checker.refuse("TOO_LONG", f"attributes must not have more than {MAX_ATTRIBUTES} entries", "attributes")
        return {}
    return {key: _attribute(checker, key, value) for key, value in given.items() if key != "qualified_name"}


def _attribute(checker: Checker, key: str, value: Any) -> Any:  # noqa: PLR0911 - one per kind of attribute
    entity = f"attributes.{key}"
    # Before anything else: to clear a field of Lily's own would end what is held.
    if not key or key.startswith("$") or len(key) > MAX_KEY or not key.isprintable():
        return checker.refuse(
            "INVALID_VALUE",
            f"an attribute's name must be printable, at most {MAX_KEY} characters long, and must not begin with $",
            entity[:300],
        )
    if value is None:
        return None
    if key in NAME_ATTRIBUTES:
        return checker.name(value, entity)
    if key == "parent":
        return checker.name(value, entity, MAX_QUALIFIED_NAME)
    if key == TAGS:
        return _distinct_tags(checker.names(value, entity, MAX_TAG))
    if key == "business_terms":
        return checker.names(value, entity)
    if key == "description":
        return checker.text(value, entity)
    return checker.free(value, entity)


def _distinct_tags(tags: list[str] | None) -> list[str] | None:
    return None if tags is None else list({tag_key(tag): tag for tag in reversed(tags)}.values())[::-1]


def _entity_type(checker: Checker, given: Any, *, required: bool) -> str | None:
    if given is None:
        if required:
            checker.refuse("MISSING_FIELD", "entity_type is required", "entity_type")
        return None
    if not isinstance(given, str):
        return checker.refuse("INVALID_TYPE", "entity_type must be a string", "entity_type")
    entity_type = given.strip().lower()
    if entity_type not in ENTITY_TYPES:
        return checker.refuse("UNKNOWN_ENTITY_TYPE", _unknown_type(entity_type[:MAX_LENGTH]), "entity_type")
    return entity_type


@lru_cache(maxsize=256)  # the rows of a bulk body usually repeat their mistake
def _unknown_type(name: str) -> str:
    return f"unknown entity_type `{name}`; {hint(name, ENTITY_TYPES)}"


def _qualified_name(
    checker: Checker, data: Mapping[str, Any], attributes: Mapping[str, Any], entity_type: str | None
) -> str:
    stated = data.get("attributes")
    given = data.get("qualified_name")
    if given is None and isinstance(stated, Mapping):
        given = stated.get("qualified_name")
    if given is not None:
        name = checker.name(given, "qualified_name", MAX_QUALIFIED_NAME) or ""
        if ids.looks_like_uuid(name):
            checker.refuse("INVALID_VALUE", "a qualified_name must not look like a UUID", "qualified_name")
        return name
    name = attributes.get("name") or ""
    scope = attributes.get("parent") or attributes.get("data_source")
    composed = ids.compose_qualified_name(scope, entity_type or "", name)
    if name and len(composed.encode()) > MAX_QUALIFIED_NAME:
        checker.refuse(
            "TOO_LONG",
            f"the composed qualified_name exceeds {MAX_QUALIFIED_NAME} bytes; state a shorter one",
            "qualified_name",
        )
    return composed


def _states_no_name(data: Mapping[str, Any]) -> bool:
    stated = data.get("attributes")
    return not isinstance(stated, Mapping) or stated.get("name") is None


def _refuse_own_parent(tenant: str, qualified_name: str, attributes: Mapping[str, Any]) -> None:
    parent = attributes.get("parent")
    if parent == qualified_name or (
        parent is not None and ids.looks_like_uuid(parent) and parent.lower() == ids.asset_id(tenant, qualified_name)
    ):
        raise Refused(Problem("INVALID_VALUE", "an asset cannot be its own parent", "attributes.parent"))


def _one_of(checker: Checker, given: Any, allowed: tuple[Any, ...], entity: str) -> Any:
    if given in allowed:
        return given
    checker.refuse("INVALID_VALUE", f"{entity} must be one of {', '.join(allowed)}", entity)
    return allowed[0]
