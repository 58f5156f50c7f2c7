"""Changes as they happen, over a WebSocket."""

from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from lily.store.postgres.access.administration import revoke_token
from tests.contract.door import Door


def listen(door: Door, token: str | None = None, **parameters: str) -> ClientConnection:
    headers = {} if "ticket" in parameters else {"Authorization": f"Bearer {token or door.token}"}
    address = f"ws{door.stack.url.removeprefix('http')}/ws/notifications?{urlencode(parameters)}"
    return connect(address, additional_headers=headers, open_timeout=30)


def next_message(socket: ClientConnection, timeout: float = 30) -> dict[str, Any]:
    return dict(orjson.loads(socket.recv(timeout=timeout)))


def ticket(door: Door) -> str:
    told = door.http.post("/ws/tickets").json()
    assert told["expires_in"] == 30
    return str(told["ticket"])


def test_a_change_is_told_as_it_happens(door: Door) -> None:
    with listen(door) as socket:
        asset_id = door.ingest("shop.orders", owner="alice")
        message = next_message(socket)
        assert message["type"] == "update"
        assert (message["metadata_id"], message["entity_type"], message["change"]) == (asset_id, "table", "created")
        assert message["timestamp"]
        assert message["position"]
        door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "PII"})
        message = next_message(socket)
        assert (message["change"], message["tags"]) == ("tagged", {"added": ["PII"], "removed": []})


def test_nobody_hears_of_another_tenants_changes(door: Door, other_door: Door) -> None:
    with listen(other_door) as socket:
        door.ingest("shop.orders")
        own = other_door.ingest("shop.mine")
        assert next_message(socket)["metadata_id"] == own


def test_filters_leave_out_the_rest(door: Door) -> None:
    wanted = door.ingest("shop.wanted")
    with (
        listen(door, entity_type="view") as views,
        listen(door, change="deleted") as deletions,
        listen(door, metadata_id="shop.wanted") as one,
        listen(door, tag="pii") as pii,
    ):
        door.ingest("shop.other", tags=["Finance"])
        view = door.ingest("shop.view", "view")
        tagged = door.ingest("shop.tagged", tags=["PII"])
        door.change("DELETE", "/metadata/shop.wanted")
        assert next_message(views)["metadata_id"] == view
        assert next_message(deletions)["metadata_id"] == wanted
        assert next_message(one)["metadata_id"] == wanted
        assert next_message(pii)["metadata_id"] == tagged


def test_who_was_away_resumes_without_gap_or_repetition(door: Door) -> None:
    with listen(door) as socket:
        door.ingest("shop.t0")
        position = next_message(socket)["position"]
    missed = {door.ingest(f"shop.t{number}") for number in range(1, 6)}
    with listen(door, since=position) as socket:
        # Only the changes of one asset have an order: the log keeps them in one partition.
        assert {next_message(socket)["metadata_id"] for _ in missed} == missed
        live = [door.ingest(f"shop.t{number}") for number in range(6, 9)]
        told = [next_message(socket) for _ in live]
        assert {message["metadata_id"] for message in told} == set(live)
    with listen(door, since=told[0]["position"]) as socket:
        again = {next_message(socket)["metadata_id"] for _ in told[1:]}
        assert again == {message["metadata_id"] for message in told[1:]}
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.5)


def test_the_handshake_says_where_one_stands(door: Door) -> None:
    with listen(door) as socket:
        assert socket.response is not None
        position = socket.response.headers["lily-position"]
    asset_id = door.ingest("shop.orders")
    with listen(door, since=position) as socket:
        assert next_message(socket)["metadata_id"] == asset_id


def test_a_ticket_lets_in_once(door: Door) -> None:
    shown = ticket(door)
    with listen(door, ticket=shown) as socket:
        asset_id = door.ingest("shop.orders")
        assert next_message(socket)["metadata_id"] == asset_id
    with pytest.raises(InvalidStatus) as refused:
        listen(door, ticket=shown)
    assert refused.value.response.status_code == 401


def test_who_may_not_listen_is_refused_before_the_connection_opens(door: Door) -> None:
    with door.limited("policy:read") as weak:
        refusals: list[tuple[dict[str, str], str | None, int]] = [
            ({}, "forged", 401),
            ({"ticket": "forged"}, None, 401),
            ({"since": "nonsense"}, None, 400),
            ({}, weak.token, 403),
        ]
        for parameters, token, status in refusals:
            with pytest.raises(InvalidStatus) as refused:
                listen(door, token, **parameters)
            assert refused.value.response.status_code == status
            assert orjson.loads(refused.value.response.body or b"")["errors"]


