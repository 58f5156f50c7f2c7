"""Usage events: what an item of a request and a record of the log mean, and which are refused."""

from datetime import date, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.model import ids
from lily.model.errors import Refused
from lily.model.records import Record, Refusal
from lily.model.usage import KEEP_DAYS, UsageEvent, read_usage_event, read_usage_item
from lily.pipeline.validation import validate_usage_record

RECEIVED = "2026-11-16T12:00:00.000000Z"
ITEM = {"asset_id": "shop.orders", "query_count": 7, "timestamp": "2026-11-16T01:30:00+02:00"}


def read(item: Any) -> UsageEvent:
    return read_usage_item(item, tenant="acme", received=RECEIVED)


def code(item: Any) -> str:
    with pytest.raises(Refused) as caught:
        read(item)
    return caught.value.problems[0].code


def test_an_event_counts_for_the_utc_day_of_its_time() -> None:
    event = read(ITEM)
    assert (event.day, event.query_count) == (date(2026, 11, 15), 7)
    assert event.asset_id == ids.asset_id("acme", "shop.orders")
    assert event.key == f"acme/{event.asset_id}".encode()


def test_an_event_without_a_time_is_stamped_at_the_door() -> None:
    assert read({"asset_id": "shop.orders", "query_count": 0}).time == RECEIVED


def test_an_event_is_read_back_from_the_log_as_it_was_written() -> None:
    for item in (ITEM, ITEM | {"event_id": "2026-11-16T01"}):
        event = read(item)
        assert read_usage_event(orjson.loads(orjson.dumps(event.as_cloudevent())), received=RECEIVED) == event


def test_the_same_event_id_gives_the_same_event_and_no_event_id_a_new_one() -> None:
    repeated = ITEM | {"event_id": "hour-1"}
    assert read(repeated).id == read(repeated).id != read(ITEM | {"event_id": "hour-2"}).id
    assert read(repeated).id != read(repeated | {"asset_id": "shop.customers"}).id
    assert read(ITEM).id != read(ITEM).id


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"query_count": -1}, "INVALID_VALUE"),
        ({"query_count": 1.5}, "INVALID_VALUE"),
        ({"query_count": True}, "INVALID_VALUE"),
        ({"query_count": "7"}, "INVALID_VALUE"),
        ({"query_count": None}, "INVALID_VALUE"),
        ({"query_count": 10**9 + 1}, "INVALID_VALUE"),
        ({"asset_id": ""}, "INVALID_VALUE"),
        ({"asset_id": None}, "INVALID_TYPE"),
        ({"asset_id": "a\x00b"}, "INVALID_VALUE"),
        ({"timestamp": "yesterday"}, "INVALID_TIME"),
        ({"timestamp": 17}, "INVALID_TIME"),
        ({"timestamp": "2026-11-16T12:05:01Z"}, "TIME_IN_FUTURE"),
        ({"timestamp": "2020-01-01T00:00:00Z"}, "TIME_TOO_OLD"),
        ({"event_id": ""}, "INVALID_VALUE"),
        ({"event_id": "x" * 129}, "TOO_LONG"),
        ({"queries": 7}, "UNKNOWN_FIELD"),
    ],
)
def test_a_wrong_value_is_refused(change: dict[str, Any], expected: str) -> None:
    assert code(ITEM | change) == expected


@pytest.mark.parametrize("item", [None, [], "text", 7])
def test_an_item_that_is_no_object_is_refused(item: Any) -> None:
    assert code(item) == "INVALID_TYPE"


def test_the_oldest_day_that_is_kept_is_accepted() -> None:
    oldest = date(2026, 11, 16) - timedelta(days=KEEP_DAYS - 1)
    assert read(ITEM | {"timestamp": f"{oldest}T00:00:00Z"}).day == oldest
    assert code(ITEM | {"timestamp": f"{oldest - timedelta(days=1)}T23:59:59Z"}) == "TIME_TOO_OLD"


def record(value: bytes | None, key: bytes | None = None) -> Record:
    return Record("usage-events", 0, 0, RECEIVED, key, value)


def test_a_record_with_the_key_of_another_asset_is_refused() -> None:
    event = read(ITEM)
    value = orjson.dumps(event.as_cloudevent())
    assert validate_usage_record(record(value, event.key), lambda _: True) == event
    wrong = validate_usage_record(record(value, b"acme/other"), lambda _: True)
    assert isinstance(wrong, Refusal)
    assert wrong.problems[0].code == "KEY_MISMATCH"


@given(st.one_of(st.binary(max_size=60), st.builds(orjson.dumps, st.dictionaries(st.text(), st.text(), max_size=4))))
def test_any_bytes_become_a_refusal_and_never_an_error(value: bytes) -> None:
    assert isinstance(validate_usage_record(record(value, b"acme/x"), lambda _: True), Refusal)
