"""Messages are posted to the address that was checked; what comes back is bounded."""

import socket
import ssl
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Protocol

import pytest

from lily.outbound import ForbiddenAddress, Guard, Poster, Unreachable, endpoint, responses
from lily.outbound import posting as module
from tests.badserver import BadServer, Reply, bad_server, cut, drop, hanging
from tests.certificates import server_context

LOOPBACK = [ip_network("127.0.0.0/8")]


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as found:
        found.will(Reply())
        yield found


class Making(Protocol):
    def __call__(self, url: str, seconds: float = 5.0, guard: Guard | None = None) -> Poster: ...


@pytest.fixture
def poster() -> Iterator[Making]:
    made: list[Poster] = []

    def make(url: str, seconds: float = 5.0, guard: Guard | None = None) -> Poster:
        made.append(Poster(endpoint(url), guard or Guard(LOOPBACK), seconds))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_body_arrives_with_its_headers_and_the_connection_is_kept(server: BadServer, poster: Making) -> None:
    one = poster(f"{server.url}/hook?key=7")
    assert [one.post(b"{}", {"webhook-id": str(number)}).status for number in range(3)] == [200, 200, 200]
    assert [(asked.method, asked.path, asked.params, asked.body) for asked in server.asked] == [
        ("POST", "/hook", {"key": "7"}, b"{}")
    ] * 3
    assert [asked.headers["webhook-id"] for asked in server.asked] == ["0", "1", "2"]


def test_a_redirect_is_not_followed(server: BadServer, poster: Making) -> None:
    server.will(Reply(307, headers={"Location": f"{server.url}/elsewhere"}))
    assert poster(server.url).post(b"{}", {}).status == 307
    assert len(server.asked) == 1


def test_a_name_that_resolves_elsewhere_later_is_refused_when_it_is_connected_to(server: BadServer) -> None:
    """DNS rebinding: the first answer is public, the next ones lead inside."""
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    guard = Guard(resolver=lambda _host, _port: answers.pop(0))
    to = endpoint(server.url.replace("http", "https").replace("127.0.0.1", "tool.example.org"))
    assert guard.addresses(to)
    with pytest.raises(ForbiddenAddress):
        Poster(to, guard, 5).post(b"{}", {})
    assert not server.asked


def test_a_name_is_resolved_once_and_the_connection_goes_to_that_address(server: BadServer, poster: Making) -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    guard = Guard(LOOPBACK, resolver=lambda _host, _port: answers.pop(0))
    one = poster(server.url.replace("127.0.0.1", "tool.example.org"), guard=guard)
    assert one.post(b"{}", {}).status == 200
    assert server.asked[0].headers["host"].startswith("tool.example.org:")
    assert answers == [["10.0.0.1"]]


def test_after_a_while_the_name_is_resolved_and_checked_again(
    server: BadServer, monkeypatch: pytest.MonkeyPatch, poster: Making
) -> None:
    monkeypatch.setattr(module, "KEEP_SECONDS", -1.0)
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    guard = Guard(LOOPBACK, resolver=lambda _host, _port: answers.pop(0))
    one = poster(server.url.replace("127.0.0.1", "tool.example.org"), guard=guard)
    assert one.post(b"{}", {}).status == 200
    with pytest.raises(ForbiddenAddress):
        one.post(b"{}", {})


def test_a_connection_that_was_closed_is_opened_again(server: BadServer, poster: Making) -> None:
    one = poster(server.url)
    server.will(Reply(), drop, Reply())
    assert one.post(b"1", {}).status == 200
    assert one.post(b"2", {}).status == 200
    assert [asked.body for asked in server.asked] == [b"1", b"2", b"2"]


def test_no_response_is_reported(server: BadServer, poster: Making) -> None:
    server.will(drop)
    with pytest.raises(Unreachable, match="did not respond"):
        poster(server.url).post(b"{}", {})


def test_a_response_that_breaks_off_has_its_status_and_ends_the_connection(server: BadServer, poster: Making) -> None:
    server.will(cut, Reply(204, b""))
    one = poster(server.url)
    assert [one.post(b"1", {}).status, one.post(b"2", {}).status] == [200, 204]
    assert [asked.body for asked in server.asked] == [b"1", b"2"]


def test_a_long_response_is_not_read_to_its_end(server: BadServer, poster: Making) -> None:
    server.will(Reply(500, b"x" * (10 << 20)), Reply(200, b"again"))
    one = poster(server.url)
    first = one.post(b"{}", {})
    assert (first.status, len(first.excerpt)) == (500, responses.EXCERPT)
    assert one.post(b"{}", {}).excerpt == "again"


def test_an_excerpt_has_no_control_characters(server: BadServer, poster: Making) -> None:
    server.will(Reply(500, b"a\r\n\x1b[31mb\xff\x00"))
    assert poster(server.url).post(b"{}", {}).excerpt.isprintable()


def test_a_response_that_drips_ends_at_the_deadline(server: BadServer, poster: Making) -> None:
    """Each byte arrives within the socket's timeout, so only the deadline ends it."""
    with hanging(drips=True) as action:
        server.will(action)
        with pytest.raises(Unreachable):
            poster(server.url, seconds=0.5).post(b"{}", {})


def test_nobody_listening_is_reported(poster: Making) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/token-in-the-path"
    with pytest.raises(Unreachable) as refused:
        poster(url).post(b"{}", {})
    assert "token-in-the-path" not in str(refused.value)


class TestEncryption:
    """The connection goes to an address, and the certificate has to be that of the name."""

    HOST = "tool.example.org"

    @pytest.fixture
    def tool(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BadServer]:
        context, certificate = server_context(tmp_path, self.HOST)
        trusting = ssl.create_default_context(cadata=certificate.decode())
        monkeypatch.setattr(module, "tls", lambda: trusting)
        with bad_server(context) as found:
            found.will(Reply())
            yield found

    @staticmethod
    def sent(poster: Making, tool: BadServer, host: str) -> int:
        guard = Guard(LOOPBACK, resolver=lambda _host, _port: ["127.0.0.1"])
        return poster(tool.url.replace("127.0.0.1", host), guard=guard).post(b"{}", {}).status

    def test_a_certificate_of_the_name_is_accepted(self, tool: BadServer, poster: Making) -> None:
        assert self.sent(poster, tool, self.HOST) == 200
        assert len(tool.asked) == 1

    def test_a_certificate_of_another_name_is_refused(self, tool: BadServer, poster: Making) -> None:
        with pytest.raises(Unreachable, match="certificate"):
            self.sent(poster, tool, "other.example.org")
        assert not tool.asked

    def test_a_certificate_that_nobody_vouches_for_is_refused(
        self, tool: BadServer, poster: Making, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "tls", ssl.create_default_context)
        with pytest.raises(Unreachable, match="certificate"):
            self.sent(poster, tool, self.HOST)
        assert not tool.asked
