"""No record can stop the pipeline: validation returns an event, or a refusal with its cause."""

from typing import Any

import jsonschema_rs
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.bus.authority import SigningKey, Verifier, sign
from lily.model import ids
from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement, read_edge_statement
from lily.model.events import AssetEvent
from lily.model.records import Record, Refusal
from lily.model.schemas import SCHEMAS
from lily.model.statements import read_statement
from lily.pipeline.validation import PING, validate_asset_record, validate_lineage_record

NOW = "2026-11-15T08:36:00.000000Z"
TENANTS = {"default", "other"}


def an_event(tenant: str = "default", time: str = NOW) -> AssetEvent:
    statement = read_statement({"entity_type": "table", "attributes": {"name": "orders"}}, tenant=tenant)
    return AssetEvent(ids.event_id(), time, tenant, statement)


def record(value: bytes | None, key: bytes | None = None) -> Record:
    return Record("asset-ingestion-events", 0, 7, NOW, key, value)


def place(event: AssetEvent) -> bytes:
    return f"{event.tenant}/{event.asset_id}".encode()


def refusal(value: bytes | None, key: bytes | None = None) -> Refusal:
    verdict = validate_asset_record(record(value, key), TENANTS.__contains__)
    assert isinstance(verdict, Refusal)
    return verdict


def test_an_event_that_the_api_wrote_is_read_back_unchanged() -> None:
    event = an_event()
    assert (
        validate_asset_record(record(orjson.dumps(event.as_cloudevent()), place(event)), TENANTS.__contains__) == event
    )


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "MALFORMED_JSON"),
        (b"", "MALFORMED_JSON"),
        (b"{", "MALFORMED_JSON"),
        (b"\xff\xfe", "MALFORMED_JSON"),
        (b"[" * 100_000, "MALFORMED_JSON"),
        (b"[]", "INVALID_ENVELOPE"),
        (b'"text"', "INVALID_ENVELOPE"),
        (b'{"specversion":"0.3"}', "INVALID_ENVELOPE"),
    ],
)
def test_a_record_that_is_not_an_event_is_refused(value: bytes | None, code: str) -> None:
    assert refusal(value, b"default/x").problems[0].code == code


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": ""}, "INVALID_ENVELOPE"),
        ({"id": "x" * 65}, "INVALID_ENVELOPE"),
        ({"tenantid": None}, "INVALID_ENVELOPE"),
        ({"data": []}, "INVALID_ENVELOPE"),
        ({"time": "noon"}, "INVALID_TIME"),
        ({"time": "2026-11-15T09:36:00Z"}, "TIME_IN_FUTURE"),
        ({"data": {"entity_type": "table"}}, "MISSING_FIELD"),
        ({"tenantid": "other"}, "KEY_MISMATCH"),
    ],
)
def test_an_event_that_violates_the_contract_is_refused_with_the_cause(change: dict[str, Any], code: str) -> None:
    event = an_event()
    refused = refusal(orjson.dumps(event.as_cloudevent() | change), place(event))
    assert refused.problems[0].code == code
    assert refused.tenant == "default"


def test_an_event_of_an_unknown_tenant_is_refused_and_belongs_to_no_tenant() -> None:
    event = an_event("nobody")
    refused = refusal(orjson.dumps(event.as_cloudevent()), place(event))
    assert (refused.problems[0].code, refused.tenant) == ("UNKNOWN_TENANT", "")


def test_a_ping_passes_and_changes_nothing() -> None:
    assert validate_asset_record(record(orjson.dumps({"type": PING})), TENANTS.__contains__) is None


@given(st.binary(max_size=60), st.binary(max_size=20))
def test_no_bytes_can_stop_the_pipeline(value: bytes, key: bytes) -> None:
    assert isinstance(validate_asset_record(record(value, key), TENANTS.__contains__), Refusal)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("entity_type", "attributes", "operation", "layer", "by"), JSON))
)
def test_no_data_can_stop_the_pipeline(data: dict[str, Any]) -> None:
    event = an_event().as_cloudevent() | {"data": data}
    try:
        value = orjson.dumps(event)
    except (TypeError, ValueError):  # a lone surrogate or an enormous number never gets as far as the log
        return
    verdict = validate_asset_record(record(value, b"default/x"), TENANTS.__contains__)
    assert isinstance(verdict, Refusal)
    assert all(problem.code != "INTERNAL" for problem in verdict.problems)
    orjson.dumps([problem.as_dict() for problem in verdict.problems])


KEY = SigningKey.of(bytes(32))
EDGE = EdgeKey(ids.asset_id("default", "a"), ids.asset_id("default", "b"), "derived-from")
LINEAGE: list[EdgeEvent | ClaimsEvent] = [
    EdgeEvent("e1", NOW, "default", EdgeStatement("user", "upsert", EDGE, {"masking": None}, "me", authorised=True)),
    EdgeEvent("e2", NOW, "default", EdgeStatement("source", "delete", EDGE, {"propagates": False})),
    ClaimsEvent("e3", NOW, "default", EDGE.to_id, "run 1", complete=True, claims=(Claim(EDGE, masking=True),), by="me"),
    ClaimsEvent("e4", NOW, "default", EDGE.to_id, "run 1", complete=True, claims=(Claim(EDGE),), names=("a", "b")),
]


