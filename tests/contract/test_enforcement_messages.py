"""Tools that take messages: a webhook on a real HTTP server, and a topic that a plain Kafka consumer reads."""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined] # it imports these, and its types do not export them
    AdminClient,
    ConfigResource,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic
from standardwebhooks import Webhook as StandardWebhook

from lily.brokers import Brokers
from lily.connect.enforcers.topic import Topic, contents, log
from lily.connect.enforcers.topic.names import topic_name
from lily.plugins import Decision, Surroundings
from lily.testing import OutboundEnforcerSuite
from tests.badserver import BadServer, Reply
from tests.contract.access import create, policy
from tests.contract.door import Door, client, codes
from tests.contract.shop import shop_door
from tests.kafka_reading import Record, records
from tests.shared_stack import Stack
from tests.webhook_tool import SECRET, accepting_tool, known_tables, verified

pytestmark = pytest.mark.campaign  # it waits for targets again and again

PATIENCE_SECONDS = 90.0
CUSTOMERS = "shop.public.customers"


@pytest.fixture
def tool() -> Iterator[BadServer]:
    with accepting_tool() as found:
        yield found


@pytest.fixture
def door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    """Analysts read the shop, with personal data masked."""
    with shop_door(stack, make_tenant) as made:
        made.ingest(CUSTOMERS, data_source="shop")
        made.ingest("crm.people", data_source="crm")
        masked = policy({"role": "analyst"}, {"tag": "PII"}, "mask", mask="replace-with-null", name="mask")
        create(made, "/policies", masked)
        yield made


def add(door: Door, type_: str, **config: Any) -> None:
    body = {"name": "Tool", "type": type_, "data_source": "shop", "config": {"secrets": [SECRET], **config}}
    create(door, "/enforcement-targets", body)


def webhook_to(url: str) -> dict[str, Any]:
    return {"name": "Tool", "type": "webhook", "config": {"url": url, "secrets": [SECRET]}}


def eventually(look: Callable[[], Any], expected: Any) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := look()) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def effects(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[str]]:
    return {name: [one["effect"] for one in decisions] for name, decisions in tables.items()}


def state(door: Door) -> str:
    return str(door.http.get("/enforcement-targets/tool").json().get("state"))


class TestWebhook:
    def test_a_tag_on_an_upstream_table_arrives_and_its_receipt_is_confirmed(self, door: Door, tool: BadServer) -> None:
        add(door, "webhook", url=f"{tool.url}/hook")
        eventually(lambda: effects(known_tables(tool.asked)), {CUSTOMERS: ["allow"]})
        edge = {"from": "crm.people", "to": CUSTOMERS, "relationship_type": "derived-from"}
        assert door.http.post("/lineage", json={"edges": [edge]}).status_code in {200, 202}
        assert door.http.post("/metadata/crm.people/tags", json={"tag": "PII"}).status_code in {200, 202}
        eventually(lambda: effects(known_tables(tool.asked)), {CUSTOMERS: ["mask"]})
        receipts = {"asset": CUSTOMERS, "tag": "pii"}
        eventually(
            lambda: [one["state"] for one in door.http.get("/enforcements", params=receipts).json()["items"]],
            ["confirmed"],
        )
        assert {verified(asked)["data"]["tenant"] for asked in tool.asked} == {door.tenant}

        assert door.http.delete("/enforcement-targets/tool").status_code == 202
        eventually(lambda: door.http.get("/enforcement-targets/tool").status_code, 404)
        assert known_tables(tool.asked) == {}

    def test_one_that_refuses_is_tried_again_and_410_stops_it(self, door: Door, tool: BadServer) -> None:
        tool.will(Reply(500), Reply(410))
        add(door, "webhook", url=tool.url)
        eventually(lambda: state(door), "stopped")
        assert len({asked.headers["webhook-id"] for asked in tool.asked}) == 1
        tool.will(Reply(200))
        assert door.http.post("/enforcement-targets/tool/apply").status_code == 202
        eventually(lambda: state(door), "in line")

    @pytest.mark.parametrize(
        "url",
        [
            "https://10.0.0.1/hook",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/hook",
            "https://[::ffff:192.168.0.1]/hook",
            "https://0xa9fea9fe/",
            "http://93.184.216.34/hook",
        ],
    )
    def test_a_url_into_a_private_network_is_refused_when_it_is_added(self, door: Door, url: str) -> None:
        answer = door.http.post("/enforcement-targets", json=webhook_to(url))
        assert (answer.status_code, codes(answer)) == (422, {"FORBIDDEN_ADDRESS"})
        assert SECRET not in answer.text

    @pytest.mark.parametrize("url", ["https://ann:swordfish@example.org/", "file:///swordfish", "https://a/#swordfish"])
    def test_a_url_that_is_none_is_refused_and_not_shown(self, door: Door, url: str) -> None:
        answer = door.http.post("/enforcement-targets", json=webhook_to(url))
        assert (answer.status_code, codes(answer)) == (400, {"INVALID_TARGET"})
        assert "swordfish" not in answer.text
        assert SECRET not in answer.text

    def test_the_url_and_the_secret_are_never_shown(self, door: Door, tool: BadServer) -> None:
        tool.will(Reply(500))
        add(door, "webhook", url=f"{tool.url}/token-of-the-receiver")
        eventually(lambda: state(door), "failing")
        assert door.http.post("/enforcement-targets/tool/plan").status_code == 200
        shown = door.http.get("/enforcement-targets/tool").text
        assert "token-of-the-receiver" not in shown
        assert SECRET not in shown


