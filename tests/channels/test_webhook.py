"""A receiver verifies each message with the standard's own library, also while a secret is replaced."""

import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from standardwebhooks.webhooks import WebhookVerificationError

from lily.connect.channels.webhook import Webhook, WebhookConfig
from lily.model.errors import Terminal, Transient
from lily.plugins import DestinationGone, Notification
from tests.badserver import BadServer, Reply, bad_server, drop
from tests.certificates import self_signed
from tests.channels import story
from tests.channels.conftest import HOST
from tests.channels.golden_files import matches, recorded
from tests.channels.story import OPENED, changed
from tests.webhook_tool import OTHER_SECRET, SECRET, verified


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as found:
        found.will(Reply(204, b""))
        yield found


def settings(url: str, **more: Any) -> dict[str, Any]:
    return {"destinations": {"ops": f"{url}/hooks/t0ken"}, "secrets": [SECRET], **more}


def sent(server: BadServer, notification: Notification, **more: Any) -> str:
    return story.delivered(Webhook, settings(server.url, **more), notification, "ops")


def test_the_story_of_an_incident_is_what_the_golden_file_has(server: BadServer) -> None:
    for notification in (OPENED, changed("resolved", "whatever it was")):
        assert sent(server, notification) == ""
    for asked in server.asked:
        verified(asked)
    matches("webhook", recorded(server.asked))


def test_both_secrets_verify_while_one_is_replaced(server: BadServer) -> None:
    sent(server, OPENED, secrets=[SECRET, OTHER_SECRET])
    assert verified(server.asked[0], SECRET) == verified(server.asked[0], OTHER_SECRET)
    sent(server, OPENED)
    with pytest.raises(WebhookVerificationError):
        verified(server.asked[1], OTHER_SECRET)


def test_a_body_that_was_changed_is_not_verified(server: BadServer) -> None:
    sent(server, OPENED)
    asked = server.asked[0]
    with pytest.raises(WebhookVerificationError):
        verified(replace(asked, body=asked.body.replace(b"critical", b"info")))


def test_a_repeat_has_the_same_id_and_body(server: BadServer) -> None:
    for _ in range(2):
        sent(server, OPENED)
    first, second = server.asked
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)


def test_a_connection_that_was_closed_is_opened_again(server: BadServer) -> None:
    server.will(Reply(204, b""), drop, Reply(204, b""))

    async def twice(channel: Any) -> None:
        for notification in (OPENED, changed("resolved", "")):
            await channel.deliver(notification, "ops")

    story.using(Webhook, settings(server.url, connections=1), twice)
    assert [one.headers["webhook-id"] for one in server.asked] == ["n-1", "n-2", "n-2"]


def test_destinations_on_other_hosts_have_connections_of_their_own(server: BadServer) -> None:
    with bad_server() as other:
        other.will(Reply(204, b""))

        async def in_turns(channel: Any) -> None:
            for name in ("here", "there", "here"):
                await channel.deliver(OPENED, name)

        both = {"destinations": {"here": f"{server.url}/x", "there": f"{other.url}/y"}, "secrets": [SECRET]}
        story.using(Webhook, both | {"connections": 1}, in_turns)
        assert ([one.path for one in server.asked], [one.path for one in other.asked]) == (["/x", "/x"], ["/y"])


def test_data_of_any_kind_is_passed_on(server: BadServer) -> None:
    sent(server, replace(OPENED, data={"count": 3, "path": Path("x"), "none": None}, text="\ud800!"))
    message = verified(server.asked[0])
    assert message["data"]["details"] == {"count": 3, "none": None, "path": "x"}
    assert message["data"]["text"] == "?!"


def test_410_disables_the_destination(server: BadServer) -> None:
    server.will(Reply(410, b"no more"))
    with pytest.raises(DestinationGone, match="enable the destination again"):
        sent(server, OPENED)


