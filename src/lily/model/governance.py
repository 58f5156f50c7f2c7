"""Records of the topic `governance-events`: changes that can propagate, or that access decisions depend on.

A record names what changed, not the new values: its consumer reads the committed state. Plain changes (a description, a
new table without tags and lineage) have no record.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lily.model.assets import CUT, DELETED, SUPPRESSED
from lily.model.held import COVERS, HELD, HELD_PARENT, PARENT_ID
from lily.model.layers import TAGS

ASSET, EDGE, TAG, RULE, SETTING, INCIDENT = "asset", "edge", "tag", "rule", "setting", "incident"
EDGES = "edges"  # several edges of a tenant in one record

_TAG_FIELDS = frozenset({TAGS, PARENT_ID, COVERS, DELETED, CUT})
_TAG_PREFIXES = (SUPPRESSED, HELD, HELD_PARENT)
NOTHING: frozenset[str] = frozenset()

Record = dict[str, Any]


class EdgeChanged(NamedTuple):
    from_id: str
    to_id: str
    position: int
    correlation: str = ""  # of the write that changed it


def concerns_tags(changed: Collection[str]) -> bool:
    """Whether one of these fields of a layer decides which tags an asset has or passes on."""
    return not _TAG_FIELDS.isdisjoint(changed) or any(field.startswith(_TAG_PREFIXES) for field in changed)


def rule_attributes_changed(changed: frozenset[str], layer: str, named: frozenset[str]) -> frozenset[str]:
    """The attributes that rules name and that may have changed.

    The enriched layer does not count, since rules write it. Every statement of a source sets `$deleted`, so a new asset
    counts as changed in all of them.
    """
    if DELETED in changed:
        return named
    return named & changed if layer != "enriched" else NOTHING


def concerning(changed: Collection[str], named: Collection[str]) -> list[str]:
    """Of the fields of a change those that consumers of its record look at: what decides tags, and the attributes that
    rules name. Of fields with a tag or a parent in their names one of each kind: there may be any number of them, and
    the record has to fit into Kafka."""
    found = [field for field in changed if field in _TAG_FIELDS or field in named]
    kinds = {kind: field for field in changed for kind in _TAG_PREFIXES if field.startswith(kind)}
    return [*found, *kinds.values()]


def needs_graph(after: Mapping[str, Any]) -> bool:
    """Whether a new layer matters only if the asset is in the lineage graph: it states or holds no tag, no deletion and
    no suppression, but an edge may already lead to the asset or to one of its descendants."""
    return not (after.get(TAGS) or after.get(DELETED) or any(field.startswith(_TAG_PREFIXES) for field in after))


def asset_record(asset_id: str, layer: str, changed: Collection[str], position: int, correlation: str) -> Record:
    record: Record = {"kind": ASSET, "id": asset_id, "layer": layer, "changed": list(changed), "position": position}
    return record | {"correlation": correlation} if correlation else record


def edge_record(from_id: str, to_id: str, position: int, correlation: str) -> Record:
    record: Record = {"kind": EDGE, "from": from_id, "to": to_id, "position": position}
    return record | {"correlation": correlation} if correlation else record


def edges_record(changed: Sequence[EdgeChanged]) -> Record:
    """Of one edge the same record as ever, of several one for all."""
    if len(changed) == 1:
        return edge_record(*changed[0])
    return {"kind": EDGES, "edges": [list(edge) for edge in changed], "position": changed[-1].position}


def edges_of(record: Record) -> Iterator[EdgeChanged]:
    """The edges that a record says have changed; none for a record of another kind."""
    if record["kind"] == EDGE:
        yield EdgeChanged(record["from"], record["to"], record["position"], record.get("correlation", ""))
    elif record["kind"] == EDGES:
        for edge in record["edges"]:
            yield EdgeChanged(*edge)


def decision_record(kind: str, name: str, position: int) -> Record:
    """`kind` is TAG, RULE or SETTING."""
    return {"kind": kind, "name": name, "position": position}


def incident_record(incident_id: str, position: int) -> Record:
    """The state, the severity or the assets of an incident changed."""
    return {"kind": INCIDENT, "id": incident_id, "position": position}
