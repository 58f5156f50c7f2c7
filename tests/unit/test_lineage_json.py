"""The JSON of a lineage graph is that of plain objects, whatever its assets are called."""

from typing import Any
from uuid import UUID

import orjson
from hypothesis import given
from hypothesis import strategies as st

from lily.api.reads.lineage_json import page_json
from lily.api.reads.lineage_pages import LineageEdge, LineageRequest, Page
from lily.store.postgres.graph.nodes import Node

IDS = [str(UUID(int=number)) for number in range(6)]
# Those that JSON escapes, those that only look as if, and others.
TEXTS = st.text(st.sampled_from('ab."\\/\n\t\x00\x7f\u2028é😀'), max_size=6)
NODES = st.builds(
    Node,
    qualified_name=TEXTS,
    name=st.none() | TEXTS,
    entity_type=st.none() | st.sampled_from(["table", "column", 'a"type']),
    is_deleted=st.booleans(),
    tags=st.lists(TEXTS, max_size=2).map(tuple),
    at_risk=st.lists(st.sampled_from(IDS), max_size=2),
    placeholder=st.booleans(),
)
EDGES: st.SearchStrategy[LineageEdge] = st.tuples(
    st.sampled_from(IDS), st.sampled_from(IDS), st.sampled_from(["t", 'a"type']), *[st.booleans()] * 3
)
JOBS = st.none() | st.lists(st.fixed_dictionaries({"job_id": st.sampled_from(IDS), "last_run": st.none()}), max_size=2)
REQUEST = LineageRequest(IDS[0], "downstream", 3, remove_deleted=False, columns=False, limit=100, after=None)


def node_of(asset: str, depth: int, found: Node | None, *, redacted: bool) -> dict[str, Any]:
    node = found or Node()
    return {
        "id": asset,
        "metadata_id": asset,
        "qualified_name": node.qualified_name,
        "name": node.name,
        "entity_type": node.entity_type,
        "is_deleted": node.is_deleted,
        "depth": depth,
        "known": found is not None and not found.placeholder,
        "tags": node.tags,
        "at_risk": node.at_risk,
        "redacted": redacted,
    }


def edge_of(edge: LineageEdge, jobs: list[Any] | None, names: dict[str, str | None]) -> dict[str, Any]:
    start, end, kind, propagates, masking, assumed = edge
    stated = {"relationship_type": kind, "propagates": propagates, "masking": masking, "assumed": assumed}
    claims = {} if jobs is None else {"jobs": jobs}
    return {"from": start, "to": end, **stated, **claims, "from_name": names.get(start), "to_name": names.get(end)}


@given(
    depths=st.dictionaries(st.sampled_from(IDS), st.integers(-3, 3)),
    edges=st.lists(EDGES, max_size=6),
    known=st.dictionaries(st.sampled_from(IDS), NODES),
    denied=st.sets(st.sampled_from(IDS), max_size=2),
    jobs=JOBS,
    cursor=st.none() | st.just("next"),
)
def test_the_json_of_a_page_is_that_of_plain_objects(  # noqa: PLR0917 - a page has that many parts
    depths: dict[str, int],
    edges: list[LineageEdge],
    known: dict[str, Node],
    denied: set[str],
    jobs: list[Any] | None,
    cursor: str | None,
) -> None:
    shown = {asset: node for asset, node in known.items() if asset not in denied}
    names = {asset: node.qualified_name for asset, node in shown.items()}
    expected = {
        "nodes": [node_of(asset, depth, shown.get(asset), redacted=asset in denied) for asset, depth in depths.items()],
        "edges": [edge_of(edge, jobs, names) for edge in edges],
        "next_cursor": cursor,
    }
    page = Page(REQUEST, nodes=depths, edges=edges)
    claims = None if jobs is None else [jobs for _ in edges]
    assert page_json(page, known, denied, claims, cursor) == orjson.dumps(expected)
