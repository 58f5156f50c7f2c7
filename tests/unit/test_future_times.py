"""No statement of any kind counts before its time: what is dated too far in the future is refused."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest

from lily.incidents import INCIDENT_STATED
from lily.model import ids
from lily.model.columns import ColumnsEvent
from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement
from lily.model.envelopes import read_envelope
from lily.model.errors import Refused
from lily.model.events import AssetEvent
from lily.model.records import Record, Refusal
from lily.model.statements import read_statement
from lily.model.usage import UsageEvent
from lily.pipeline.validation import (
    validate_asset_record,
    validate_bulk_record,
    validate_lineage_record,
    validate_usage_record,
)

RECEIVED = "2026-11-15T08:36:00.000000Z"
IN_TIME, TOO_LATE = "2026-11-15T08:41:00.000000Z", "2026-11-15T08:41:00.000001Z"  # five minutes, and a bit more
TABLE, OTHER = ids.asset_id("default", "shop.t"), ids.asset_id("default", "shop.u")
EDGE = EdgeKey(TABLE, OTHER, "derived-from")

Validate = Callable[..., Any]
Made = Callable[[str], Any]


def an_asset(time: str) -> AssetEvent:
    statement = read_statement({"entity_type": "table", "attributes": {"name": "t"}}, tenant="default")
    return AssetEvent(ids.event_id(), time, "default", statement)


KINDS: dict[str, tuple[Validate, Made]] = {
    "asset": (validate_asset_record, an_asset),
    "asset in bulk": (validate_bulk_record, an_asset),
    "columns": (validate_bulk_record, lambda time: ColumnsEvent("e", time, "default", "shop.t", {"c": {}})),
    "edge": (
        validate_lineage_record,
        lambda time: EdgeEvent("e", time, "default", EdgeStatement("source", "upsert", EDGE, {})),
    ),
    "edge of a person": (
        validate_lineage_record,
        lambda time: EdgeEvent("e", time, "default", EdgeStatement("user", "delete", EDGE, {})),
    ),
    "claims": (
        validate_lineage_record,
        lambda time: ClaimsEvent("e", time, "default", OTHER, "run", complete=True, claims=(Claim(EDGE),)),
    ),
    "usage": (validate_usage_record, lambda time: UsageEvent("e", time, "default", TABLE, 1)),
}


def verdict(validate: Validate, event: Any, **more: Any) -> Any:
    record = Record("t", 0, 7, RECEIVED, event.key, orjson.dumps(event.as_cloudevent()))
    return validate(record, "default".__eq__, **more)


@pytest.mark.parametrize("kind", KINDS)
def test_five_minutes_ahead_are_a_clock_that_is_fast_and_more_is_refused(kind: str) -> None:
    validate, made = KINDS[kind]
    assert verdict(validate, made(IN_TIME)) == made(IN_TIME) or kind.startswith("asset")
    assert not isinstance(verdict(validate, made(IN_TIME)), Refusal)
    refused = verdict(validate, made(TOO_LATE))
    assert isinstance(refused, Refusal)
    assert [problem.code for problem in refused.problems] == ["TIME_IN_FUTURE"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_operator_decides_how_far_ahead_a_clock_may_be(kind: str) -> None:
    validate, made = KINDS[kind]
    assert isinstance(verdict(validate, made(IN_TIME), skew=timedelta(minutes=4)), Refusal)
    assert not isinstance(verdict(validate, made(TOO_LATE), skew=timedelta(minutes=6)), Refusal)


def test_every_envelope_is_compared_with_the_time_of_the_log() -> None:
    event = {"specversion": "1.0", "type": INCIDENT_STATED, "id": "i", "tenantid": "default", "data": {}}
    for time, received in ((TOO_LATE, RECEIVED), ("9999-12-31T23:59:59Z", RECEIVED)):
        with pytest.raises(Refused, match="more than 5 minutes in the future"):
            read_envelope(event | {"time": time}, INCIDENT_STATED, received=received)
    envelope, _ = read_envelope(event | {"time": TOO_LATE}, INCIDENT_STATED, received="2026-11-15T09:00:00.000000Z")
    assert envelope.time == TOO_LATE
