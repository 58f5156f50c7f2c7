"""Search and lists: filters, order, pages."""

from typing import Any
from uuid import UUID

import orjson
import pytest

from lily.api.http import cursors
from tests.contract.door import WAIT, Door, codes, names, table

ESTATE: list[dict[str, Any]] = [
    table("wh.sales", "schema", owner="alice"),
    table("wh.sales.orders", parent="wh.sales", owner="alice", tags=["PII"], data_source="wh"),
    table("wh.sales.order_items", parent="wh.sales", owner="bob", data_source="wh"),
    table("wh.sales.orders_view", "view", parent="wh.sales", owner="bob", tags=["Finance", "gdpr"]),
    table("bi.revenue", "dashboard", owner="Zoë", data_source="bi", name="Revenue per Order"),
    table("bi.returns", "dashboard", name="Returns", description="What customers sent back", business_terms=["Refund"]),
]


@pytest.fixture
def estate(door: Door) -> Door:
    body = b"\n".join(orjson.dumps(row) for row in ESTATE)
    headers = WAIT | {"Content-Type": "application/x-ndjson"}
    assert door.http.post("/ingest-metadata/bulk", content=body, headers=headers).status_code == 200
    return door


def found(door: Door, **parameters: Any) -> list[str]:
    answer = door.http.get("/metadata", params=parameters)
    assert answer.status_code == 200, answer.text
    return names(answer.json()["items"])


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (
            {},
            {"wh.sales", "wh.sales.orders", "wh.sales.order_items", "wh.sales.orders_view", "bi.revenue", "bi.returns"},
        ),
        ({"q": "orders"}, {"wh.sales.orders", "wh.sales.orders_view"}),
        ({"q": "ORD"}, {"wh.sales.orders", "wh.sales.order_items", "wh.sales.orders_view", "bi.revenue"}),
        ({"q": "sales.order_items"}, {"wh.sales.order_items"}),
        ({"q": "revenue order"}, {"bi.revenue"}),
        ({"q": "' & | ! :* <->"}, set()),
        ({"q": "nowhere"}, set()),
        ({"q": "customer"}, {"bi.returns"}),
        ({"q": "REFUND return"}, {"bi.returns"}),
        ({"q": "bob"}, {"wh.sales.order_items", "wh.sales.orders_view"}),
        ({"q": "view bob", "owner": "alice"}, set()),
        ({"entity_type": "table"}, {"wh.sales.orders", "wh.sales.order_items"}),
        ({"entity_type": "TABLE"}, {"wh.sales.orders", "wh.sales.order_items"}),
        ({"entity_type": "dashboard", "tag": "pii"}, set()),
        ({"tag": "pii"}, {"wh.sales.orders"}),
        ({"tag": "GDPR"}, {"wh.sales.orders_view"}),
        ({"owner": "bob"}, {"wh.sales.order_items", "wh.sales.orders_view"}),
        ({"owner": "Zoe\u0308"}, {"bi.revenue"}),
        ({"data_source": "wh"}, {"wh.sales.orders", "wh.sales.order_items"}),
        ({"parent": "wh.sales"}, {"wh.sales.orders", "wh.sales.order_items", "wh.sales.orders_view"}),
        ({"parent": "wh.sales", "owner": "alice", "tag": "PII", "q": "orders"}, {"wh.sales.orders"}),
    ],
)
def test_filters_find_exactly_what_they_say(estate: Door, filters: dict[str, str], expected: set[str]) -> None:
    assert set(found(estate, **filters)) == expected


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_the_best_matches_come_first_page_by_page(estate: Door, limit: int) -> None:
    pages: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        asked: dict[str, Any] = {"q": "order", "limit": limit} | ({"cursor": cursor} if cursor else {})
        page = estate.http.get("/metadata", params=asked).json()
        pages += names(page["items"])
        cursor = page["next_cursor"]
    begins, rest = set(pages[:3]), pages[3:]
    assert begins == {"wh.sales.orders", "wh.sales.orders_view", "wh.sales.order_items"}
    assert rest == ["bi.revenue"]
    assert found(estate, q="orders") == ["wh.sales.orders", "wh.sales.orders_view"]
    assert found(estate, q="order", sort="qualified_name") == sorted(pages)
    assert found(estate, q="order", order="desc") == list(reversed(found(estate, q="order", sort="id")))


def test_a_parent_is_found_by_id_too(estate: Door) -> None:
    parent = estate.read("wh.sales")["metadata_id"]
    assert set(found(estate, parent=parent)) == set(found(estate, parent="wh.sales"))


def test_deleted_assets_are_left_out_unless_asked_for(estate: Door) -> None:
    estate.change("DELETE", "/metadata/bi.revenue")
    assert "bi.revenue" not in found(estate)
    assert "bi.revenue" in found(estate, include_deleted=True)


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sort", ["id", "name", "qualified_name", "entity_type", "created_at", "updated_at"])
def test_pages_of_any_size_make_up_the_whole_list_in_order(estate: Door, sort: str, order: str) -> None:
    whole = estate.http.get("/metadata", params={"sort": sort, "order": order}).json()["items"]
    keys = [str(asset.get(sort, asset["attributes"].get(sort, asset["metadata_id"]))) for asset in whole]
    assert keys == sorted(keys, reverse=order == "desc")
    for limit in (1, 2, 3):
        pages, cursor = [], None
        while True:
            asked = {"sort": sort, "order": order, "limit": limit} | ({"cursor": cursor} if cursor else {})
            page = estate.http.get("/metadata", params=asked).json()
            assert len(page["items"]) <= limit
            pages += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert pages == whole


def test_a_page_is_not_disturbed_by_what_is_written_meanwhile(estate: Door) -> None:
    first = estate.http.get("/metadata", params={"sort": "qualified_name", "limit": 3}).json()
    estate.ingest("aa.first")
    asked = {"sort": "qualified_name", "limit": 3, "cursor": first["next_cursor"]}
    second = estate.http.get("/metadata", params=asked).json()
    assert names(first["items"] + second["items"]) == sorted(row["attributes"]["qualified_name"] for row in ESTATE)


def test_a_cursor_is_good_for_its_own_question_only(estate: Door, other_door: Door) -> None:
    cursor = estate.http.get("/metadata", params={"sort": "name", "limit": 1}).json()["next_cursor"]
    flipped = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    for door, asked in (
        (estate, {"sort": "id", "cursor": cursor}),
        (estate, {"sort": "name", "order": "desc", "cursor": cursor}),
        (estate, {"sort": "name", "owner": "bob", "cursor": cursor}),
        (estate, {"sort": "name", "cursor": flipped}),
        (estate, {"sort": "name", "cursor": ""}),
        (other_door, {"sort": "name", "cursor": cursor}),
    ):
        refused = door.http.get("/metadata", params=asked)
        assert (refused.status_code, codes(refused)) == (400, {"INVALID_CURSOR"})


@pytest.mark.parametrize(
    "last", [["x", "no id"], ["no time", str(UUID(int=1))], ["\x00", "\x00"], [1, 2], "x", None, []]
)
def test_a_cursor_that_is_made_up_is_refused(door: Door, last: Any) -> None:
    question = (door.tenant, "created_at", "asc", "False", "[]")
    refused = door.http.get("/metadata", params={"sort": "created_at", "cursor": cursors.seal(last, *question)})
    assert refused.status_code == 400, refused.text
    assert codes(refused) <= {"INVALID_CURSOR", "INVALID_VALUE"}