class Reading:
    """What a plain consumer finds: the newest value of each key, and every record."""

    def __init__(self, kafka: Mapping[str, Any], topic: str) -> None:
        self._kafka, self._topic = kafka, topic

    def records(self) -> list[Record]:
        return records(self._kafka, self._topic)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        newest = {key: value for key, value, _ in self.records()}
        return {key: json.loads(value)["data"]["decisions"] for key, value in newest.items() if value is not None}


class TestTopic:
    def test_a_plain_consumer_finds_the_newest_decisions_of_every_table(
        self, door: Door, make_tenant: Callable[[], tuple[str, str]]
    ) -> None:
        other, token = make_tenant()
        with client(door.stack, token) as http:
            Door(door.stack, other, token, http).ingest("shop.public.secret", data_source="shop")
        reading = Reading(door.stack.kafka.client, f"lily-enforcement.{door.tenant}.tool")
        add(door, "topic")
        eventually(lambda: effects(reading.tables()), {CUSTOMERS: ["allow"]})
        door.change("POST", f"/metadata/{CUSTOMERS}/tags", {"tag": "PII"})
        eventually(lambda: effects(reading.tables()), {CUSTOMERS: ["mask"]})
        for _, value, headers in reading.records():
            assert value is not None
            message = StandardWebhook(SECRET).verify(value, headers)
            assert (message["data"]["id"], message["data"]["tenant"]) == (headers["webhook-id"], door.tenant)
            assert b"secret" not in value

        assert door.http.delete(f"/metadata/{CUSTOMERS}").status_code in {200, 202}
        eventually(reading.tables, {})
        assert door.http.delete("/enforcement-targets/tool").status_code == 202
        eventually(lambda: door.http.get("/enforcement-targets/tool").status_code, 404)

    def test_it_is_compacted_also_if_it_was_there_before(self, stack: Stack) -> None:
        name = f"lily-enforcement.t.{uuid.uuid4()}"
        admin = AdminClient(stack.kafka.client)
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(timeout=30)
        for _ in range(2):
            log.CompactedTopic(stack.kafka.client, name).ensure(1, 1)
        resource = ConfigResource(ResourceType.TOPIC, name)
        eventually(lambda: admin.describe_configs([resource])[resource].result()["cleanup.policy"].value, "compact")


class TestTopicSuite(OutboundEnforcerSuite):
    plugin = Topic

    @pytest.fixture(autouse=True)
    def _topic(self, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kafka, self.name, self.patch = stack.kafka.brokers, uuid.uuid4().hex, monkeypatch

    def settings(self) -> Mapping[str, Any]:
        return {"secrets": [SECRET], "partitions": 2}

    def surroundings(self) -> Surroundings:
        since = datetime(2026, 1, 1, tzinfo=UTC)
        options = self.kafka.security.for_librdkafka()
        return Surroundings("acme", self.name, since, kafka_bootstrap=self.kafka.bootstrap, kafka_options=options)

    def decisions(self) -> Sequence[Decision]:
        orders = Decision("shop.orders", ("shop", "orders"), ("ann",), "mask", "email", "show-last-4", version=1)
        return [orders, Decision("shop.report", ("shop", "report"), ("ann",), "deny", version=1)]

    def state(self) -> Any:
        return Reading(self.kafka.client(), topic_name("acme", self.name)).tables()

    def unreachable(self) -> Mapping[str, Any]:
        for module in (log, contents):
            self.patch.setattr(module, "PATIENCE_SECONDS", 1.0)
        self.kafka = Brokers("127.0.0.1:9")
        return self.settings()