@pytest.mark.parametrize("event", LINEAGE)
def test_an_edge_event_is_read_back_unchanged(event: EdgeEvent | ClaimsEvent) -> None:
    value = sign(orjson.dumps(event.as_cloudevent()), [KEY])
    verifier = Verifier([KEY])
    assert validate_lineage_record(record(value, event.key), TENANTS.__contains__, verifier=verifier) == event


@pytest.mark.parametrize("event", LINEAGE)
@pytest.mark.parametrize("given", ["yes", 1, None])
def test_only_true_is_authority(event: EdgeEvent | ClaimsEvent, given: Any) -> None:
    value = event.as_cloudevent()
    value["data"]["authorised"] = given
    found = validate_lineage_record(record(orjson.dumps(value), event.key), TENANTS.__contains__)
    assert not isinstance(found, Refusal)
    assert found is not None
    assert (found.statement if isinstance(found, EdgeEvent) else found).authorised is False


def test_a_statement_about_an_edge_becomes_a_layer_with_what_it_clears() -> None:
    settings: dict[str, bool | None] = {"masking": None, "propagates": False}
    cleared = EdgeStatement("user", "upsert", EDGE, settings, authorised=True).as_layer("c")
    assert cleared == ({"propagates": False, "$deleted": False}, "c", {"masking": "c"})
    assert EdgeStatement("user", "delete", EDGE, {}, authorised=True).as_layer("c") == ({"$deleted": True}, "c", None)


def test_an_edge_from_an_asset_to_itself_is_not_claimed() -> None:
    value = LINEAGE[2].as_cloudevent()
    value["data"]["edges"] = [[EDGE.to_id, EDGE.to_id, "derived-from", False]]
    found = validate_lineage_record(record(orjson.dumps(value), LINEAGE[2].key), TENANTS.__contains__)
    assert isinstance(found, Refusal)


def test_the_names_of_ends_are_read_back_unless_the_edge_is_deleted() -> None:
    for operation, names in (("upsert", ("a",)), ("delete", ())):
        data = {"from": "a", "to": EDGE.to_id, "relationship_type": EDGE.type, "operation": operation}
        statement = read_edge_statement(data, tenant="default")
        assert (statement.key, statement.names) == (EDGE, names)
        event = EdgeEvent("e1", NOW, "default", statement)
        jsonschema_rs.validator_for(SCHEMAS["edge-event"]).validate(event.as_cloudevent())
        value = orjson.dumps(event.as_cloudevent())
        found = validate_lineage_record(record(value, event.key), TENANTS.__contains__)
        assert isinstance(found, EdgeEvent)
        assert found.statement.names == names


@pytest.mark.parametrize("names", ["a", [7], ["x" * 2_000], [None]])
@pytest.mark.parametrize("event", [LINEAGE[0], LINEAGE[2]])
def test_names_that_are_none_are_refused(event: EdgeEvent | ClaimsEvent, names: Any) -> None:
    value = event.as_cloudevent()
    value["data"]["names"] = names
    assert isinstance(validate_lineage_record(record(orjson.dumps(value), event.key), TENANTS.__contains__), Refusal)


@pytest.mark.parametrize("event", LINEAGE)
def test_edges_and_assets_are_refused_on_each_others_topics(event: EdgeEvent | ClaimsEvent) -> None:
    assert refusal(orjson.dumps(event.as_cloudevent()), event.key).problems[0].code == "INVALID_ENVELOPE"
    asset = an_event()
    verdict = validate_lineage_record(record(orjson.dumps(asset.as_cloudevent()), asset.key), TENANTS.__contains__)
    assert isinstance(verdict, Refusal)
    assert verdict.problems[0].code == "INVALID_ENVELOPE"


@pytest.mark.parametrize("event", LINEAGE)
def test_a_record_with_a_wrong_key_is_refused(event: EdgeEvent | ClaimsEvent) -> None:
    value = orjson.dumps(event.as_cloudevent())
    for key in (b"default/x", None, b"other/" + EDGE.to_id.encode()):
        verdict = validate_lineage_record(record(value, key), TENANTS.__contains__)
        assert isinstance(verdict, Refusal)
        assert verdict.problems[0].code == "KEY_MISMATCH"


def test_a_ping_passes_on_the_topic_for_edges_too() -> None:
    assert validate_lineage_record(record(orjson.dumps({"type": PING})), TENANTS.__contains__) is None


@given(
    st.sampled_from([event.as_cloudevent() for event in LINEAGE]),
    st.dictionaries(
        st.sampled_from(["layer", "from", "to", "relationship_type", "masking", "job", "run", "edges"]),
        JSON,
        min_size=1,
    ),
)
def test_no_data_about_edges_can_stop_the_pipeline(event: dict[str, Any], data: dict[str, Any]) -> None:
    try:
        value = orjson.dumps(event | {"data": event["data"] | data})
    except (TypeError, ValueError):
        return
    verdict = validate_lineage_record(record(value, b"default/x"), TENANTS.__contains__)
    assert isinstance(verdict, Refusal)
    assert all(problem.code != "INTERNAL" for problem in verdict.problems)


def test_authority_over_an_edge_has_to_be_stated_as_true() -> None:
    said = {"from": "a", "to": "b", "relationship_type": "derived-from", "layer": "user"}
    for claim in (None, "yes", 1, ["policy:write"]):
        assert not read_edge_statement({**said, "authorised": claim}, tenant="default").authorised
    assert read_edge_statement({**said, "authorised": True}, tenant="default").authorised
