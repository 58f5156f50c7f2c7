"""Tokens of a scraper group: they read and write what the group's scraper policies cover, and nothing else."""

from typing import Any

import pytest

from lily.model.errors import Terminal
from lily.store.postgres.access.administration import create_token, list_tokens
from tests.contract.access import create
from tests.contract.door import WAIT, Door, names, table
from tests.contract.test_lanes import column

SCOPES = ("metadata:read", "metadata:write", "lineage:write")


def cover(door: Door, **fields: Any) -> None:
    create(door, "/scraper-policies", {"name": "The CRM's scraper", "scraper_group": "crm", **fields})


def bulk(door: Door, *rows: dict[str, Any]) -> list[int]:
    """The rows that were refused."""
    answer = door.http.post("/ingest-metadata/bulk", json=list(rows), headers=WAIT)
    assert answer.status_code in {200, 202}, answer.text
    return [error["row"] for error in answer.json()["errors"]]


def test_what_no_policy_covers_is_denied(door: Door) -> None:
    door.ingest("shop.orders", data_source="crm")
    with door.limited(*SCOPES, scraper_group="crm") as scraper:
        answer = scraper.http.post("/ingest-metadata", json=table("shop.orders", data_source="crm"))
        assert answer.status_code == 403
        assert "no scraper policy of the group 'crm' exists" in answer.text
        assert scraper.http.get("/metadata/shop.orders").status_code == 403
        assert scraper.http.get("/metadata").json()["items"] == []
        cover(door, sources=["CRM"])
        assert scraper.http.get("/metadata/shop.orders").status_code == 200
        assert scraper.http.post("/ingest-metadata", json=table("shop.new", data_source="crm")).status_code == 202


def test_sources_and_types_bind_every_row(door: Door) -> None:
    door.ingest("hr.staff", data_source="hr")
    door.ingest("shop.orders", data_source="crm")
    cover(door, sources=["crm"], entity_types=["table", "column"])
    with door.limited(*SCOPES, scraper_group="crm") as scraper:
        refused = bulk(
            scraper,
            table("shop.a", data_source="crm"),
            table("shop.b", "view", data_source="crm"),
            table("shop.c", data_source="hr"),
            table("shop.d"),  # of no source
            table("hr.staff", data_source="crm"),  # would take over another source's table
            column("shop.orders.id"),  # of its table's source
        )
        assert refused == [2, 3, 4, 5]
        assert names(scraper.http.get("/metadata", params={"q": "staff"}).json()["items"]) == []
        edge = {"from": "shop.orders", "to": "hr.staff", "relationship_type": "used-in"}
        assert scraper.http.post("/lineage", json={"edges": [edge]}).status_code == 403
        assert scraper.http.post("/lineage", json={"edges": [edge | {"to": "shop.a"}]}).status_code == 202


def test_allowed_columns_bind_columns(door: Door) -> None:
    door.ingest("shop.orders", data_source="crm")
    cover(door, allowed_columns=["shop.orders.id", "shop.items.*"])
    with door.limited(*SCOPES, scraper_group="crm") as scraper:
        rows = [column(name) for name in ("shop.orders.id", "shop.orders.card_number", "shop.items.id")]
        assert bulk(scraper, *rows, table("shop.orders", data_source="crm")) == [2, 4]


def test_a_token_of_a_group_cannot_change_its_own_policies(door: Door) -> None:
    for scope in ("admin", "policy:write"):
        with pytest.raises(Terminal, match="change its own policies"):
            create_token(door.stack.database, door.tenant, [scope], scraper_group="crm")
    with door.limited(*SCOPES, scraper_group="crm", user="scraper"):
        (found,) = [one for one in list_tokens(door.stack.database, door.tenant) if one["user"] == "scraper"]
        assert found["scraper_group"] == "crm"
