"""Whatever the other side does, a delivery ends, says what to do, and shows no secret; nothing leads inside."""

import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from lily.connect.channels.freshdesk import Freshdesk
from lily.connect.channels.http import Vendor
from lily.connect.channels.jira import Jira
from lily.connect.channels.slack import Slack
from lily.connect.channels.teams import Teams
from lily.connect.channels.webhook import Webhook
from lily.model.errors import LilyError, Terminal, Transient
from lily.outbound import ForbiddenAddress, Response
from lily.plugins import situated
from tests.badserver import BadServer, Reply, bad_server, cut, drop, hanging
from tests.channels import story
from tests.channels.conftest import HOST
from tests.channels.story import OPENED, PLACE
from tests.webhook_tool import SECRET

TOKEN = "T0psS3cr3t"
Resolves = Callable[..., None]


@dataclass(frozen=True)
class Case:
    """A channel, how it is configured for a URL, and its destination."""

    plugin: type[Any]
    settings: Callable[[str], dict[str, Any]]
    destination: str = ""

    def sent(self, url: str, seconds: float = 10) -> str:
        return story.delivered(self.plugin, self.settings(url) | {"seconds": seconds}, OPENED, self.destination)


def hooked(**more: Any) -> Callable[[str], dict[str, Any]]:
    return lambda url: {"destinations": {"x": f"{url}/hooks/{TOKEN}"}, **more}


CASES = {
    "slack": Case(Slack, hooked()),
    "teams": Case(Teams, hooked()),
    "webhook": Case(Webhook, hooked(secrets=[SECRET])),
    "jira": Case(Jira, lambda url: {"site": url, "email": "a@b.example", "token": TOKEN}, "OPS"),
    "freshdesk": Case(Freshdesk, lambda url: {"site": url, "key": TOKEN}, "a@b.example"),
}


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as found:
        yield found


def hello(handler: BaseHTTPRequestHandler) -> None:
    """Not HTTP."""
    handler.wfile.write(b"220 mail.example.org ESMTP\r\n")
    handler.close_connection = True


def quoting(handler: BaseHTTPRequestHandler) -> None:
    """Quotes what it got, in a status line that is none."""
    handler.wfile.write(f"{handler.path} {handler.headers['authorization']}\r\n".encode())
    handler.close_connection = True


@pytest.mark.parametrize("action", [drop, hello, Reply(500), Reply(502, b"x" * (10 << 20)), Reply(429)])
def test_what_may_pass_is_worth_another_attempt(case: Case, server: BadServer, action: Any) -> None:
    server.will(action)
    with pytest.raises(Transient, match="tried again"):
        case.sent(server.url)


@pytest.mark.parametrize("action", [Reply(200, b"x" * (10 << 20)), cut, Reply(200, b'{"a":'), Reply(200, b"\xff\x00")])
@pytest.mark.parametrize("name", ["slack", "jira", "freshdesk"])
def test_a_response_that_is_not_the_vendors_confirms_nothing(name: str, server: BadServer, action: Any) -> None:
    server.will(action)
    with pytest.raises(Transient):
        CASES[name].sent(server.url)


def test_a_redirect_is_not_followed(case: Case, server: BadServer) -> None:
    server.will(Reply(302, b"", {"Location": f"{server.url}/inside"}))
    with pytest.raises(Terminal, match="redirect 302"):
        case.sent(server.url)
    assert len(server.asked) == 1


@pytest.mark.parametrize("drips", [False, True], ids=["hangs", "drips"])
def test_a_server_that_does_not_come_to_an_end_is_left_at_the_deadline(
    case: Case, server: BadServer, *, drips: bool
) -> None:
    """Bytes that drip arrive within the timeout of the socket, so only the deadline ends it."""
    with hanging(drips=drips) as action:
        server.will(action)
        with pytest.raises(Transient):
            case.sent(server.url, seconds=0.3)


