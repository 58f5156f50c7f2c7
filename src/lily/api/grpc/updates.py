"""Turns a `Metadata` message into events of the user layer. A field with its default value states nothing."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from lily.api.calls import Call
from lily.api.grpc.generated.lineage_pb2 import Metadata
from lily.api.http.bodies import parse_json
from lily.api.ingest.asset_events import user_event
from lily.model.assets import tag_key
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.statements import Operation
from lily.model.values import MAX_ITEMS
from lily.store.assets import StoredAsset

# These have fields of their own and must not be repeated in the JSON; a list of tags there would also remove the tags
# that it does not name.
OWN_FIELDS = frozenset({"name", "owner", "data_source", "external_id", "business_terms", "tags", "qualified_name"})
_FIELDS = {"attributes.name": "asset_name", "attributes.owner": "asset_owner"}


class _Edit(NamedTuple):
    operation: Operation
    attributes: dict[str, Any] | None = None
    tag: str | None = None
    entity: str = ""


def events_of(call: Call, asset: StoredAsset, metadata: Metadata) -> list[AssetEvent]:
    """One event for the attributes, one per tag, one for a deletion. Raises Refused with every problem."""
    _refuse_other_type(asset, metadata.asset_type)
    events: list[AssetEvent] = []
    problems: list[Problem] = []
    for edit in _edits(asset, metadata):
        try:
            events.append(user_event(call, asset, edit.operation, tag=edit.tag, attributes=edit.attributes))
        except Refused as error:
            problems += [_with_message_field(problem, edit.entity) for problem in error.problems]
    if not events and not problems:
        problems.append(Problem("MISSING_FIELD", "set at least one field besides the asset's id", "updated_metadata"))
    if problems:
        raise Refused(*problems)
    return events


def _edits(asset: StoredAsset, metadata: Metadata) -> Iterator[_Edit]:
    attributes = _attributes(metadata) | _other_attributes(metadata.metadata)
    if attributes:
        yield _Edit("upsert", attributes)
    if len(metadata.tags) > MAX_ITEMS:
        raise Refused(Problem("TOO_LONG", f"tags must not have more than {MAX_ITEMS} items", "tags"))
    first = {tag_key(tag.strip()): (index, tag) for index, tag in reversed([*enumerate(metadata.tags)])}
    for index, tag in first.values():
        yield _Edit("tag", tag=tag, entity=f"tags[{index}]")
    # A message that was read, changed and sent back must not turn a deletion by the source into one by the user.
    if metadata.is_deleted and not asset.view["is_deleted"]:
        yield _Edit("delete")


def _attributes(metadata: Metadata) -> dict[str, Any]:
    attributes = {
        "name": metadata.asset_name,
        "owner": metadata.asset_owner,
        "data_source": metadata.data_source,
        "external_id": metadata.external_id,
        "business_terms": list(metadata.business_terms),
    }
    return {key: value for key, value in attributes.items() if value}


def _other_attributes(text: str) -> dict[str, Any]:
    """The attributes that have no field of their own in the message."""
    given = parse_json(text.encode(), "updated_metadata.metadata", "metadata") if text else {}
    if not isinstance(given, dict):
        raise Refused(Problem("INVALID_TYPE", "metadata must be a JSON object", "metadata"))
    if repeated := sorted(given.keys() & OWN_FIELDS):
        description = "the message has a field for this attribute; set that field instead"
        raise Refused(*(Problem("INVALID_VALUE", description, f"metadata.{key}") for key in repeated))
    return given


def _refuse_other_type(asset: StoredAsset, entity_type: str) -> None:
    if entity_type and entity_type.strip().lower() != asset.view["entity_type"]:
        raise Refused(Problem("INVALID_VALUE", "the type of an asset cannot be changed; leave it out", "asset_type"))


def _with_message_field(problem: Problem, entity: str) -> Problem:
    """The problem with the name that the field has in the message."""
    name = _FIELDS.get(problem.entity) or problem.entity.removeprefix("attributes.")
    return Problem(problem.code, problem.description, entity or name)
