"""The event that states the plain columns of one table at once.

It means the same as one asset event per column, with its own id and time. In the log it is one record, which costs
about as much as a single column does: a table has ten columns or a thousand, and a producer states all of them with
every run.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from lily.model import ids
from lily.model.assets import DELETED, TYPE
from lily.model.envelopes import FUTURE_SKEW, read_envelope
from lily.model.errors import Refused
from lily.model.events import AssetEvent, LogEvent, read_event
from lily.model.held import AUTHORISED_PARENT, PARENT_ID
from lily.model.layers import TAGS, Layer
from lily.model.statements import Statement, read_attributes
from lily.model.states import AssetState
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, MAX_TEXT, Checker

COLUMNS_STATED = "lily.columns.stated"
COLUMN = "column"
MAX_COLUMNS = 500  # of one record: all of them are decoded together

Attributes = Mapping[str, Any]
TenantAsset = tuple[str, str]  # tenant and id
_IMPLIED = frozenset({"name", "parent"})
_ELSEWHERE = _IMPLIED | {TAGS}
_TEXTS = frozenset({"data_type", "description"})


@dataclass(frozen=True, slots=True)
class ColumnsEvent(LogEvent):
    """`columns` has the attributes of each column by name, without its name and parent. None of them is null, and
    none of them is a tag: such statements travel as events of their own."""

    parent: str  # the qualified name
    columns: Mapping[str, Attributes]
    by: str = ""
    authorised: bool = False

    @property
    def key(self) -> bytes:
        return f"{self.tenant}/{ids.asset_id(self.tenant, self.parent)}".encode()

    def as_cloudevent(self) -> dict[str, Any]:
        data: dict[str, Any] = {"parent": self.parent, "columns": self.columns}
        caller = ({"by": self.by} if self.by else {}) | ({"authorised": True} if self.authorised else {})
        return self.enclose(COLUMNS_STATED, ids.asset_id(self.tenant, self.parent), data | caller)

    @property
    def has_authority(self) -> bool:
        return self.authorised

    def without_authority(self) -> "ColumnsEvent":
        return replace(self, authorised=False)

    def states(self) -> Iterator[AssetState]:
        """The state of each column that this event alone makes; the same as those of `events`, at a fraction of the
        cost."""
        tenant, parent, time, at = self.tenant, self.parent, self.time, self.clock
        implied = {PARENT_ID: ids.asset_id(tenant, parent), TYPE: COLUMN, DELETED: False}
        if self.authorised:
            implied[AUTHORISED_PARENT] = True
        found = ids.ids_of_columns(tenant, parent, self.columns)
        for (name, attributes), asset_id in zip(self.columns.items(), found, strict=True):
            layer = Layer({"name": name, "parent": parent, **attributes, **implied}, at)
            yield AssetState(tenant, asset_id, f"{parent}.{name}", time, time, {"source": layer})

    def events(self) -> list[AssetEvent]:
        """One event per column."""
        return [
            AssetEvent(
                self.id,
                self.time,
                self.tenant,
                Statement(
                    "source",
                    "upsert",
                    f"{self.parent}.{name}",
                    COLUMN,
                    {"name": name, "parent": self.parent, **attributes},
                    by=self.by,
                    authorised=self.authorised,
                ),
                correlation=self.correlation,
                trace=self.trace,
            )
            for name, attributes in self.columns.items()
        ]


AssetRecord = AssetEvent | ColumnsEvent


def states_of(event: AssetRecord) -> Iterator[AssetState]:
    """The states that an event of either kind makes, one per asset."""
    return event.states() if isinstance(event, ColumnsEvent) else iter((AssetState.of(event),))


def events_of(event: AssetRecord, assets: Container[TenantAsset] | None = None) -> list[AssetEvent]:
    """The statements of an event of either kind about these assets, or all of them."""
    found = event.events() if isinstance(event, ColumnsEvent) else [event]
    return found if assets is None else [one for one in found if (one.tenant, one.asset_id) in assets]


def travels_with_table(qualified_name: str, entity_type: str, attributes: Attributes) -> bool:
    """Whether a statement of the source layer can be part of a ColumnsEvent."""
    if entity_type != COLUMN or TAGS in attributes or None in attributes.values():
        return False
    parent, name = attributes.get("parent", ""), attributes.get("name", "")
    return bool(parent) and not ids.has_separator(name) and qualified_name == f"{parent}.{name}"


def without_implied(attributes: Attributes) -> dict[str, Any]:
    """The attributes of a column that a ColumnsEvent has to state."""
    return {key: value for key, value in attributes.items() if key not in _IMPLIED}


def read_asset_record(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> AssetRecord:
    """Validates a decoded CloudEvent of either kind. Raises Refused with every problem found."""
    if isinstance(event, dict) and event.get("type") == COLUMNS_STATED:
        return read_columns_event(event, received=received, skew=skew)
    return read_event(event, received=received, skew=skew)


def read_columns_event(event: Any, *, received: str, skew: timedelta = FUTURE_SKEW) -> ColumnsEvent:
    """Validates a decoded CloudEvent. Raises Refused with every problem found: the columns are accepted together."""
    envelope, data = read_envelope(event, COLUMNS_STATED, received=received, skew=skew)
    checker = Checker()
    parent = checker.name(data.get("parent"), "parent", MAX_QUALIFIED_NAME) or ""
    if ids.looks_like_uuid(parent):
        checker.refuse("INVALID_VALUE", "parent must be a qualified name, not an id", "parent")
    columns = _columns(checker, data.get("columns"), parent)
    by = checker.name(data["by"], "by") if data.get("by") else ""
    if checker.problems:
        raise Refused(*checker.problems)
    return ColumnsEvent(
        *envelope[:3],
        parent,
        columns,
        by or "",
        data.get("authorised") is True,
        correlation=envelope.correlation,
        trace=envelope.trace,
    )


def _columns(checker: Checker, given: Any, parent: str) -> dict[str, Attributes]:
    if not isinstance(given, dict) or not 0 < len(given) <= MAX_COLUMNS:
        description = f"columns must be an object with 1 to {MAX_COLUMNS} columns by name"
        checker.refuse("INVALID_VALUE", description, "columns")
        return {}
    return {name: _column(checker, name, attributes, parent) for name, attributes in given.items()}


def _column(checker: Checker, name: str, given: Any, parent: str) -> Attributes:
    """What the API writes is normalised, so a name that would have to be changed is refused."""
    if isinstance(given, dict) and _is_plain(name, given, parent):
        return given
    entity, qualified_name = f"columns.{name[:64]}", f"{parent}.{name}"
    attributes = read_attributes(checker, given)
    if checker.name(name, entity) != name or checker.name(qualified_name, entity, MAX_QUALIFIED_NAME) != qualified_name:
        checker.refuse("INVALID_VALUE", "the name of a column must be in Unicode normal form C, stripped", entity)
    elif ids.name_prefix(qualified_name) != parent or ids.looks_like_uuid(qualified_name):
        checker.refuse("INVALID_VALUE", "the name of a column must not contain a separator; state it by itself", entity)
    if not isinstance(given, dict) or not attributes.keys().isdisjoint(_ELSEWHERE) or None in attributes.values():
        described = "the attributes of a column must be an object without name, parent, tags and null"
        checker.refuse("INVALID_VALUE", described, entity)
    return attributes


def _is_plain(name: str, given: Attributes, parent: str) -> bool:
    """Whether a column obviously passes every check, as nearly all do: nine in ten assets are columns. `parent` is
    valid."""
    if not name.isascii() or not name.isprintable() or ids.has_separator(name):
        return False
    if not name or len(name) > MAX_NAME or name[0] == " " or name[-1] == " ":
        return False
    if not parent.isascii() or len(parent) + len(name) >= MAX_QUALIFIED_NAME:
        return False
    for key, value in given.items():
        if type(value) is str:
            if key not in _TEXTS or not value.isascii() or "\x00" in value or len(value) > MAX_TEXT:
                return False
        elif type(value) is not int or key != "ordinal_position":
            return False
    return True
