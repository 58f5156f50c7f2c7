"""Ingest bodies: how one with an unknown field is refused."""

from types import SimpleNamespace
from typing import Any

import pytest

from lily.api.ingest.asset_events import source_event
from lily.model.errors import Refused


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
