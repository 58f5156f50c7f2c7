"""`POST /usage` and `GET /metadata/{id}/usage`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from confluent_kafka import Producer

from lily.bus import topics
from lily.model import ids
from tests.contract.door import WAIT, Door, codes
from tests.contract.test_dead_letters import letters

ORDERS = "shop.public.orders"


def now() -> datetime:
    """Such that nothing that a test reports lies in the future or on another day."""
    return max(datetime.now(UTC) - timedelta(seconds=5), datetime.now(UTC).replace(hour=0, minute=0, second=0))


def used(queries: int, **more: Any) -> dict[str, Any]:
    return {"asset_id": ORDERS, "query_count": queries, **more}


def report(door: Door, *events: Any) -> dict[str, Any]:
    answer = door.http.post("/usage", json={"events": list(events)}, headers=WAIT)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def counts(door: Door, days: int = 3) -> list[int]:
    answer = door.http.get(f"/metadata/{ORDERS}/usage", params={"days": days})
    assert answer.status_code == 200, answer.text
    return [item["query_count"] for item in answer.json()["items"]]


def test_usage_is_counted_in_its_own_day_and_can_be_read_when_the_write_returns(door: Door) -> None:
    door.ingest(ORDERS)
    asset_id = ids.asset_id(door.tenant, ORDERS)
    earlier = (now() - timedelta(days=1)).isoformat()
    tally = report(door, used(5), used(7, timestamp=earlier), used(2, asset_id=asset_id, timestamp=now().isoformat()))
    assert tally == {"accepted": 3, "rejected": 0, "errors": []}
    assert counts(door) == [0, 7, 7]
    answer = door.http.get(f"/metadata/{ORDERS}/usage").json()
    assert (answer["metadata_id"], len(answer["items"])) == (asset_id, 30)
    assert answer["items"][-1]["day"] == str(now().date())


def test_an_event_with_an_id_counts_once(door: Door) -> None:
    door.ingest(ORDERS)
    for _ in range(2):
        report(door, used(5, event_id="hour-1"), used(3, event_id="hour-2"))
    assert counts(door, 1) == [8]


def test_each_event_is_accepted_or_refused_by_itself(door: Door) -> None:
    door.ingest(ORDERS)
    future = (now() + timedelta(hours=1)).isoformat()
    tally = report(door, used(5), used(-1), "text", used(1, timestamp=future), used(1, extra=1), used(2))
    assert (tally["accepted"], tally["rejected"]) == (2, 4)
    assert [(error["row"], error["code"]) for error in tally["errors"]] == [
        (2, "INVALID_VALUE"),
        (3, "INVALID_TYPE"),
        (4, "TIME_IN_FUTURE"),
        (5, "UNKNOWN_FIELD"),
    ]
    assert counts(door, 1) == [7]


@pytest.mark.parametrize("body", [{}, {"events": []}, {"events": {}}, {"events": [{}] * 10_001}, [], {"event": [1]}])
def test_a_body_that_is_no_list_of_events_is_refused(door: Door, body: Any) -> None:
    answer = door.http.post("/usage", json=body)
    assert answer.status_code == 400
    assert codes(answer)


def test_usage_of_an_asset_that_nobody_has_described_yet_is_kept_until_it_is(door: Door) -> None:
    report(door, used(5))
    assert door.http.get(f"/metadata/{ORDERS}/usage").status_code == 404
    door.ingest(ORDERS)
    assert counts(door, 1) == [5]


@pytest.mark.parametrize("days", ["0", "401", "many"])
def test_a_number_of_days_that_is_not_kept_is_refused(door: Door, days: str) -> None:
    door.ingest(ORDERS)
    assert door.http.get(f"/metadata/{ORDERS}/usage", params={"days": days}).status_code == 400


def test_a_producer_may_write_to_the_topic_and_what_is_wrong_becomes_a_dead_letter(door: Door) -> None:
    door.ingest(ORDERS)
    asset_id = ids.asset_id(door.tenant, ORDERS)
    key = f"{door.tenant}/{asset_id}".encode()
    envelope = {
        "specversion": "1.0",
        "source": "/warehouse",
        "type": "lily.usage.reported",
        "time": now().isoformat(),
        "tenantid": door.tenant,
    }
    producer = Producer({**door.stack.kafka.client, "partitioner": "murmur2_random"})
    for number, queries in enumerate((4, "many")):
        data = {"asset_id": asset_id, "query_count": queries}
        producer.produce(topics.USAGE, orjson.dumps({**envelope, "id": f"w{number}", "data": data}), key)
    assert producer.flush(30) == 0
    (letter,) = letters(door, 1)
    assert (letter["topic"], letter["errors"][0]["code"]) == (topics.USAGE, "INVALID_VALUE")
    assert counts(door, 1) == [4], "both records are of one partition, and the first was counted before"
