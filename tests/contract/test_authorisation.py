"""What policies on the metadata plane deny, and what lists, lineage, the WebSocket and writes make of it."""

import base64
from collections.abc import Callable
from itertools import chain
from typing import Any

import grpc
import orjson
import pytest

from lily.api.receipts.receipt import Receipt, Stated
from lily.model import clock, ids
from lily.model.events import AssetEvent
from lily.model.records import Position
from lily.model.statements import read_statement
from tests.contract.access import create, effect, policy
from tests.contract.door import WAIT, Door, codes, names, table
from tests.contract.flows import connect, ingest_all, propagate
from tests.contract.test_dead_letters import append_raw, letters
from tests.contract.test_grpc import calling
from tests.contract.test_lanes import column
from tests.contract.test_notifications import listen, next_message

READ = ("metadata:read", "lineage:read")
WRITE = ("metadata:write", "lineage:write", *READ)
CHANGES = ["WRITE", "DELETE"]


def deny(door: Door, resource: dict[str, Any], user: str = "bob", **fields: Any) -> dict[str, Any]:
    return create(door, "/policies", policy({"user": user}, resource, "deny", applies_to=["metadata"], **fields))


def listed(door: Door, limit: int, **query: Any) -> list[list[str]]:
    """The names on each page."""
    pages, cursor = [], None
    while True:
        answer = door.http.get("/metadata", params=query | {"limit": limit} | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.text
        pages.append(names(answer.json()["items"]))
        cursor = answer.json()["next_cursor"]
        if cursor is None:
            return pages


def test_a_denial_names_the_policy_the_way_to_the_subject_and_what_of_the_asset_matched(door: Door) -> None:
    asset = door.ingest("shop.customers", tags=["PII"])
    create(door, "/roles", {"name": "outsider", "groups": ["partners"]})
    create(door, "/users", {"name": "Bob", "groups": ["Partners"]})
    fields = {"name": "Partners see no personal data", "applies_to": ["metadata"]}
    create(door, "/policies", policy({"role": "outsider"}, {"tag": "pii"}, "deny", **fields))
    with door.limited(*READ, user="bob") as bob, door.limited(*READ, user="ann") as ann:
        answer = bob.http.get(f"/metadata/{asset}")
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
        (error,) = answer.json()["errors"]
        assert error["entity"] == asset
        assert error["description"] == (
            "policy 'Partners see no personal data' denies READ to user bob → group partners → role outsider, "
            "because of its tag pii"
        )
        assert ann.read(asset)["metadata_id"] == asset
        assert effect(door, "bob", asset, plane="metadata") == "deny"


def test_a_policy_holds_and_ends_for_the_next_request(door: Door) -> None:
    asset = door.ingest("shop.orders")
    with door.limited(*READ, user="bob") as bob:
        assert bob.http.get(f"/metadata/{asset}").status_code == 200
        made = deny(door, {"asset": "shop.orders"})
        assert bob.http.get(f"/metadata/{asset}").status_code == 403
        door.http.delete(f"/policies/{made['id']}")
        assert bob.http.get(f"/metadata/{asset}").status_code == 200


def test_a_denial_for_a_network_holds_for_calls_from_there_alone(door: Door) -> None:
    door.ingest("shop.orders")
    with door.limited("metadata:read", user="bob") as bob:
        for network, status in (("198.51.100.0/24", 200), ("127.0.0.0/8", 403)):
            deny(door, {"asset": "*"}, conditions={"networks": [network]})
            assert bob.http.get("/metadata/shop.orders").status_code == status


def test_scopes_and_the_plane_of_data_are_apart(door: Door) -> None:
    """Allowing grants no scope, and what applies to data alone does not restrict the API. Admins are not exempt."""
    asset = door.ingest("shop.orders")
    create(door, "/policies", policy({"user": "*"}, {"asset": "*"}, actions=["READ", "WRITE"]))
    create(door, "/policies", policy({"user": "*"}, {"asset": "*"}, "deny", applies_to=["data"]))
    with door.limited("lineage:read", user="bob") as bob, door.limited("admin", user="root") as root:
        assert bob.http.get(f"/metadata/{asset}").status_code == 403
        assert root.http.get(f"/metadata/{asset}").status_code == 200
        deny(door, {"asset": asset}, user="root")
        assert root.http.get(f"/metadata/{asset}").status_code == 403
        assert root.http.get("/policies").status_code == 200


def shop(door: Door) -> None:
    """Twenty tables of which every other one is closed in some way: below a schema, by source, type or tag."""
    ingest_all(
        door,
        table("closed", "schema", tags=["Secret"]),
        table("origin", tags=["PII"]),
        *(table(f"open.t{number:02}", data_source="crm") for number in range(10)),
        *(
            table(f"closed.t{number:02}", "view", parent="closed", data_source="HR", owner="board")
            for number in range(10)
        ),
    )
    connect(door, *(("origin", f"closed.t{number:02}") for number in range(10)))
    propagate(door)


OPEN = [f"open.t{number:02}" for number in range(10)]


@pytest.mark.parametrize(
    ("resource", "fields", "beside"),
    [
        ({"asset": "Closed"}, {}, ["origin"]),
        ({"tag": "secret"}, {}, ["origin"]),
        ({"tag": "PII"}, {}, ["closed"]),
        ({"tag": "*"}, {}, []),
        ({"entity_type": "view"}, {}, ["closed", "origin"]),
        ({"data_source": "hr"}, {}, ["closed", "origin"]),
        ({"asset": "*"}, {"conditions": {"attributes": {"asset": {"owner": "board"}}}}, ["closed", "origin"]),
    ],
)
def test_pages_of_a_list_are_full_and_leave_out_what_is_denied(
    door: Door, resource: dict[str, Any], fields: dict[str, Any], beside: list[str]
) -> None:
    shop(door)
    deny(door, resource, **fields)
    expected = sorted(OPEN + beside)
    with door.limited(*READ, user="bob") as bob, door.limited(*READ, user="ann") as ann:
        for order in ("asc", "desc"):
            pages = listed(bob, 4, sort="qualified_name", order=order)
            assert [name for page in pages for name in page] == sorted(expected, reverse=order == "desc")
            assert {len(page) for page in pages[:-1]} <= {4}
        assert sorted(chain.from_iterable(listed(bob, 100))) == expected
        assert names(bob.http.get("/metadata", params={"q": "closed.t03"}).json()["items"]) == []
        assert names(ann.http.get("/metadata", params={"q": "closed.t03"}).json()["items"]) == ["closed.t03"]
        for name in (f"closed.t{number:02}" for number in range(10)):
            assert effect(door, "bob", name, plane="metadata") == "deny"


@pytest.mark.parametrize("sort", ["name", "qualified_name", "entity_type"])
def test_a_cursor_does_not_name_an_asset_that_is_denied(door: Door, sort: str) -> None:
    door.ingest("vault", "schema")
    hidden = [table(f"a.secret{number}", parent="vault") for number in range(6)]
    ingest_all(door, table("a"), table("z"), *hidden)
    deny(door, {"asset": "vault"})
    with door.limited(*READ, user="bob") as bob:
        cursor, found = None, []
        while True:
            query: dict[str, Any] = {"limit": 1, "sort": sort, "entity_type": "table"}
            answer = bob.http.get("/metadata", params=query | ({"cursor": cursor} if cursor else {})).json()
            found += names(answer["items"])
            cursor = answer["next_cursor"]
            if cursor is None:
                break
            assert b"secret" not in base64.urlsafe_b64decode(cursor + "==")
    assert sorted(found) == ["a", "z"]


def test_explanations_and_dry_runs_do_not_name_an_asset_that_is_denied(door: Door) -> None:
    """A caller who administers policies may still not read every asset."""
    door.ingest("a.secret", tags=["PII"])
    door.ingest("report")
    connect(door, ("a.secret", "report"))
    propagate(door)
    hidden = ids.asset_id(door.tenant, "a.secret")
    create(door, "/users", {"name": "ann"})
    create(door, "/policies", policy({"user": "*"}, {"tag": "PII"}, id="pii"))
    deny(door, {"asset": "a.secret"})
    with door.limited("policy:read", user="bob") as bob:
        ask = {"principal": "ann", "action": "READ"}
        explained = bob.http.post("/policy/explain", json=ask | {"asset_id": hidden}).json()
        assert (explained["effect"], explained["qualified_name"]) == ("allow", "")
        reached = bob.http.post("/policy/explain", json=ask | {"asset_id": "report"}).json()
        assert [path["names"] for path in reached["tags"]] == [[None, "report"]]
        compared = bob.http.post("/policy/dry-run", json={"delete_policies": ["pii"]}).json()
        assert {item["qualified_name"] for item in compared["items"]} == {"", "report"}


def test_columns_that_only_the_lake_has_are_denied_with_their_table(door: Door) -> None:
    door.ingest("closed.orders", tags=["Secret"])
    door.ingest("open.orders")
    rows = [column(f"{schema}.orders.c{number}") for schema in ("open", "closed") for number in range(6)]
    answer = door.http.post("/ingest-metadata/bulk", json=rows, headers=WAIT)
    assert (answer.status_code, answer.json()["accepted"]) == (200, 12), answer.text
    for resource in ({"asset": "closed.orders"}, {"tag": "secret"}):
        made = deny(door, resource)
        with door.limited(*READ, user="bob") as bob:
            found = chain.from_iterable(listed(bob, 4, entity_type="column"))
            assert sorted(found) == [f"open.orders.c{number}" for number in range(6)]
            assert bob.http.get("/metadata/closed.orders.c1").status_code == 403
            assert bob.http.get("/metadata/open.orders.c1").status_code == 200
            assert listed(bob, 4, parent="closed.orders") == [[]]
        door.http.delete(f"/policies/{made['id']}")
    deny(door, {"entity_type": "column"})
    with door.limited(*READ, user="bob") as bob:
        assert sorted(chain.from_iterable(listed(bob, 4))) == ["closed.orders", "open.orders"]


def test_lineage_keeps_a_denied_asset_in_its_place_without_saying_what_it_is(door: Door) -> None:
    for name in ("a", "secret", "z"):
        door.ingest(name, tags=["PII"])
    connect(door, ("a", "secret"), ("secret", "z"))
    deny(door, {"asset": "secret"})
    hidden = ids.asset_id(door.tenant, "secret")
    with door.limited(*READ, user="bob") as bob:
        graph = bob.http.get("/lineage/a").json()
        nodes = {node["metadata_id"]: node for node in graph["nodes"]}
        assert nodes[hidden] == {
            "id": hidden,
            "metadata_id": hidden,
            "qualified_name": None,
            "name": None,
            "entity_type": None,
            "is_deleted": False,
            "depth": 1,
            "known": False,
            "tags": [],
            "at_risk": [],
            "redacted": True,
        }
        assert nodes[ids.asset_id(door.tenant, "z")]["qualified_name"] == "z"
        assert {(edge["from"], edge["to"]) for edge in graph["edges"]} == {
            (ids.asset_id(door.tenant, "a"), hidden),
            (hidden, ids.asset_id(door.tenant, "z")),
        }
        assert {(edge["from_name"], edge["to_name"]) for edge in graph["edges"]} == {("a", None), (None, "z")}
        assert bob.http.get("/lineage/secret").status_code == 404
        (first, *_) = bob.http.post("/propagations/dry-run", json={"asset": "a", "tag": "PII"}).json()["items"]
        assert (first["metadata_id"], first["redacted"]) == (hidden, True)
        assert (first["qualified_name"], first["already"]) == (None, None)


def test_a_socket_that_is_open_hears_nothing_more_of_what_becomes_denied(door: Door) -> None:
    secret, known = door.ingest("closed.orders"), door.ingest("open.orders")
    with door.limited(*READ, user="bob") as bob, listen(bob) as socket:
        door.change("PUT", f"/metadata/{secret}", {"attributes": {"owner": "ann"}})
        assert next_message(socket)["metadata_id"] == secret
        made = deny(door, {"asset": "closed.orders"})
        door.change("PUT", f"/metadata/{secret}", {"attributes": {"owner": "carol"}})
        door.change("PUT", f"/metadata/{known}", {"attributes": {"owner": "carol"}})
        message = next_message(socket)
        assert message["metadata_id"] == known
        door.http.delete(f"/policies/{made['id']}")
        door.change("PUT", f"/metadata/{secret}", {"attributes": {"owner": "dave"}})
        assert next_message(socket)["metadata_id"] == secret
        deny(door, {"asset": "closed.orders"})
        with listen(bob, since=message["position"]) as again:  # the past is filtered by the policies of now
            door.change("PUT", f"/metadata/{known}", {"attributes": {"owner": "erin"}})
            assert next_message(again)["metadata_id"] == known


def test_a_bulk_body_is_refused_row_by_row(door: Door) -> None:
    door.ingest("closed", "schema")
    deny(door, {"asset": "closed"}, actions=["WRITE"], name="Hands off")
    deny(door, {"tag": "pii"}, actions=["WRITE"])
    deny(door, {"data_source": "hr"}, actions=["DELETE"])
    rows = [
        table("open.a"),
        table("closed.a", parent="closed"),
        table("open.b", tags=["PII"]),
        table("open.c", data_source="hr"),
        table("open.d", data_source="hr") | {"operation": "delete"},
    ]
    with door.limited(*WRITE, user="bob") as bob:
        answer = bob.http.post("/ingest-metadata/bulk", json=rows, headers=WAIT)
        assert (answer.json()["accepted"], answer.json()["rejected"]) == (2, 3)
        assert [(error["row"], error["code"], error["entity"]) for error in answer.json()["errors"]] == [
            (2, "FORBIDDEN", "closed.a"),
            (3, "FORBIDDEN", "open.b"),
            (5, "FORBIDDEN", "open.d"),
        ]
        assert "policy 'Hands off' denies WRITE to user bob, because of its ancestor closed" in answer.text
        assert bob.http.get("/metadata/closed.a").status_code == 404
        assert bob.http.get("/metadata/open.c").status_code == 200


def test_a_change_must_be_permitted_for_the_asset_as_it_is_and_as_it_becomes(door: Door) -> None:
    door.ingest("open.a", data_source="crm")
    door.ingest("open.b", data_source="hr")
    deny(door, {"data_source": "hr"}, actions=CHANGES)
    with door.limited(*WRITE, user="bob") as bob:
        moved = {"attributes": {"data_source": "hr"}}
        assert bob.http.put("/metadata/open.a", json=moved).status_code == 403
        assert bob.http.post("/ingest-metadata", json=table("open.b", data_source="crm")).status_code == 403
        assert bob.http.post("/ingest-metadata", json=table("open.a", owner="bob")).status_code == 202
        assert bob.http.delete("/metadata/open.b").status_code == 403
        assert bob.http.get("/metadata/open.b").status_code == 200


def test_what_is_put_below_a_tagged_asset_counts_as_having_its_tags(door: Door) -> None:
    door.ingest("vault", "schema", tags=["Secret"])
    deny(door, {"tag": "secret"}, actions=["WRITE"])
    with door.limited(*WRITE, user="bob") as bob:
        answer = bob.http.post("/ingest-metadata", json=table("loose", parent="vault"))
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
        assert "because of its tag secret" in answer.text


def test_an_edge_needs_both_of_its_ends_and_nothing_of_a_refused_request_is_stored(door: Door) -> None:
    for name in ("a", "b", "closed"):
        door.ingest(name)
    deny(door, {"asset": "closed"}, actions=["WRITE"])
    edges = [{"from": start, "to": end, "relationship_type": "used-in"} for start, end in (("a", "b"), ("a", "closed"))]
    with door.limited(*WRITE, user="bob") as bob:
        assert bob.http.post("/lineage", json={"edges": edges}).status_code == 403
        assert door.http.get("/lineage/a").json()["edges"] == []
        assert bob.http.post("/lineage", json={"edges": edges[:1]}, headers=WAIT).status_code == 200
        sql = {"dialect": "postgres", "sql": "insert into closed select * from a"}
        assert bob.http.post("/lineage/sql", json=sql).status_code == 403
        with calling(door, bob.token) as service:
            for attempt in (
                lambda: service.ingest("a", "closed"),
                lambda: service.propagate("closed", asset_owner="bob"),
            ):
                assert code_of(attempt) is grpc.StatusCode.PERMISSION_DENIED
            assert service.ingest("a", "b").success
    deny(door, {"asset": "closed"}, user="carol")
    with door.limited(*WRITE, user="carol") as carol, calling(door, carol.token) as service:
        assert code_of(lambda: service.lineage("closed")) is grpc.StatusCode.NOT_FOUND


def code_of(attempt: Callable[[], Any]) -> Any:
    with pytest.raises(grpc.RpcError) as caught:
        attempt()
    return caught.value.code()


def test_an_unreadable_dead_letter_is_not_shown_to_a_restricted_reader(door: Door) -> None:
    append_raw(door, b"{ no json: closed.orders")
    append_raw(door, orjson.dumps({"data": {"qualified_name": "open.orders"}}))
    letters(door, 2)
    deny(door, {"asset": "closed.orders"})
    with door.limited(*READ, user="bob") as bob, door.limited(*READ, user="ann") as ann:
        assert [item["original"] for item in letters(bob, 1)] == ['{"data":{"qualified_name":"open.orders"}}']
        assert len(letters(ann, 2)) == 2


def test_a_dead_letter_about_something_below_a_denied_asset_is_not_shown(door: Door) -> None:
    door.ingest("vault", "schema")
    body = {"layer": "source", "operation": "upsert", "qualified_name": "never", "entity_type": "no such type"}
    for parent in ("vault", "open"):
        data = body | {"qualified_name": f"never.{parent}", "attributes": {"name": "never", "parent": parent}}
        append_raw(door, orjson.dumps({"tenantid": door.tenant, "data": data}))
    assert len(letters(door, 2)) == 2
    deny(door, {"asset": "vault"})
    with door.limited(*READ, user="bob") as bob:
        (shown,) = letters(bob, 1)
        assert "never.open" in shown["original"]


def test_a_receipt_that_was_made_up_does_not_show_why_an_event_about_another_asset_was_refused(door: Door) -> None:
    door.ingest("vault", tags=["PII"])
    mine = door.ingest("mine")
    said = {"layer": "user", "qualified_name": "vault", "operation": "suppress", "tag": "PII", "reason": "because"}
    event = AssetEvent(ids.event_id(), clock.now(), door.tenant, read_statement(said, tenant=door.tenant))
    append_raw(door, orjson.dumps(event.as_cloudevent()), event.key)
    (letter,) = letters(door, 1)
    deny(door, {"asset": "vault"})
    position = Position(letter["topic"], letter["partition"], letter["offset"])
    with door.limited(*READ, user="bob") as bob:
        for asset, status in ((mine, 200), (ids.asset_id(door.tenant, "vault"), 403)):
            stated = Stated(asset, "source", ids.event_id(), clock.now(), 1)
            answer = bob.http.get(f"/propagations/{Receipt((position,), stated).seal(door.tenant)}")
            assert answer.status_code == status, answer.text
            assert "PROTECTED" not in answer.text
