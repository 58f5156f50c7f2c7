"""Every built-in channel keeps the promises of the port."""

import json
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from lily.connect.channels.email import Email
from lily.connect.channels.freshdesk import Freshdesk
from lily.connect.channels.jira import Jira
from lily.connect.channels.slack import Slack
from lily.connect.channels.teams import Teams
from lily.connect.channels.webhook import Webhook
from lily.plugins import CHANNELS, Surroundings, installed
from lily.testing import ChannelSuite
from tests.badserver import BadServer, Reply, bad_server
from tests.channels.conftest import HOST
from tests.channels.story import PLACE
from tests.channels.vendors import freshdesk, jira, slack, teams
from tests.channels.vendors.mail import BUSY, FULL, PASSWORD, USER, Mailbox, mail_server
from tests.webhook_tool import SECRET, verified

BUILT_IN = ["email", "freshdesk", "jira", "kafka", "slack", "teams", "webhook"]


def test_every_built_in_channel_is_installed_and_ready() -> None:
    found = {one.name: one.state for one in installed().plugins(CHANNELS) if one.origin == "lily-metadata"}
    assert found == dict.fromkeys(BUILT_IN, "ready")


class HttpSuite(ChannelSuite):
    """With a server of the vendor, one that is busy, and one that refuses."""

    server: BadServer
    vendor: Any

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with bad_server() as self.server, bad_server() as self.busy, bad_server() as self.refusing:
            self.server.responder = self.vendor = self.new_vendor()
            self.busy.will(Reply(503))
            self.refusing.will(Reply(403))
            yield

    def new_vendor(self) -> Any:
        raise NotImplementedError

    def configured(self, url: str) -> Mapping[str, Any]:
        raise NotImplementedError

    def surroundings(self) -> Surroundings:
        return PLACE

    def settings(self) -> Mapping[str, Any]:
        return self.configured(self.server.url)

    def destination(self) -> str:
        return ""

    def unavailable(self) -> tuple[Mapping[str, Any], str]:
        return self.configured(self.busy.url), self.destination()

    def rejecting(self) -> tuple[Mapping[str, Any], str]:
        return self.configured(self.refusing.url), self.destination()


class TestSlack(HttpSuite):
    plugin = Slack

    def new_vendor(self) -> slack.Slack:
        return slack.Slack()

    def configured(self, url: str) -> Mapping[str, Any]:
        return {"destinations": {"#alerts": f"{url}{slack.TARGET}"}, "signing_secret": "s1gning-secret"}

    def received(self) -> Sequence[str]:
        return [json.dumps(one) for one in self.vendor.messages]


class TestTeams(HttpSuite):
    plugin = Teams

    def new_vendor(self) -> teams.Teams:
        return teams.Teams()

    def configured(self, url: str) -> Mapping[str, Any]:
        return {"destinations": {"alerts": f"{url}{teams.TARGET}?{teams.QUERY}"}}

    def received(self) -> Sequence[str]:
        return [json.dumps(one) for one in self.vendor.cards]


class TestWebhook(HttpSuite):
    plugin = Webhook

    def new_vendor(self) -> Any:
        return lambda _asked: Reply(204, b"")

    def configured(self, url: str) -> Mapping[str, Any]:
        return {"destinations": {"ops": f"{url}/hooks/t0ken"}, "secrets": [SECRET]}

    def received(self) -> Sequence[str]:
        return [json.dumps(verified(one)) for one in self.server.asked]


class TestJira(HttpSuite):
    plugin = Jira

    def new_vendor(self) -> jira.Jira:
        return jira.Jira()

    def configured(self, url: str) -> Mapping[str, Any]:
        return {"site": url, "email": jira.EMAIL, "token": jira.TOKEN}

    def destination(self) -> str:
        return "OPS"

    def received(self) -> Sequence[str]:
        return [json.dumps(one.fields) for one in self.vendor.issues.values()]


class TestFreshdesk(HttpSuite):
    plugin = Freshdesk

    def new_vendor(self) -> freshdesk.Freshdesk:
        return freshdesk.Freshdesk()

    def configured(self, url: str) -> Mapping[str, Any]:
        return {"site": url, "key": freshdesk.KEY}

    def destination(self) -> str:
        return "data-team@acme.example"

    def received(self) -> Sequence[str]:
        return [json.dumps(one) for one in self.vendor.tickets.values()]


class TestEmail(ChannelSuite):
    plugin = Email
    mailbox: Mailbox

    @pytest.fixture(autouse=True)
    def _server(self, trusted: ssl.SSLContext, resolves: Callable[..., None]) -> Iterator[None]:
        resolves(["127.0.0.1"])
        with mail_server(trusted) as self.mailbox:
            yield

    def surroundings(self) -> Surroundings:
        return PLACE

    def settings(self) -> Mapping[str, Any]:
        login = {"user": USER, "password": PASSWORD, "sender": "lily@acme.example"}
        return {"host": HOST, "port": self.mailbox.port, **login}

    def destination(self) -> str:
        return "ann@example.org"

    def received(self) -> Sequence[str]:
        return [one.decode() for one in self.mailbox.mails]

    def unavailable(self) -> tuple[Mapping[str, Any], str]:
        return self.settings(), BUSY

    def rejecting(self) -> tuple[Mapping[str, Any], str]:
        return self.settings(), FULL
