"""The published documents: what every call can answer, and what events and bodies look like."""

from datetime import UTC, datetime

import jsonschema_rs
import pytest
from fastapi.routing import APIRoute
from hypothesis import given

from lily.api.http.openapi.document import ERRORS, PUBLIC
from lily.api.http.query import declared_parameters
from lily.api.reads.lineage_pages import MAX_EDGES
from lily.api.server import ROUTERS, build
from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement
from lily.model.events import AssetEvent
from lily.model.schemas import SCHEMAS
from lily.reactions.relay.change_events import change_event, edge_event
from lily.settings import Limits, Settings
from lily.store.postgres.outbox.batches import Change, EdgeChange
from tests.built_api import document
from tests.strategies import events

WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
STATED = jsonschema_rs.validator_for(SCHEMAS["asset-event"])


def test_every_call_declares_its_errors_and_whether_it_needs_a_token() -> None:
    limited = build(Settings(limits=Limits(page=7))).openapi()
    for path, operations in limited["paths"].items():
        for operation in operations.values():
            assert operation["responses"].keys() >= {str(status) for status in ERRORS}
            assert bool(operation["security"]) == (path not in PUBLIC)
            assert operation["description"]
            limits = [given["schema"] for given in operation.get("parameters", ()) if given["name"] == "limit"]
            assert all(limit["maximum"] == (MAX_EDGES if path.startswith("/lineage") else 7) for limit in limits)


def test_every_body_and_every_path_parameter_comes_with_an_example_that_fits() -> None:
    for path, operations in document()["paths"].items():
        for operation in operations.values():
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                if kind == WORKBOOK:  # no text to show
                    continue
                validator = jsonschema_rs.validator_for(content["schema"])
                assert content["examples"], path
                for example in content["examples"].values():
                    validator.validate(example["value"])
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    assert parameter["description"], path


def test_a_call_takes_the_query_parameters_that_the_document_names() -> None:
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    for route in (route for route in routes if route.include_in_schema):
        for method in route.methods or ():
            described = document()["paths"][route.path_format][method.lower()].get("parameters", ())
            names = {parameter["name"] for parameter in described if parameter["in"] == "query"}
            assert declared_parameters(route) == names, route.path


def test_every_section_of_the_document_says_what_it_is_for() -> None:
    calls = [operation for operations in document()["paths"].values() for operation in operations.values()]
    used = {tag for operation in calls for tag in operation["tags"]}
    assert used == {section["name"] for section in document()["tags"]}


@given(events())
def test_every_legal_event_fits_its_schema(event: AssetEvent) -> None:
    STATED.validate(event.as_cloudevent())


def test_a_change_event_fits_its_schema() -> None:
    cause = {"id": "e", "time": "2026-01-01T00:00:00.000000Z", "by": "me"}
    after = {"$type": "table", "tags": {"pii": "PII"}}
    asset_id = "0b1c2d3e-0000-8000-8000-000000000000"
    change = Change(7, "t", asset_id, "a.b", "table", "source", 1, None, after, [cause], datetime.now(UTC))
    jsonschema_rs.validator_for(SCHEMAS["change-event"]).validate(change_event(change, list(after)))


def test_what_is_said_about_edges_fits_its_schema() -> None:
    start, end, time = (
        "0b1c2d3e-0000-8000-8000-000000000000",
        "0b1c2d3e-0000-8000-8000-000000000001",
        "2026-01-01T00:00:00Z",
    )
    key = EdgeKey(start, end, "derived-from")
    edge = EdgeEvent("e", time, "t", EdgeStatement("user", "upsert", key, {"masking": None}, "me", authorised=True))
    jsonschema_rs.validator_for(SCHEMAS["edge-event"]).validate(edge.as_cloudevent())
    claims = ClaimsEvent("e", time, "t", start, "r", complete=True, claims=(Claim(key),), by="me", authorised=True)
    jsonschema_rs.validator_for(SCHEMAS["claims-event"]).validate(claims.as_cloudevent())
    state = {"propagates": True, "masking": False, "is_deleted": False}
    change = EdgeChange(7, "t", *key, None, state, [{"id": "e", "time": time}], datetime.now(UTC))
    jsonschema_rs.validator_for(SCHEMAS["edge-change-event"]).validate(edge_event(change))


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one(name: str) -> None:
    jsonschema_rs.meta.validate(SCHEMAS[name])
