"""Ingest requests: how one with an unknown field, an unknown parameter or a broken row is refused."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lily.api.http.query import refuse_unknown
from lily.api.ingest.asset_events import source_event
from lily.api.ingest.bulk.intake import BulkIntake
from lily.model.errors import Refused
from lily.settings import Settings


@pytest.mark.parametrize(
    ("field", "remedy"),
    [
        ("atributes", "did you mean `attributes`?"),
        ("active", "use one of: attributes, entity_type, operation, tenant_id, time"),
    ],
)
def test_an_unknown_field_is_refused_with_the_place_of_attributes(field: str, remedy: str) -> None:
    call: Any = SimpleNamespace(tenant="t")
    with pytest.raises(Refused) as refused:
        source_event(call, {"entity_type": "table", field: True})
    expected = f"unknown field `{field}`; attributes belong in `attributes`; {remedy}"
    assert refused.value.problems[0].description == expected


def test_a_wait_in_the_query_is_refused_with_the_header() -> None:
    with pytest.raises(Refused) as refused:
        refuse_unknown(["wait"], ())
    expected = "unknown query parameter `wait`; waiting is a header, `Prefer: wait=30`"
    assert refused.value.problems[0].description == expected


@pytest.mark.parametrize(
    ("row", "hinted"),
    [(b'{"entity_type": "table"}{"entity_type": "table"}', True), (b'{"entity_type": ', False)],
)
def test_documents_that_lost_their_newlines_are_refused_with_the_option_of_curl(row: bytes, hinted: bool) -> None:  # noqa: FBT001
    services = SimpleNamespace(settings=Settings())
    intake = BulkIntake(cast("Any", SimpleNamespace(services=services)), cast("Any", None))
    asyncio.run(intake.add(row))
    description = intake.errors[0]["description"]
    assert description.startswith("the row is not valid JSON: ")
    assert ("one document per line; curl keeps the newlines with --data-binary" in description) is hinted
