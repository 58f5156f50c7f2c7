"""The channel `kafka`: a plain consumer of a real Kafka finds every notification in a topic of the tenant's own."""

import json
import socket
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from standardwebhooks import Webhook as StandardWebhook

from lily.connect.channels.kafka import Kafka, writer
from lily.connect.channels.kafka.channel import PREFIX
from lily.model.errors import Terminal, Transient
from lily.outbound.topic_names import topic_name
from lily.outbound.topics import servers
from lily.plugins import Notification, Surroundings
from lily.testing import ChannelSuite
from tests.channels import story
from tests.channels.golden_files import matches
from tests.channels.story import INCIDENT, OPENED, PLACE, changed
from tests.kafka_reading import Record, records
from tests.shared_stack import Stack
from tests.webhook_tool import OTHER_SECRET, SECRET


@pytest.fixture
def place(stack: Stack) -> Surroundings:
    brokers = stack.kafka.brokers
    options = brokers.security.for_librdkafka()
    tenant = f"t-{uuid.uuid4().hex}"
    return replace(PLACE, tenant=tenant, kafka_bootstrap=brokers.bootstrap, kafka_options=options)


def sent(place: Surroundings, notification: Notification, destination: str = "alerts", **settings: Any) -> str:
    return story.delivered(Kafka, settings, notification, destination, place)


def written(place: Surroundings, destination: str = "alerts") -> list[Record]:
    return records(servers(place), f"{PREFIX}.{place.tenant}.{destination}")


def test_a_consumer_verifies_what_it_finds_and_each_incident_is_in_order(place: Surroundings) -> None:
    places = [
        sent(place, one, secrets=[SECRET, OTHER_SECRET], partitions=3)
        for one in (OPENED, changed("acknowledged", ""), changed("resolved", "", "n-3"))
    ]
    found = written(place)
    assert [one.key for one in found] == [INCIDENT] * 3
    for record in found:
        assert record.value is not None
        assert StandardWebhook(SECRET).verify(record.value, record.headers)
        assert StandardWebhook(OTHER_SECRET).verify(record.value, record.headers)
    topic = f"{PREFIX}.{place.tenant}.alerts"
    assert [one.rpartition("@")[2] for one in places] == ["0", "1", "2"]
    assert all(one.startswith(f"{topic}-") for one in places)
    assert [json.loads(one.value or b"")["data"]["details"]["state"] for one in found] == [
        "open",
        "acknowledged",
        "resolved",
    ]


def test_the_record_is_what_the_golden_file_has(place: Surroundings) -> None:
    sent(place, OPENED)
    (record,) = written(place)
    headers = {name: value for name, value in record.headers.items() if name != "webhook-timestamp"}
    matches("kafka", {"key": record.key, "headers": headers, "value": json.loads(record.value or b"")})


def test_tenants_and_destinations_have_topics_of_their_own(place: Surroundings) -> None:
    other = replace(place, tenant=f"{place.tenant}.alerts")
    sent(place, OPENED)
    sent(place, OPENED, "sales eu")
    sent(other, OPENED)
    assert [len(written(place)), len(written(place, "sales_20eu"))] == [1, 1]
    assert topic_name(PREFIX, other.tenant, "alerts") != topic_name(PREFIX, place.tenant, "alerts.alerts")


def test_a_tenant_can_create_few_partitions(place: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any name of a destination is a topic, and all tenants share the brokers."""
    monkeypatch.setattr(writer, "MAX_PARTITIONS", 5)
    sent(place, OPENED, "first", partitions=3)
    sent(place, OPENED, "second", partitions=2)
    with pytest.raises(Terminal, match="5 of at most 5 partitions"):
        sent(place, OPENED, "third")
    sent(place, OPENED, "second")
    sent(replace(place, tenant=f"{place.tenant}-2"), OPENED, "first")


def test_a_message_that_is_too_large_is_not_tried_again(place: Surroundings) -> None:
    with pytest.raises(Terminal, match="shorten the message"):
        sent(place, replace(OPENED, text="x" * (2 << 20)))
    assert written(place) == []


def test_brokers_that_do_not_respond_are_worth_another_attempt(
    place: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "PATIENCE_SECONDS", 1.0)
    with pytest.raises(Transient, match="tried again"):
        sent(replace(place, kafka_bootstrap=nobody()), OPENED)


def test_a_channel_that_knows_no_kafka_says_so(place: Surroundings) -> None:
    with pytest.raises(Terminal, match="LILY_KAFKA_BOOTSTRAP"):
        sent(replace(place, kafka_bootstrap=""), OPENED)


def nobody() -> str:
    """An address at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


class TestKafkaSuite(ChannelSuite):
    plugin = Kafka

    @pytest.fixture(autouse=True)
    def _topic(self, place: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place, self.patch = place, monkeypatch

    def surroundings(self) -> Surroundings:
        return self.place

    def settings(self) -> Mapping[str, Any]:
        return {"secrets": [SECRET]}

    def destination(self) -> str:
        return "suite"

    def received(self) -> Sequence[str]:
        return [f"{one.headers} {(one.value or b'').decode()}" for one in written(self.place, "suite")]

    def unavailable(self) -> tuple[Mapping[str, Any], str]:
        self.patch.setattr(writer, "PATIENCE_SECONDS", 1.0)
        self.place = replace(self.place, kafka_bootstrap=nobody())
        return self.settings(), self.destination()

    def rejecting(self) -> tuple[Mapping[str, Any], str]:
        return self.settings(), "x" * 101