def assert_ends(socket: ClientConnection) -> None:
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_an_expired_token_listens_no_longer(door: Door) -> None:
    with door.limited("metadata:read", ttl_seconds=2) as brief, listen(brief) as socket:
        assert_ends(socket)


def test_a_revoked_token_listens_no_longer_not_even_by_ticket(door: Door) -> None:
    with (
        door.limited("metadata:read") as doomed,
        listen(doomed) as by_token,
        listen(doomed, ticket=ticket(doomed)) as by_ticket,
    ):
        revoke_token(door.stack.database, *door.token_ids("limited"))
        assert_ends(by_token)
        assert_ends(by_ticket)


def lineage(door: Door, *names: str) -> list[str]:
    """Tables that feed one another, in this order."""
    ids = [door.ingest(name) for name in names]
    edges = [{"from": a, "to": b, "relationship_type": "derived-from"} for a, b in pairwise(ids)]
    door.change("POST", "/lineage", {"edges": edges})
    return ids


def test_a_tag_that_comes_and_goes_by_propagation_is_announced_with_its_cause(door: Door) -> None:
    origin, _, dashboard = lineage(door, "raw.people", "core.people", "bi.people")
    with listen(door, metadata_id="bi.people") as socket:
        door.change("POST", f"/metadata/{origin}/tags", {"tag": "pii"})
        gained = next_message(socket)
        door.change("DELETE", f"/metadata/{origin}/tags/PII")
        lost = next_message(socket)
    cause = {"tag": "PII", "origin": origin, "layer": "propagated"}
    assert (gained["change"], gained["metadata_id"], gained["cause"]) == ("tagged", dashboard, cause)
    assert (gained["entity_type"], gained["qualified_name"]) == ("table", "bi.people")
    assert gained["tags"] == {"added": ["PII"], "removed": []}
    assert (lost["change"], lost["metadata_id"], lost["cause"]) == ("untagged", dashboard, cause)
    assert lost["tags"] == {"added": [], "removed": ["PII"]}


def test_the_cause_of_a_tag_that_an_edge_brought_is_its_origin(door: Door) -> None:
    origin = door.ingest("raw.people", tags=["PII"])
    middle, end = lineage(door, "core.people", "bi.people")
    with listen(door, metadata_id="bi.people") as socket:
        door.change("POST", "/lineage", {"edges": [{"from": origin, "to": middle, "relationship_type": "used-in"}]})
        message = next_message(socket)
    assert (message["change"], message["metadata_id"], message["cause"]["origin"]) == ("tagged", end, origin)


def test_announcements_are_filtered_and_resumed_like_changes(door: Door, other_door: Door) -> None:
    origin, middle, end = lineage(door, "raw.people", "core.people", "bi.people")
    with listen(door, change="tagged") as socket, listen(other_door) as other:
        assert socket.response is not None
        position = socket.response.headers["Lily-Position"]
        door.change("POST", f"/metadata/{origin}/tags", {"tag": "PII"})
        heard = [next_message(socket) for _ in range(3)]
        own = other_door.ingest("mine")
        assert next_message(other)["metadata_id"] == own
    assert {message["metadata_id"] for message in heard} == {origin, middle, end}
    with listen(door, change="tagged", since=position) as socket:
        again = [next_message(socket) for _ in range(3)]
    assert {message["id"] for message in again} == {message["id"] for message in heard}
    with listen(door, since=again[-1]["position"]) as socket:
        after = door.ingest("after")
        assert next_message(socket)["metadata_id"] == after


@pytest.mark.parametrize(
    ("parameters", "code", "told"),
    [
        ({"entity_typ": "table"}, "UNKNOWN_PARAMETER", "did you mean `entity_type`?"),
        ({"nmae": "x"}, "UNKNOWN_PARAMETER", "use one of: "),
        ({"entity_type": "tabel"}, "UNKNOWN_ENTITY_TYPE", "did you mean `table`?"),
        ({"change": "creatd"}, "UNKNOWN_CHANGE", "did you mean `created`?"),
    ],
)
def test_a_filter_that_could_never_match_is_refused_with_a_hint(
    door: Door, parameters: dict[str, str], code: str, told: str
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        listen(door, **parameters)
    assert refused.value.response.status_code == 400
    (error,) = orjson.loads(refused.value.response.body or b"")["errors"]
    assert error["code"] == code
    assert told in error["description"]


def test_an_entity_type_is_compared_without_case(door: Door) -> None:
    with listen(door, entity_type="Table") as socket:
        asset_id = door.ingest("shop.orders")
        assert next_message(socket)["metadata_id"] == asset_id