@pytest.mark.parametrize(
    ("status", "kind", "remedy"),
    [
        (400, Terminal, "replay the dead letter"),
        (401, Terminal, "signature"),
        (404, Terminal, "correct it in the channel"),
        (307, Terminal, "redirect 307, which is not followed"),
        (408, Transient, "tried again"),
        (503, Transient, "tried again"),
    ],
)
def test_what_a_receiver_responds_is_reported_with_a_remedy(
    server: BadServer, status: int, kind: type[Exception], remedy: str
) -> None:
    server.will(Reply(status, f"{SECRET} /hooks/t0ken".encode(), {"Location": f"{server.url}/x"}))
    with pytest.raises(kind, match=remedy) as refused:
        sent(server, OPENED)
    assert len(server.asked) == 1
    assert SECRET not in str(refused.value)
    assert "t0ken" not in str(refused.value)


@pytest.mark.parametrize(
    ("header", "pause"),
    [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("1e9", 3600.0), ("nan", None), ("soon", None), ("", None)],
)
def test_a_pause_is_passed_on_within_reason(server: BadServer, header: str, pause: float | None) -> None:
    server.will(Reply(429, b"", {"Retry-After": header}))
    with pytest.raises(Transient) as refused:
        sent(server, OPENED)
    assert refused.value.retry_after == pause


def test_a_pause_can_be_a_date(server: BadServer) -> None:
    server.will(Reply(503, b"", {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}))
    with pytest.raises(Transient) as refused:
        sent(server, OPENED)
    assert refused.value.retry_after == 3600.0
    server.will(Reply(503, b"", {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}))
    with pytest.raises(Transient) as refused:
        sent(server, OPENED)
    assert refused.value.retry_after == 0.0


class TestMutualTls:
    """The receiver requires a certificate of the client, and knows one."""

    @pytest.fixture
    def identity(self) -> dict[str, str]:
        key, certificate = self_signed("lily.acme.example")
        return {"certificate": certificate.decode(), "key": key.decode()}

    @pytest.fixture
    def tool(
        self, trusted: ssl.SSLContext, identity: dict[str, str], resolves: Callable[..., None]
    ) -> Iterator[BadServer]:
        resolves(["127.0.0.1"])
        trusted.verify_mode = ssl.CERT_REQUIRED
        trusted.load_verify_locations(cadata=identity["certificate"])
        with bad_server(trusted) as found:
            found.will(Reply(204, b""))
            yield found

    @staticmethod
    def url(tool: BadServer) -> str:
        return tool.url.replace("127.0.0.1", HOST)

    def test_the_client_presents_its_certificate(self, tool: BadServer, identity: dict[str, str]) -> None:
        story.delivered(Webhook, settings(self.url(tool), **identity), OPENED, "ops")
        assert len(tool.asked) == 1

    def test_without_or_with_another_one_nothing_arrives(self, tool: BadServer) -> None:
        key, certificate = self_signed("lily.acme.example")
        other = {"certificate": certificate.decode(), "key": key.decode()}
        for more in ({}, other):
            with pytest.raises(Transient):
                story.delivered(Webhook, settings(self.url(tool), **more), OPENED, "ops")
        assert not tool.asked

    def test_the_name_of_the_receiver_is_verified_all_the_same(self, tool: BadServer, identity: dict[str, str]) -> None:
        url = tool.url.replace("127.0.0.1", "other.example.org")
        with pytest.raises(Transient, match="certificate"):
            story.delivered(Webhook, settings(url, **identity), OPENED, "ops")
        assert not tool.asked

    def test_a_certificate_needs_its_key(self, identity: dict[str, str]) -> None:
        key, _ = self_signed("lily.acme.example")
        for wrong in ({"key": ""}, {"key": key.decode()}, {"certificate": "x"}, {"certificate": ""}):
            with pytest.raises(ValidationError) as refused:
                WebhookConfig.model_validate(settings("https://tool.example.org", **identity | wrong))
            assert "PRIVATE KEY" not in str(refused.value)


@pytest.mark.parametrize("secret", ["whsec_", "plain", "whsec_c2hvcnQ="])
def test_a_secret_that_the_standard_does_not_know_is_refused(secret: str) -> None:
    with pytest.raises(ValidationError):
        WebhookConfig.model_validate(settings("https://tool.example.org", secrets=[secret]))
