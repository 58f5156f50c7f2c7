"""The behaviour suites pass on the built-in plug-ins, and on the samples of groups that have no built-in one."""

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from lily.connect.connectors.file import File
from lily.connect.transforms.add_tags import AddTags
from lily.connect.transforms.rename import Rename
from lily.intake.jira import Jira
from lily.intake.mapped import Mapped, shipped
from lily.intake.monte_carlo import MonteCarlo
from lily.intake.monte_carlo.signatures import HEADER
from lily.intake.okta import Okta
from lily.intake.openlineage import OpenLineage
from lily.intake.slack import Slack
from lily.model import clock
from lily.plugins import Decision, Delivery, SourceAsset, SourceEdge
from lily.testing import (
    ChannelSuite,
    ConnectorSuite,
    EnforcerSuite,
    Example,
    IntakeSuite,
    OutboundEnforcerSuite,
    TransformSuite,
)
from tests.monte_carlo import ANOMALY, RESOLVED, RULE_IN_EVENT, RULE_IN_PAYLOAD
from tests.okta import delivery, lifecycle, membership
from tests.openlineage_words import NOW
from tests.quality_tools import OLD_VALIDATION, SODA_CHECKS, SODA_INCIDENT, SODA_SCAN, VALIDATION
from tests.sample_plugins.mailbox import Mailbox
from tests.sample_plugins.rules_file import RulesFile
from tests.sample_plugins.tickets import SIGNATURE, Tickets, signature
from tests.sample_plugins.webhook import Receiver, Webhook, receiver
from tests.signing import jira_headers, jira_update, slack_click, slack_headers

INCIDENT = "0190a5b0-7b1e-8c3d-9e4f-0123456789ab"
EMAIL = SourceAsset("column", {"name": "email", "qualified_name": "shop.orders.Email", "parent": "shop.orders"})
ORDERS = SourceAsset("table", {"name": "orders", "qualified_name": "shop.orders", "tags": ["pii"]})
ORDERS_TABLE = ("shop", "orders")
OWN_RULES = (
    '{"own": {"tables": {"shop.orders": ["id", "email"], "shop.report": ["id"]}, "roles": ["analyst", "stranger"]}}'
)
EDGE = SourceEdge("shop.orders", "shop.report", "used-in")


class TestFile(ConnectorSuite):
    plugin = File

    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.directory = tmp_path
        (tmp_path / "a.csv").write_text("entity_type,name,qualified_name\ntable,orders,shop.orders\n")
        lines = [ORDERS.as_body() | {"attributes": {"name": "report", "qualified_name": "shop.report"}}, EDGE.as_body()]
        (tmp_path / "b.ndjson").write_bytes(b"\n".join(map(orjson.dumps, lines)))
        (tmp_path / "README.md").write_text("not a format")

    def settings(self) -> Mapping[str, Any]:
        return {"path": str(self.directory)}

    def unreachable(self) -> Mapping[str, Any]:
        return {"path": str(self.directory / "nowhere")}


class TestAddTags(TransformSuite):
    plugin = AddTags

    def settings(self) -> Mapping[str, Any]:
        return {"match": "shop.*", "tags": ["PII", "Shop"], "entity_types": ["table", "column"]}

    def examples(self) -> Sequence[Example]:
        return [
            Example(EMAIL, [replace(EMAIL, attributes={**EMAIL.attributes, "tags": ["PII", "Shop"]})]),
            Example(ORDERS, [replace(ORDERS, attributes={**ORDERS.attributes, "tags": ["pii", "Shop"]})]),
            Example(replace(EMAIL, entity_type="field"), [replace(EMAIL, entity_type="field")]),
            Example(replace(EMAIL, operation="delete"), [replace(EMAIL, operation="delete")]),
            Example(EDGE, [EDGE]),
        ]


class TestRename(TransformSuite):
    plugin = Rename

    def settings(self) -> Mapping[str, Any]:
        return {"remove_prefix": "shop.", "add_prefix": "eu."}

    def examples(self) -> Sequence[Example]:
        renamed = {"name": "email", "qualified_name": "eu.orders.Email", "parent": "eu.orders"}
        by_id = SourceEdge("0190a5b0-7b1e-8c3d-9e4f-0123456789ab", "other.x")
        return [
            Example(EMAIL, [replace(EMAIL, attributes=renamed)]),
            Example(EDGE, [SourceEdge("eu.orders", "eu.report", "used-in")]),
            Example(by_id, [replace(by_id, target="eu.other.x")]),
        ]


class TestOpenLineage(IntakeSuite):
    plugin = OpenLineage

    def settings(self) -> Mapping[str, Any]:
        return {"namespaces": {"prod": "keep"}}

    def deliveries(self) -> Sequence[Delivery]:
        run = {
            "eventTime": "2026-01-01T00:00:00Z",
            "eventType": "COMPLETE",
            "run": {"runId": "1"},
            "job": {"namespace": "airflow", "name": "daily"},
            "inputs": [{"namespace": "postgres://h:1", "name": "shop.public.orders"}],
            "outputs": [{"namespace": "postgres://h:1", "name": "shop.public.report"}],
        }
        return [Delivery(orjson.dumps(body), {}, NOW) for body in (run, [run, run | {"run": {"runId": "2"}}])]


class TestMonteCarlo(IntakeSuite):
    plugin = MonteCarlo

    def settings(self) -> Mapping[str, Any]:
        return {}

    def deliveries(self) -> Sequence[Delivery]:
        return [Delivery(orjson.dumps(body), {}, NOW) for body in (ANOMALY, RULE_IN_EVENT, RULE_IN_PAYLOAD, RESOLVED)]

    def signed(self, delivery: Delivery, secret: bytes) -> Delivery:
        return replace(delivery, headers={HEADER: hmac.new(secret, delivery.body, "sha512").hexdigest()})