def test_no_more_than_64_kib_are_read(case: Case, server: BadServer, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    before = Vendor.refusal

    def noted(self: Vendor, response: Response) -> LilyError | None:
        read.append(len(response.body))
        return before(self, response)

    monkeypatch.setattr(Vendor, "refusal", noted)
    server.will(Reply(500, b"x" * (10 << 20)))
    with pytest.raises(Transient):
        case.sent(server.url)
    assert read == [64 << 10]


def test_a_private_address_is_not_connected_to(case: Case, server: BadServer, resolves: Resolves) -> None:
    server.will(Reply(200))
    for addresses in (["10.0.0.5"], ["169.254.169.254"], ["93.184.216.34", "192.168.1.1"]):
        resolves(addresses)
        with pytest.raises(ForbiddenAddress, match="LILY_OUTBOUND__ALLOWED_NETWORKS") as refused:
            case.sent(server.url.replace("http://127.0.0.1", "https://inside.example.org"))
        assert not any(address in str(refused.value) for address in addresses)
    assert not server.asked


def test_a_name_that_leads_inside_after_it_was_checked_is_not_followed(
    case: Case, server: BadServer, resolves: Resolves
) -> None:
    """DNS rebinding: permitted when it is configured, inside when it is called."""
    server.will(Reply(500))
    for permitted in (["93.184.216.34"], ["127.0.0.1"]):
        resolves(permitted, ["10.0.0.5"])
        with pytest.raises(ForbiddenAddress):
            case.sent(server.url.replace("http://127.0.0.1", "https://tool.example.org"))
    assert not server.asked


def test_the_connection_goes_to_the_address_that_was_checked(case: Case, server: BadServer, resolves: Resolves) -> None:
    """Resolved when it is configured and when it is connected to, and not again in between."""
    server.will(Reply(500))
    resolves(["127.0.0.1"], ["127.0.0.1"], ["10.0.0.5"])
    url = server.url.replace("127.0.0.1", "tool.example.org")
    with pytest.raises(Transient):
        case.sent(url)
    assert server.asked[0].headers["host"].startswith("tool.example.org:")
    with pytest.raises(ForbiddenAddress):
        case.sent(url)


def test_a_private_address_is_refused_when_it_is_configured(case: Case, resolves: Resolves) -> None:
    """Before anything is called: the API then refuses the channel."""
    resolves(["10.0.0.5"])
    channel = case.plugin(case.plugin.Config.model_validate(case.settings("https://inside.example.org")))
    with pytest.raises(ForbiddenAddress):
        situated(channel, PLACE)


def test_nothing_is_sent_unencrypted_to_a_public_address(case: Case, resolves: Resolves) -> None:
    resolves(["93.184.216.34"])
    with pytest.raises(ForbiddenAddress, match="not be encrypted"):
        case.sent("http://tool.example.org")


def test_a_certificate_of_another_name_is_refused(case: Case, trusted: ssl.SSLContext, resolves: Resolves) -> None:
    resolves(["127.0.0.1"])
    with bad_server(trusted) as tool:
        tool.will(Reply(500))
        with pytest.raises(Transient, match="certificate"):
            case.sent(tool.url.replace("127.0.0.1", "other.example.org"))
        assert not tool.asked
        with pytest.raises(Transient, match="responds 500"):
            case.sent(tool.url.replace("127.0.0.1", HOST))
        assert len(tool.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 410, 429, 500])
def test_a_server_that_quotes_the_request_publishes_no_secret(case: Case, server: BadServer, status: int) -> None:
    def quote(handler: BaseHTTPRequestHandler) -> None:
        Reply(status, f"{handler.path} {handler.headers['authorization']} {TOKEN}".encode())(handler)

    def quote_at_the_end_of_what_is_shown(handler: BaseHTTPRequestHandler) -> None:
        Reply(status, b"x" * 194 + TOKEN.encode())(handler)

    for action in (quote, quoting, quote_at_the_end_of_what_is_shown):
        server.will(action)
        with pytest.raises(LilyError) as refused:
            case.sent(server.url)
        shown = f"{refused.value!r} {refused.value}"
        assert TOKEN[:6] not in shown
        authorization = server.asked[-1].headers.get("authorization", "Basic none").split()[1]
        assert authorization not in shown


@pytest.mark.parametrize("name", ["slack", "teams"])
def test_a_message_that_may_have_arrived_is_not_repeated_silently(name: str, server: BadServer) -> None:
    """People would see it twice; whether it is tried again is decided, and recorded, by the queue."""
    case = CASES[name]
    server.will(Reply(200, b"ok"), drop, Reply(200, b"ok"))

    async def twice(channel: Any) -> None:
        await channel.deliver(OPENED, case.destination)
        with pytest.raises(Transient):
            await channel.deliver(OPENED, case.destination)

    story.using(case.plugin, case.settings(server.url), twice)
    assert len(server.asked) == 2
