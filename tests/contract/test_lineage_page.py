"""A page of a lineage graph, all of it: what other calls say of each asset and edge, in one response."""

from typing import Any

from lily.model import ids
from tests.contract.door import Door
from tests.contract.test_authorisation import READ, deny
from tests.contract.test_lineage import TYPE, delete, edge, graph, post
from tests.contract.test_openlineage import dataset, run, send

ODD = 'odd "name" \\ é'
DEPTHS = {"a": 0, "b": 1, "gone": 1, ODD: 1, "loaded": 1, "secret": 1, "unknown": 2, "c": 2, "z": 2}
EDGES = [("a", "b"), ("a", "gone"), ("a", ODD), ("a", "secret"), ("gone", "c"), ("b", "unknown"), ("secret", "z")]


def build(door: Door) -> None:
    """Tags that are stated, derived and inherited, a deleted asset, one that only an edge has named, an edge that was
    deleted without authority, one that a job claims, and names that JSON escapes."""
    door.ingest("top", "schema", tags=["GDPR"])
    door.ingest("a", tags=["PII", "Finance"])
    for name in ("b", "gone", ODD, "secret", "c", "z"):
        door.ingest(name, **({"parent": "top"} if name == "b" else {}))
    post(door, *(edge(*pair) for pair in EDGES), edge("b", "c", masking=True))
    send(door, run("load", [dataset("a")], [dataset("loaded")]))
    door.change("DELETE", "/metadata/gone")
    with door.limited("lineage:write") as limited:
        delete(limited, edge("b", "c"))


def node(door: Door, name: str) -> dict[str, Any]:
    """What the read of an asset says of it."""
    asset = ids.asset_id(door.tenant, name)
    shown: dict[str, Any] = {"qualified_name": name, "name": None, "entity_type": None, "is_deleted": False}
    answer = door.http.get(f"/metadata/{asset}")
    if known := answer.status_code == 200 and not answer.json().get("placeholder"):
        view = answer.json()
        shown |= {"name": view["attributes"]["name"], "entity_type": view["entity_type"]}
        shown["is_deleted"] = view["is_deleted"]
    tags = answer.json()["tags"]["effective"]
    rest = {"depth": DEPTHS[name], "known": known, "tags": tags, "at_risk": [], "redacted": False}
    return {"id": asset, "metadata_id": asset} | shown | rest


def redacted(found: dict[str, Any]) -> dict[str, Any]:
    nothing: dict[str, Any] = {"qualified_name": None, "name": None, "entity_type": None, "known": False, "tags": []}
    return found | nothing | {"redacted": True}


def line(door: Door, start: str, end: str, *, assumed: bool = False) -> dict[str, Any]:
    ends = {"from": ids.asset_id(door.tenant, start), "to": ids.asset_id(door.tenant, end)}
    stated = {"relationship_type": TYPE, "propagates": True, "masking": False, "assumed": assumed}
    return ends | stated | {"from_name": start, "to_name": end}


def by_id(found: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    return sorted(found, key=lambda item: [str(item[key]) for key in keys])


def test_a_graph_shows_of_each_asset_what_a_read_of_it_shows(door: Door) -> None:
    build(door)
    nodes = [node(door, name) for name in DEPTHS]
    edges = [*(line(door, *pair) for pair in EDGES), line(door, "a", "loaded", assumed=True)]
    found = graph(door, "a")
    assert by_id(found["nodes"], "id") == by_id(nodes, "id")
    assert by_id(found["edges"], "from", "to") == by_id(edges, "from", "to")
    tags = {one["qualified_name"]: one["tags"] for one in found["nodes"]}
    assert (tags["a"], tags["b"], tags[ODD]) == (["Finance", "PII"], ["GDPR", "PII"], ["PII"])
    assert tags["c"] == ["GDPR", "PII"]  # along the edge that was deleted without authority

    with_jobs = graph(door, "a", jobs=True)["edges"]
    assert {(one["to_name"], job["qualified_name"]) for one in with_jobs for job in one.pop("jobs")} == {
        ("loaded", "job:airflow/load")
    }
    assert with_jobs == found["edges"]

    deny(door, {"asset": "secret"})
    hidden = ids.asset_id(door.tenant, "secret")
    with door.limited(*READ, user="bob") as bob:
        seen = graph(bob, "a")
    assert seen["nodes"] == [redacted(one) if one["id"] == hidden else one for one in found["nodes"]]
    names = {"from_name": "from", "to_name": "to"}
    assert seen["edges"] == [
        one | {name: None for name, end in names.items() if one[end] == hidden} for one in found["edges"]
    ]