class TestOkta(IntakeSuite):
    plugin = Okta
    signs_the_body = False

    def settings(self) -> Mapping[str, Any]:
        return {}

    def deliveries(self) -> Sequence[Delivery]:
        events = [lifecycle("suspend", "zoe@example.org", NOW), membership("add", "zoe@example.org", "Stewards", NOW)]
        return [Delivery(orjson.dumps(delivery(*events)), {}, NOW)]

    def signed(self, delivery: Delivery, secret: bytes) -> Delivery:
        return replace(delivery, headers={"authorization": secret.decode()})


class TestJira(IntakeSuite):
    plugin = Jira

    def settings(self) -> Mapping[str, Any]:
        return {}

    def deliveries(self) -> Sequence[Delivery]:
        return [Delivery(jira_update(INCIDENT, category), {}, NOW) for category in ("done", "indeterminate")]

    def signed(self, delivery: Delivery, secret: bytes) -> Delivery:
        return replace(delivery, headers=jira_headers(delivery.body, secret.decode()))


class TestSlack(IntakeSuite):
    plugin = Slack

    def settings(self) -> Mapping[str, Any]:
        return {}

    def deliveries(self) -> Sequence[Delivery]:
        return [Delivery(slack_click(INCIDENT), {}, NOW)]

    def signed(self, delivery: Delivery, secret: bytes) -> Delivery:
        at = clock.parse(delivery.received).timestamp()
        return replace(delivery, headers=slack_headers(delivery.body, secret.decode(), at))


class TestGreatExpectations(IntakeSuite):
    plugin = Mapped

    def settings(self) -> Mapping[str, Any]:
        return shipped()["great-expectations"].mapping.as_dict()

    def deliveries(self) -> Sequence[Delivery]:
        return [Delivery(orjson.dumps(body), {}, NOW) for body in (VALIDATION, OLD_VALIDATION)]

    def signed(self, delivery: Delivery, secret: bytes) -> Delivery:
        digest = hmac.new(secret, delivery.body, "sha256").hexdigest()
        return replace(delivery, headers={"x-lily-signature": f"sha256={digest}"})


class TestSoda(IntakeSuite):
    plugin = Mapped
    signs_the_body = False

    def settings(self) -> Mapping[str, Any]:
        return shipped()["soda"].mapping.as_dict()

    def deliveries(self) -> Sequence[Delivery]:
        return [Delivery(orjson.dumps(body), {}, NOW) for body in (SODA_SCAN, SODA_CHECKS, SODA_INCIDENT)]

    def signed(self, delivery: Delivery, secret: bytes) -> Delivery:
        return replace(delivery, headers={"authorization": f"Bearer {secret.decode()}"})


class TestTickets(IntakeSuite):
    plugin = Tickets

    def settings(self) -> Mapping[str, Any]:
        return {}

    def deliveries(self) -> Sequence[Delivery]:
        return [Delivery(b'{"table": "shop.orders", "owner": "ann"}', {}, NOW)]

    def signed(self, delivery: Delivery, secret: bytes) -> Delivery:
        return replace(delivery, headers={SIGNATURE: signature(delivery.body, secret)})


class TestWebhook(ChannelSuite):
    plugin = Webhook
    receiver: Receiver

    @pytest.fixture(autouse=True)
    def _receiver(self) -> Iterator[None]:
        with receiver() as self.receiver:
            yield

    def settings(self) -> Mapping[str, Any]:
        return {"seconds": 10, "token": "s3cret-of-the-sample"}

    def destination(self) -> str:
        return f"{self.receiver.url}/ok"

    def received(self) -> Sequence[str]:
        return self.receiver.messages

    def unavailable(self) -> tuple[Mapping[str, Any], str]:
        return self.settings(), f"{self.receiver.url}/busy"

    def rejecting(self) -> tuple[Mapping[str, Any], str]:
        return self.settings(), f"{self.receiver.url}/gone"


class TestRulesFile(EnforcerSuite):
    plugin = RulesFile

    @pytest.fixture(autouse=True)
    def _target(self, tmp_path: Path) -> None:
        self.path = tmp_path / "rules.json"
        self.path.write_text(OWN_RULES)

    def settings(self) -> Mapping[str, Any]:
        return {"path": str(self.path)}

    def decisions(self) -> Sequence[Decision]:
        return [
            Decision("shop.orders.email", ORDERS_TABLE, ("analyst",), "mask", "email", "show-last-4", tags=("PII",)),
            Decision("shop.report", ("shop", "report"), ("stranger", "analyst"), "deny"),
        ]

    def state(self) -> Any:
        return json.loads(self.path.read_text())

    def tamper(self) -> None:
        document = self.state()
        document["lily"].popitem()
        self.path.write_text(json.dumps(document))

    def unreachable(self) -> Mapping[str, Any]:
        return {"path": str(self.path.parent / "nowhere" / "rules.json")}


class TestMailbox(OutboundEnforcerSuite):
    plugin = Mailbox

    @pytest.fixture(autouse=True)
    def _target(self, tmp_path: Path) -> None:
        self.path = tmp_path

    def settings(self) -> Mapping[str, Any]:
        return {"path": str(self.path)}

    def decisions(self) -> Sequence[Decision]:
        masked = Decision("shop.orders.email", ORDERS_TABLE, ("analyst",), "mask", "email", "show-last-4", version=1)
        return [masked, Decision("shop.report", ("shop", "report"), ("stranger", "analyst"), "deny", version=1)]

    def state(self) -> Any:
        return {file.name: file.read_text() for file in self.path.iterdir()}

    def unreachable(self) -> Mapping[str, Any]:
        return {"path": str(self.path / "nowhere")}
