"""The lineage over gRPC: the same rules as over REST, in the messages and codes of gRPC."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import psycopg
import pytest
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status

from lily.api.grpc.generated import lineage_pb2 as messages
from lily.api.grpc.generated.lineage_pb2_grpc import LineageServiceStub
from lily.model import ids
from tests.contract.door import Door
from tests.contract.test_at_risk import eventually
from tests.contract.test_lineage import edge, post, state

TYPE = "derived-from"
Code = grpc.StatusCode


class Lineage:
    """The service, called with one token."""

    def __init__(self, channel: grpc.Channel, token: str) -> None:
        self.stub: Any = LineageServiceStub(channel)  # type: ignore[no-untyped-call]
        self.raw: Any = channel.unary_unary
        self.token = token

    def ingest(self, start: str, end: str, kind: str = TYPE, **more: Any) -> messages.GenericMessage:
        asked = messages.Relationship(from_asset_id=start, to_asset_id=end, relationship_type=kind)
        return self._call(self.stub.IngestRelationships, asked, **more)  # type: ignore[no-any-return]

    def propagate(self, asset: str, *, wait: str | None = "30", **stated: Any) -> messages.GenericMessage:
        told = messages.Metadata(asset_id=asset, **stated)
        asked = messages.MetadataPropagationRequest(updated_metadata=told)
        return self._call(self.stub.PropagateUpdateDownstream, asked, wait=wait)  # type: ignore[no-any-return]

    def lineage(self, asset: str, depth: int = 0, **asked: Any) -> set[tuple[str, str, str]]:
        answer = self._call(self.stub.GetLineage, messages.GetLineageRequest(asset_id=asset, depth=depth, **asked))
        assert answer.success
        return {(one.from_asset_id, one.to_asset_id, one.relationship_type) for one in answer.lineage}

    def _call(self, rpc: Any, asked: Any, *, wait: str | None = "30", timeout: float = 60) -> Any:
        metadata = [("authorization", f"Bearer {self.token}")] if self.token else []
        return rpc(asked, metadata=metadata + ([("lily-wait", wait)] if wait else []), timeout=timeout)


@contextmanager
def calling(door: Door, token: str | None = None) -> Iterator[Lineage]:
    with grpc.insecure_channel(door.stack.grpc) as channel:
        yield Lineage(channel, door.token if token is None else token)


@pytest.fixture
def service(door: Door) -> Iterator[Lineage]:
    with calling(door) as found:
        yield found


def link(door: Door, start: str, end: str) -> tuple[str, str, str]:
    return ids.asset_id(door.tenant, start), ids.asset_id(door.tenant, end), TYPE


@contextmanager
def failing(code: grpc.StatusCode, *words: str) -> Iterator[None]:
    with pytest.raises(grpc.RpcError) as caught:
        yield
    error: Any = caught.value
    assert error.code() is code, error.details()
    for word in words:
        assert word in error.details()


def test_a_relationship_can_be_read_through_both_doors_and_from_both_ends(door: Door, service: Lineage) -> None:
    told = service.ingest("a", "b", " Derived-From ")
    assert (told.success, told.message) == (True, "applied: it can be read now")
    service.ingest(ids.asset_id(door.tenant, "b"), "c")
    both = {link(door, "a", "b"), link(door, "b", "c")}
    assert service.lineage("a") == service.lineage("b") == service.lineage("c", remove_deleted=True) == both
    assert service.lineage("a", depth=1) == {link(door, "a", "b")}
    assert state(door, "a", "b") == (True, False)


def test_an_answer_without_waiting_comes_with_a_receipt(door: Door, service: Lineage) -> None:
    asked = messages.Relationship(from_asset_id="a", to_asset_id="b", relationship_type=TYPE)
    metadata = [("authorization", f"Bearer {door.token}"), ("x-correlation-id", "mine")]
    told, rpc = service.stub.IngestRelationships.with_call(asked, metadata=metadata, timeout=60)
    trailing = dict(rpc.trailing_metadata())
    assert (told.success, trailing["x-correlation-id"]) == (True, "mine")
    assert door.http.get(f"/propagations/{trailing['lily-receipt']}").status_code == 200


def test_a_deadline_that_comes_before_the_wait_ends_is_met(service: Lineage) -> None:
    assert service.ingest("a", "b", wait="60", timeout=20).success


def test_what_is_ingested_does_not_undo_what_a_person_said(door: Door, service: Lineage) -> None:
    service.ingest("a", "b")
    door.change("DELETE", "/lineage", {"edges": [edge("a", "b")]})
    service.ingest("a", "b")
    assert state(door, "a", "b") is None
    with psycopg.connect(door.stack.database) as connection:
        stored = connection.execute("select source from edges where tenant_id = %s", [door.tenant]).fetchall()
    assert stored == [({"$deleted": False},)]


def test_a_persons_update_travels_downstream(door: Door, service: Lineage) -> None:
    for name in "ab":
        door.ingest(name, owner="nobody", tags=["old"])
    service.ingest("a", "b")
    told = service.propagate(
        "a",
        asset_owner="alice",
        tags=["PII", "pii", "internal"],
        business_terms=["Billing"],
        metadata='{"region": "us-east-1"}',
    )
    assert told.success
    asset = door.read("a")
    shown = asset["attributes"]
    assert (shown["owner"], shown["business_terms"], shown["region"]) == ("alice", ["Billing"], "us-east-1")
    assert asset["tags"]["user"] == ["internal", "PII"]
    assert asset["tags"]["source"] == ["old"]
    downstream = door.read("b")
    assert (downstream["tags"]["propagated"], downstream["attributes"]["owner"]) == (["PII"], "nobody")


def test_what_has_its_default_value_is_not_stated_and_tags_are_only_added(door: Door, service: Lineage) -> None:
    door.ingest("a", owner="alice", description="kept")
    service.propagate("a", tags=["one"], asset_type="TABLE", version=7, created_at="whenever")
    service.propagate("a", tags=["two"])
    asset = door.read("a")
    assert asset["tags"]["user"] == ["one", "two"]
    assert (asset["attributes"]["owner"], asset["attributes"]["description"]) == ("alice", "kept")
    service.propagate("a", is_deleted=True)
    assert door.read("a")["is_deleted"] is True


def test_an_update_of_nothing_or_of_what_cannot_change_is_refused(door: Door, service: Lineage) -> None:
    door.ingest("a")
    bad: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "updated_metadata"),
        ({"asset_type": "view"}, "asset_type"),
        ({"tags": ["good", " "]}, "tags[1]"),
        ({"tags": ["x" * 200]}, "tags[0]"),
        ({"tags": [str(number) for number in range(501)]}, "TOO_LONG"),
        ({"asset_owner": "x" * 600}, "asset_owner"),
        ({"metadata": "{"}, "MALFORMED_JSON"),
        ({"metadata": "[1]"}, "metadata"),
        ({"metadata": '{"tags": []}'}, "metadata.tags"),
        ({"metadata": '{"$deleted": true}'}, "$deleted"),
        ({"tags": ["good"], "wait": "soon"}, "lily-wait"),
    )
    for stated, word in bad:
        with failing(Code.INVALID_ARGUMENT, word):
            service.propagate("a", **stated)
    with failing(Code.INVALID_ARGUMENT, "asset_id"):
        service.propagate("", tags=["good"])
    with failing(Code.NOT_FOUND, "NOT_FOUND"):
        service.propagate("nobody knows it", tags=["good"])
    assert door.read("a")["tags"]["user"] == []


def test_bad_relationships_are_refused_with_each_problem_by_itself(door: Door, service: Lineage) -> None:
    with failing(Code.INVALID_ARGUMENT, "SELF_LOOP"):
        service.ingest("a", ids.asset_id(door.tenant, "a"))
    with failing(Code.INVALID_ARGUMENT, "relationship_type"):
        service.ingest("a", "b", "")
    for start, end in (("a", "b\x00"), ("a", "ü" * 600), ("a\n", "b\x7f")):
        with failing(Code.INVALID_ARGUMENT, "to_asset_id"):
            service.ingest(start, end)
    with pytest.raises(grpc.RpcError) as caught:
        service.ingest("", "", "")
    error: Any = caught.value
    found = Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    problems = BadRequest()
    assert found.details[0].Unpack(problems)
    entities = ["from_asset_id", "to_asset_id", "relationship_type"]
    assert [(one.field, one.reason) for one in problems.field_violations] == [(n, "INVALID_VALUE") for n in entities]
    assert all(entity in error.details() for entity in entities)
    with failing(Code.NOT_FOUND):
        service.lineage("a")


def test_what_is_no_message_or_too_large_is_refused(door: Door, service: Lineage) -> None:
    known, unknown = (service.raw(f"/lineage.LineageService/{name}") for name in ("GetLineage", "Nothing"))
    metadata = [("authorization", f"Bearer {door.token}")]
    for junk in (b"\xff\xff", b"\x0a\x02\xff\xfe"):
        with failing(Code.INVALID_ARGUMENT, "MALFORMED_MESSAGE"):
            known(junk, metadata=metadata, timeout=60)
    with failing(Code.RESOURCE_EXHAUSTED):
        service.ingest("a", "x" * (2 << 20))
    with failing(Code.UNIMPLEMENTED):
        unknown(b"", metadata=metadata, timeout=60)


def test_a_lineage_that_is_asked_for_badly_is_refused(door: Door, service: Lineage) -> None:
    door.ingest("a")
    assert service.lineage("a") == set()
    for depth in (-1, 10_001):
        with failing(Code.INVALID_ARGUMENT, "depth"):
            service.lineage("a", depth=depth)
    with failing(Code.INVALID_ARGUMENT, "asset_id"):
        service.lineage(" ")
    with failing(Code.NOT_FOUND):
        service.lineage("b")


def test_a_part_of_a_lineage_is_never_shown_as_the_whole(door: Door, service: Lineage) -> None:
    edges = [edge("hub", f"leaf.{number}") for number in range(10_000)]
    post(door, *edges)
    assert len(service.lineage("hub", depth=1)) == 10_000
    post(door, edge("above", "hub"))
    with failing(Code.RESOURCE_EXHAUSTED, "depth"):
        service.lineage("hub", depth=1)


def test_deleted_assets_are_left_out_if_asked_for(door: Door, service: Lineage) -> None:
    for name in "abc":
        door.ingest(name)
    for pair in ("ab", "bc"):
        service.ingest(*pair)
    door.change("DELETE", "/metadata/b")
    assert service.lineage("a") == {link(door, "a", "b"), link(door, "b", "c")}
    assert service.lineage("a", remove_deleted=True) == set()


def test_another_tenants_assets_and_edges_are_invisible(door: Door, other_door: Door, service: Lineage) -> None:
    start = door.ingest("a")
    service.ingest("a", "b")
    with calling(other_door) as other:
        with failing(Code.NOT_FOUND):
            other.lineage(start)
        with failing(Code.NOT_FOUND):
            other.propagate(start, tags=["PII"])
        other.ingest("a", "z")
    assert service.lineage("a") == {link(door, "a", "b")}


def test_each_call_needs_a_token_and_its_scope(door: Door) -> None:
    door.ingest("a", tags=["PII"])
    for token in ("", "nonsense"):
        with calling(door, token) as nobody:
            with failing(Code.UNAUTHENTICATED, "Bearer"):
                nobody.lineage("a")
            with failing(Code.UNAUTHENTICATED):
                nobody.ingest("a", "")
    with door.limited("lineage:read") as limited, calling(limited) as reader:
        assert reader.lineage("a") == set()
        with failing(Code.PERMISSION_DENIED, "lineage:write"):
            reader.ingest("a", "b")
        with failing(Code.PERMISSION_DENIED, "metadata:write"):
            reader.propagate("nobody knows it", tags=["x"])
    with door.limited("lineage:write", "metadata:write") as limited, calling(limited) as writer:
        assert writer.ingest("a", "b").success
        assert writer.propagate("a", tags=["x"]).success
        with failing(Code.PERMISSION_DENIED, "lineage:read"):
            writer.lineage("a")


def test_an_update_that_moves_an_asset_away_from_a_protective_tag_does_not_end_the_tag(door: Door) -> None:
    door.ingest("shop", "schema", tags=["PII"])
    door.ingest("shop.t", parent="shop")
    with door.limited("metadata:write") as limited, calling(limited) as writer:
        assert writer.propagate("shop.t", metadata='{"parent": "elsewhere"}').success
    eventually(lambda: door.read("shop.t")["attributes"]["parent"], "elsewhere")
    assert door.read("shop.t")["tags"]["effective"] == ["PII"]


def test_calls_are_measured(door: Door, service: Lineage) -> None:
    door.ingest("a")
    service.lineage("a")
    text = door.http.get("/metrics").text
    assert (
        'lily_grpc_request_seconds_count{method="gRPC",route="lineage.LineageService/GetLineage",status="OK"}' in text
    )
