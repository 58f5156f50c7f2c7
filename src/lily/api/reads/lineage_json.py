"""The JSON of a page of a lineage graph.

A graph may have tens of thousands of nodes, so its JSON is put together from strings: objects for each of them took
longer than the query.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import orjson

from lily.api.reads.lineage_pages import LineageEdge, Page
from lily.store.postgres.graph.nodes import Node

_NULL = "null"
_UNKNOWN = Node()
_EDGE_MEMBERS = ("relationship_type", "propagates", "masking", "assumed")


def page_json(
    page: Page,
    known: Mapping[str, Node],
    denied: Collection[str],
    jobs: Sequence[list[dict[str, Any]]] | None,
    next_cursor: str | None,
    *,
    writers: Sequence[dict[str, Any]] | None = None,
) -> bytes:
    """`known` are the nodes of all that the page mentions, without those of which nothing is known. `jobs` are those of
    each edge, and `writers` those that write the asset around which the graph is, if they were requested."""
    shown = {asset: node for asset, node in known.items() if asset not in denied} if denied else known
    found = [shown.get(asset, _UNKNOWN) for asset in page.nodes]
    names = dict(zip(page.nodes, _texts([node[0] for node in found]), strict=True))
    for asset in shown.keys() - page.nodes.keys():  # on an earlier page
        names[asset] = _json(shown[asset].qualified_name)
    nodes, edges = ",".join(_nodes(page.nodes, found, names, denied)), ",".join(_edges(page.edges, names, jobs))
    rest = "" if writers is None else "," + _members({"jobs": writers})
    return f'{{"nodes":[{nodes}],"edges":[{edges}],"next_cursor":{_json(next_cursor)}{rest}}}'.encode()


def _nodes(
    depths: Mapping[str, int], found: Sequence[Node], names: Mapping[str, str], denied: Collection[str]
) -> Iterable[str]:
    titles = _texts([node[1] for node in found])
    rests: dict[tuple[str | None, bool, int], str] = {}  # as JSON: many nodes have the same
    for (asset, depth), node, title in zip(depths.items(), found, titles, strict=True):
        _, _, kind, is_deleted, tags, _, at_risk, _, _, placeholder = node
        if tags or at_risk or placeholder or node is _UNKNOWN:
            rest = _rest(node, depth, redacted=asset in denied)
        elif (key := (kind, is_deleted, depth)) in rests:
            rest = rests[key]
        else:
            rest = rests[key] = _rest(node, depth, redacted=False)
        yield f'{{"id":"{asset}","metadata_id":"{asset}","qualified_name":{names[asset]},"name":{title},{rest}}}'


def _rest(node: Node, depth: int, *, redacted: bool) -> str:
    return _members(
        {
            "entity_type": node.entity_type,
            "is_deleted": node.is_deleted,
            "depth": depth,
            "known": node is not _UNKNOWN and not node.placeholder,
            "tags": node.tags,
            "at_risk": node.at_risk,
            "redacted": redacted,
        }
    )


def _edges(
    edges: Iterable[LineageEdge], names: Mapping[str, str], jobs: Sequence[list[dict[str, Any]]] | None
) -> Iterable[str]:
    rests: dict[tuple[str, bool, bool, bool], str] = {}  # as JSON: many edges have the same
    for number, edge in enumerate(edges):
        start, end = edge[0], edge[1]
        if (key := edge[2:]) in rests:
            rest = rests[key]
        else:
            rest = rests[key] = _members(dict(zip(_EDGE_MEMBERS, key, strict=True)))
        if jobs is not None:
            rest += "," + _members({"jobs": jobs[number]})
        ends = f'"from_name":{names.get(start, _NULL)},"to_name":{names.get(end, _NULL)}'
        yield f'{{"from":"{start}","to":"{end}",{rest},{ends}}}'


def _members(members: Mapping[str, object]) -> str:
    """The members of a JSON object, without its braces."""
    return _json(members)[1:-1]


def _texts(values: Sequence[str | None]) -> list[str]:
    """Each as JSON. Whether one has to be escaped is found out for all at once."""
    together = "".join([value for value in values if value is not None])
    if together.isprintable() and '"' not in together and "\\" not in together:
        return [_NULL if value is None else f'"{value}"' for value in values]
    return [_json(value) for value in values]


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
