"""Random valid events, about few assets and at few times, so that they conflict."""

import uuid
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from lily.model.events import AssetEvent
from lily.model.statements import read_statement

LAYERS = ["source", "source", "user", "enriched"]
ASSETS = [f"shop.public.t{number}" for number in range(3)]
TAGS = ["PII", "pii", "GDPR", "public", "finance"]
PARENTS = ["shop.public", "shop.other"]
TEXTS = st.sampled_from(["", "one", "two", "drei ✓", 'quote " and \\ back\\slash\t', "😀"])
TIMES = st.integers(0, 5).map(lambda tick: f"2026-01-01T00:00:0{tick}.000000Z")


@st.composite
def attributes(draw: st.DrawFn) -> dict[str, Any]:
    names = st.one_of(st.none(), st.sampled_from(["alice", "bob", "Zoë", "o'neil"]))
    return draw(
        st.fixed_dictionaries(
            {},
            optional={
                "description": st.one_of(st.none(), TEXTS),
                "owner": names,
                "data_source": names,
                "parent": st.one_of(st.none(), st.sampled_from(PARENTS)),
                "tags": st.one_of(st.none(), st.lists(st.sampled_from(TAGS), max_size=3)),
                "business_terms": st.one_of(st.none(), st.lists(st.sampled_from(["billing", "sales"]), max_size=2)),
                "rows": st.one_of(st.none(), st.integers(-5, 5), st.floats(-1, 1), st.booleans()),
                "extra": st.one_of(st.none(), st.dictionaries(st.sampled_from("ab"), st.none() | TEXTS, max_size=2)),
            },
        )
    )


@st.composite
def events(
    draw: st.DrawFn, tenant: str = "default", *, layers: Sequence[str] = LAYERS, assets: Sequence[str] = ASSETS
) -> AssetEvent:
    layer = draw(st.sampled_from(layers))
    operation = draw(st.sampled_from(["upsert", "upsert", "delete"]))
    if layer == "user":
        operation = draw(st.sampled_from(["upsert", "delete", "restore", "tag", "untag"]))
    if layer == "enriched":
        operation = draw(st.sampled_from(["upsert", "tag", "untag"]))
    data: dict[str, Any] = {
        "authorised": draw(st.booleans()),
        "layer": layer,
        "operation": operation,
        "qualified_name": draw(st.sampled_from(assets)),
        "attributes": draw(attributes()) if operation in {"upsert", "delete"} else {},
    }
    if layer == "source":
        data["entity_type"] = draw(st.sampled_from(["table", "view"]))
        data["attributes"]["name"] = draw(st.sampled_from(["t", "orders"]))
    if not data["attributes"] and operation == "upsert":
        data["attributes"]["owner"] = "carol"
    if operation in {"tag", "untag"}:
        data["tag"] = draw(st.sampled_from(TAGS))
    # Ids from a large space and times from a small one: ties of time are common, of both never.
    event_id = str(uuid.UUID(int=draw(st.integers(0, 2**128 - 1))))
    return AssetEvent(event_id, draw(TIMES), tenant, read_statement(data, tenant=tenant))
