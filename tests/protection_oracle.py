"""Which protective tags each asset has, computed from all statements about assets and edges at once.

It knows no stores, no lanes and no propagation: the newest statement counts, what ends without authority is held, and
tags follow from the whole graph. It is made of the oracles for the catalogue, for edges and for derived tags.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lily.lineage.definitions import TagDefinition
from lily.lineage.graph import Edge
from lily.model import ids
from lily.model.edges import ClaimsEvent
from lily.model.events import AssetEvent
from tests import edge_oracle, oracle
from tests.tag_oracle import Derived, TagGraph, recompute

FROM_THE_TOP = ("user", "enriched", "source")


def graph_of(tenant: str, assets: Sequence[AssetEvent], edges: Sequence[edge_oracle.Event], on_delete: str) -> TagGraph:
    """Everything that conducts tags."""
    graph = TagGraph()
    graph.on_delete = "cut" if on_delete == "cut" else "keep"
    graph.edges = set(_conducting(edges))
    for (_, name), layers in oracle.catalogue(assets).items():
        _add(graph, tenant, name, layers, [event for event in assets if event.statement.qualified_name == name])
    return graph


def effective(graph: TagGraph, definitions: Sequence[TagDefinition], assets: Iterable[str]) -> dict[str, set[str]]:
    """By id, the tags in effect of these assets. All of the tags are protective."""
    found = {asset: set(graph.stated.get(asset, ())) for asset in assets}
    for one in derived(graph, definitions):
        if one.asset in found and not graph.suppresses(one.asset, one.tag):
            found[one.asset].add(one.tag)
    return found


def derived(graph: TagGraph, definitions: Sequence[TagDefinition]) -> set[Derived]:
    return recompute(graph, definitions)


def _conducting(events: Sequence[edge_oracle.Event]) -> Iterable[Edge]:
    claims = [event for event in events if isinstance(event, ClaimsEvent)]
    keys = {event.statement.key for event in events if not isinstance(event, ClaimsEvent)}
    keys |= {claim.key for event in claims for claim in event.claims}
    jobs = sorted({event.job_id for event in claims})
    for key, conducts in edge_oracle.conduction(events, sorted(keys), jobs).items():
        if conducts:
            yield Edge(key.from_id, key.to_id, key.type, propagates=True, masking=conducts == 1)


def _add(graph: TagGraph, tenant: str, name: str, layers: Mapping[str, Any], events: Sequence[AssetEvent]) -> None:
    asset = ids.asset_id(tenant, name)
    stated = [layers[layer] for layer in FROM_THE_TOP if layer in layers]
    graph.stated[asset] = {tag for layer in stated for part in ("tags", "held") for tag in layer.get(part, ())}
    graph.suppressed[asset] = _suppressed(events)
    parents = _parents(stated)
    shown = next((layer["parent"] for layer in stated if "parent" in layer), None)
    if shown is not None:
        graph.parents[asset] = ids.asset_id(tenant, shown)
    graph.held_parents[asset] = {ids.asset_id(tenant, parent) for parent in parents - {shown}}
    if _is_deleted(events):
        graph.deleted.add(asset)
        if any(layer.get("deleted") and layer.get("deleted with authority") for layer in stated):
            graph.cut.add(asset)


def _parents(layers: Iterable[Mapping[str, Any]]) -> set[str]:
    """From the top: what a layer states with authority is instead of what is below it."""
    found: set[str] = set()
    for layer in layers:
        found |= layer.get("held parents", set()) | ({layer["parent"]} if "parent" in layer else set())
        if "parent" in layer and layer.get("parent with authority"):
            break
    return found


def _suppressed(events: Sequence[AssetEvent]) -> set[str]:
    newest: dict[str, bool] = {}
    for event in _in_order(events):
        if event.statement.operation in {"suppress", "unsuppress"} and event.statement.tag:
            newest[event.statement.tag.casefold()] = event.statement.operation == "suppress"
    return {tag for tag, suppressed in newest.items() if suppressed}


def _is_deleted(events: Sequence[AssetEvent]) -> bool:
    """What a person said last stays, unless the source deletes what was restored before."""
    source = [event for event in _in_order(events) if event.statement.layer == "source"]
    person = [event for event in _in_order(events) if event.statement.layer == "user"]
    said = [event for event in person if event.statement.operation in {"delete", "restore"}]
    if said and said[-1].statement.operation == "delete":
        return True
    if not source or source[-1].statement.operation != "delete":
        return False
    return not said or said[-1].clock < source[-1].clock


def _in_order(events: Sequence[AssetEvent]) -> list[AssetEvent]:
    return sorted(events, key=lambda event: (event.time, event.id))
