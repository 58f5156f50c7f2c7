"""A person's update of one asset, from the message that names all of its metadata: a default value says nothing."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from lily.api.calls import Call
from lily.api.grpc.generated.lineage_pb2 import Metadata
from lily.api.http.bodies import parse_json
from lily.api.ingest.asset_events import person_event
from lily.model.assets import tag_key
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.statements import Operation
from lily.model.values import MAX_ITEMS
from lily.store.assets import StoredAsset

# What the message has a field for is not to be said a second time in its JSON; and a list of tags there would take away
# those that it does not name.
ELSEWHERE = frozenset({"name", "owner", "data_source", "external_id", "business_terms", "tags", "qualified_name"})
_FIELDS = {"attributes.name": "asset_name", "attributes.owner": "asset_owner"}


class _Said(NamedTuple):
    operation: Operation
    attributes: dict[str, Any] | None = None
    tag: str | None = None
    entity: str = ""


def events_of(call: Call, asset: StoredAsset, told: Metadata) -> list[AssetEvent]:
    """One for the attributes, one for each tag, one for a deletion. Raises Refused with all that is wrong."""
    _refuse_other_type(asset, told.asset_type)
    events: list[AssetEvent] = []
    problems: list[Problem] = []
    for said in _said(asset, told):
        try:
            events.append(person_event(call, asset, said.operation, tag=said.tag, attributes=said.attributes))
        except Refused as error:
            problems += [_placed(problem, said.entity) for problem in error.problems]
    if not events and not problems:
        problems.append(Problem("MISSING_FIELD", "state something besides the asset's id", "updated_metadata"))
    if problems:
        raise Refused(*problems)
    return events


def _said(asset: StoredAsset, told: Metadata) -> Iterator[_Said]:
    attributes = _attributes(told) | _free(told.metadata)
    if attributes:
        yield _Said("upsert", attributes)
    if len(told.tags) > MAX_ITEMS:
        raise Refused(Problem("TOO_LONG", f"tags must not have more than {MAX_ITEMS} items", "tags"))
    first = {tag_key(tag.strip()): (place, tag) for place, tag in reversed([*enumerate(told.tags)])}
    for place, tag in first.values():
        yield _Said("tag", tag=tag, entity=f"tags[{place}]")
    # A message that was read, changed and sent back must not turn the source's deletion into a person's.
    if told.is_deleted and not asset.view["is_deleted"]:
        yield _Said("delete")


def _attributes(told: Metadata) -> dict[str, Any]:
    named = {
        "name": told.asset_name,
        "owner": told.asset_owner,
        "data_source": told.data_source,
        "external_id": told.external_id,
        "business_terms": list(told.business_terms),
    }
    return {key: value for key, value in named.items() if value}


def _free(text: str) -> dict[str, Any]:
    """The attributes that have no field of their own."""
    given = parse_json(text.encode()) if text else {}
    if not isinstance(given, dict):
        raise Refused(Problem("INVALID_TYPE", "metadata must be a JSON object", "metadata"))
    if twice := sorted(given.keys() & ELSEWHERE):
        raise Refused(*(Problem("INVALID_VALUE", "it has a field of its own", f"metadata.{key}") for key in twice))
    return given


def _refuse_other_type(asset: StoredAsset, entity_type: str) -> None:
    if entity_type and entity_type.strip().lower() != asset.view["entity_type"]:
        raise Refused(Problem("INVALID_VALUE", "the type of an asset cannot be changed; leave it out", "asset_type"))


def _placed(problem: Problem, entity: str) -> Problem:
    """As the message calls it."""
    named = _FIELDS.get(problem.entity) or problem.entity.removeprefix("attributes.")
    return Problem(problem.code, problem.description, entity or named)
