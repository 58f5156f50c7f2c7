"""The webhook: signed messages to a real HTTP server, verified by the library of the standard."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any

import pytest
from pydantic import ValidationError
from standardwebhooks.webhooks import WebhookVerificationError

from lily.connect.enforcers.messages import MAX_BYTES
from lily.connect.enforcers.webhook import Webhook, WebhookConfig, delivery
from lily.model.errors import Transient
from lily.outbound import ForbiddenAddress, checked_secret, guard
from lily.plugins import Decision, Surroundings, TargetGone
from lily.testing import OutboundEnforcerSuite
from tests.badserver import BadServer, Reply, bad_server
from tests.webhook_tool import OTHER_SECRET, SECRET, known_tables, verified

SINCE = datetime(2026, 3, 1, tzinfo=UTC)
PLACE = Surroundings("acme", "tool", SINCE, (ip_network("127.0.0.0/8"),))
ORDERS, REPORT = ("shop", "orders"), ("shop", "report")
TABLE = Decision("shop.orders", ORDERS, ("ann", "hr"), "allow", kinds=("user", "group"), version=7)
MASKED = Decision(
    "shop.orders.email",
    ORDERS,
    ("ann",),
    "mask",
    "email",
    "show-last-4",
    tags=("pii",),
    kinds=("user",),
    column_type="text",
    version=7,
)
DENIED = Decision("shop.report", REPORT, ("ann",), "deny", kinds=("user",), version=8)


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as found:
        found.will(Reply(204, b""))
        yield found


def webhook(url: str, *secrets: str, place: Surroundings = PLACE, **more: Any) -> Webhook:
    made = Webhook(WebhookConfig.model_validate({"url": url, "secrets": list(secrets) or [SECRET], **more}))
    made.situate(place)
    return made


def sent(one: Webhook, *decisions: Decision) -> list[Any]:
    return list(one.apply(one.plan(decisions)))


def test_a_table_is_one_signed_message_with_all_that_is_decided(server: BadServer) -> None:
    assert sent(webhook(f"{server.url}/hook"), TABLE, MASKED) == []
    (asked,) = server.asked
    assert (asked.path, asked.headers["content-type"]) == ("/hook", "application/json")
    message = verified(asked)
    assert message == {
        "type": "table.decided",
        "timestamp": "1970-01-01T00:00:00.000007Z",
        "data": {
            "id": message["data"]["id"],
            "format": 1,
            "tenant": "acme",
            "target": "tool",
            "version": 7,
            "table": {"asset": "shop.orders", "path": ["shop", "orders"]},
            "decisions": [
                {"effect": "allow", "principals": [{"user": "ann"}, {"group": "hr"}], "row_filters": [], "tags": []},
                {
                    "effect": "mask",
                    "principals": [{"user": "ann"}],
                    "columns": [{"name": "email", "asset": "shop.orders.email", "type": "text"}],
                    "mask": "show-last-4",
                    "row_filters": [],
                    "tags": ["pii"],
                },
            ],
            "otherwise": "deny",
        },
    }


def test_a_repeated_message_has_the_same_id_and_a_newer_one_another(server: BadServer) -> None:
    one = webhook(server.url)
    for version in (7, 7, 9):
        sent(one, replace(TABLE, version=version))
    first, again, newer = (asked.headers["webhook-id"] for asked in server.asked)
    assert first == again != newer


def test_the_id_differs_by_tenant_and_target(server: BadServer) -> None:
    for place in (PLACE, replace(PLACE, tenant="other"), replace(PLACE, target="other")):
        sent(webhook(server.url, place=place), TABLE)
    assert len({asked.headers["webhook-id"] for asked in server.asked}) == 3


def test_while_a_secret_rotates_both_verify(server: BadServer) -> None:
    sent(webhook(server.url, OTHER_SECRET, SECRET), TABLE)
    assert verified(server.asked[0], SECRET) == verified(server.asked[0], OTHER_SECRET)
    sent(webhook(server.url, OTHER_SECRET), TABLE)
    with pytest.raises(WebhookVerificationError):
        verified(server.asked[1], SECRET)


@pytest.mark.parametrize(
    ("status", "transient"),
    [(500, True), (503, True), (429, True), (404, False), (300, False), (302, False), (401, False)],
)
def test_anything_but_2xx_confirms_nothing(server: BadServer, status: int, *, transient: bool) -> None:
    server.will(Reply(status, b"why", {"Location": f"{server.url}/elsewhere"}))
    (failure,) = sent(webhook(server.url), TABLE)
    assert (failure.table, failure.transient) == (ORDERS, transient)
    assert str(status) in failure.error
    assert len(server.asked) == 1


def test_after_500_it_is_sent_again_with_the_same_id(server: BadServer) -> None:
    server.will(Reply(500), Reply(200))
    one = webhook(server.url)
    assert len(sent(one, TABLE)) == 1
    assert sent(one, TABLE) == []
    assert len({asked.headers["webhook-id"] for asked in server.asked}) == 1


def test_one_table_that_fails_does_not_keep_the_others(server: BadServer) -> None:
    server.will(Reply(500), Reply(200))
    failures = sent(webhook(server.url, connections=1), TABLE, DENIED)
    assert [one.table for one in failures] == [ORDERS]
    assert [verified(asked)["data"]["table"]["asset"] for asked in server.asked] == ["shop.orders", "shop.report"]


def test_a_receiver_that_fails_again_and_again_is_left_alone_until_the_next_run(server: BadServer) -> None:
    server.will(Reply(500))
    many = [replace(TABLE, table=("shop", f"t{number:03}")) for number in range(200)]
    failures = sent(webhook(server.url, connections=4), *many)
    assert len(failures) == 200
    assert len(server.asked) == 4 * delivery.FAILURES_IN_A_ROW
    assert delivery.LATER in {one.error for one in failures}


def test_one_that_fails_now_and_then_gets_all(server: BadServer) -> None:
    server.will(*[Reply(500), Reply(204, b"")] * 4)
    tables = [replace(DENIED, table=("shop", f"t{number}")) for number in range(8)]
    failures = sent(webhook(server.url, connections=1), *tables)
    assert len(server.asked) == 8
    assert [one.table[1] for one in failures] == ["t0", "t2", "t4", "t6"]


def test_410_stops_the_target(server: BadServer) -> None:
    server.will(Reply(410))
    with pytest.raises(TargetGone, match="apply"):
        sent(webhook(server.url), TABLE, DENIED)
    with pytest.raises(TargetGone):
        webhook(server.url).remove()


def test_removing_is_a_message_that_is_the_same_if_it_is_repeated(server: BadServer) -> None:
    server.will(Reply(500), Reply(200))
    one = webhook(server.url)
    with pytest.raises(Transient, match="500"):
        one.remove()
    one.remove()
    first, again = (verified(asked) for asked in server.asked)
    assert first == again
    assert (first["type"], first["data"]["target"]) == ("target.removed", "tool")


def test_5000_columns_are_one_message(server: BadServer) -> None:
    columns = [replace(MASKED, column=f"column_{n}", asset=f"shop.orders.column_{n}") for n in range(5_000)]
    assert sent(webhook(server.url), TABLE, *columns) == []
    (asked,) = server.asked
    assert len(asked.body) < MAX_BYTES // 4
    assert len(verified(asked)["data"]["decisions"][1]["columns"]) == 5_000


def test_a_message_that_is_too_large_is_not_sent_and_the_others_are(server: BadServer) -> None:
    people = tuple(f"{'x' * 200}{number}" for number in range(30_000))
    failures = sent(webhook(server.url), replace(TABLE, principals=people, kinds=()), DENIED)
    assert [(one.table, one.transient) for one in failures] == [(ORDERS, False)]
    assert "groups" in failures[0].error
    assert len(server.asked) == 1


def test_the_url_and_the_secrets_are_never_shown(server: BadServer) -> None:
    server.will(Reply(500, b""))
    one = webhook(f"{server.url}/token-of-the-receiver")
    text = f"{one.plan([TABLE])} {sent(one, TABLE)} {one._config!r}"
    assert "token-of-the-receiver" not in text
    assert SECRET not in text
    bad = {"url": "https://example.org/token-of-the-receiver#x", "secrets": ["whsec_tooshort"]}
    with pytest.raises(ValidationError) as refused:
        WebhookConfig.model_validate(bad)
    described = [error["msg"] for error in refused.value.errors()]
    assert "token-of-the-receiver" not in str(described)
    assert "tooshort" not in str(described)


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "secret", "whsec_AAAA", f"whsec_{'A' * 100}", SECRET[6:], f"{SECRET}!"]
)
def test_a_secret_that_is_none_is_refused(secret: str) -> None:
    with pytest.raises(ValidationError):
        WebhookConfig.model_validate({"url": "https://example.org/", "secrets": [secret]})


@pytest.mark.parametrize(("size", "is_secret"), [(23, False), (24, True), (64, True), (65, False)])
def test_a_secret_has_24_to_64_bytes(size: int, *, is_secret: bool) -> None:
    secret = f"whsec_{base64.b64encode(bytes(size)).decode()}"
    with nullcontext() if is_secret else pytest.raises(ValueError, match="24 to 64"):
        assert checked_secret(secret) == secret


def test_a_private_address_is_refused_before_anything_is_sent(server: BadServer) -> None:
    with pytest.raises(ForbiddenAddress):
        webhook(server.url, place=replace(PLACE, allowed_networks=()))
    assert not server.asked


def test_a_name_that_leads_inside_later_is_refused_at_run_time(
    server: BadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    monkeypatch.setattr(guard, "resolved", lambda _host, _port: answers.pop(0))
    one = webhook("https://tool.example.org/", place=replace(PLACE, allowed_networks=()))
    with pytest.raises(ForbiddenAddress):
        sent(one, TABLE)
    assert not server.asked


class TestSuite(OutboundEnforcerSuite):
    plugin = Webhook

    @pytest.fixture(autouse=True)
    def _tool(self, server: BadServer) -> None:
        self.server = server

    def settings(self) -> Mapping[str, Any]:
        return {"url": self.server.url, "secrets": [SECRET]}

    def surroundings(self) -> Surroundings:
        return PLACE

    def decisions(self) -> Sequence[Decision]:
        return [TABLE, MASKED, DENIED]

    def state(self) -> Any:
        return known_tables(self.server.asked)

    def unreachable(self) -> Mapping[str, Any]:
        return {"url": "http://127.0.0.1:9/", "secrets": [SECRET], "seconds": 1}
