"""Requests of an event loop go to the address that was checked, on connections that are kept; what comes back is
bounded, and is never taken for the response of another request."""

import asyncio
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_network

import pytest
import uvloop

from lily.outbound import Caller, ForbiddenAddress, Guard, Request, Response, Unreachable, calling, endpoint, responses
from tests.badserver import Action, BadServer, Reply, bad_server, cut, drop, hanging

LOOPBACK = [ip_network("127.0.0.0/8")]
POST = Request("POST", "/hook", b"{}", {"webhook-id": "7"})


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as found:
        found.will(Reply())
        yield found


def called(server: BadServer, *requests: Request, guard: Guard | None = None, seconds: float = 5.0) -> list[Response]:
    """One after the other."""
    host = "127.0.0.1" if guard is None else "tool.example.org"
    to = endpoint(server.url.replace("127.0.0.1", host))

    async def run() -> list[Response]:
        caller = Caller(guard or Guard(LOOPBACK), seconds, connections=2)
        try:
            return [await caller.call(to, one) for one in requests]
        finally:
            await caller.close()

    return uvloop.run(run())


def raw(*lines: bytes, ends: bool = True) -> Action:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"\r\n".join(lines))
        handler.close_connection = ends

    return respond


def resolving(*answers: list[str]) -> Guard:
    left = list(answers)
    return Guard(LOOPBACK, resolver=lambda _host, _port: left.pop(0))


def test_requests_share_a_connection_and_its_address(server: BadServer) -> None:
    found = called(server, *[POST] * 3, guard=resolving(["127.0.0.1"]))
    assert [one.status for one in found] == [200] * 3
    assert [(one.method, one.path, one.body, one.headers["webhook-id"]) for one in server.asked] == [
        ("POST", "/hook", b"{}", "7")
    ] * 3
    assert server.asked[0].headers["host"].startswith("tool.example.org:")


def test_a_name_that_leads_inside_later_is_refused(server: BadServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "KEEP_SECONDS", -1.0)
    with pytest.raises(ForbiddenAddress):
        called(server, POST, POST, guard=resolving(["127.0.0.1"], ["10.0.0.1"]))
    assert len(server.asked) == 1


def test_a_connection_that_was_closed_is_opened_again(server: BadServer) -> None:
    server.will(Reply(), drop, Reply())
    assert [one.status for one in called(server, POST, POST)] == [200, 200]
    assert len(server.asked) == 3


def test_a_request_that_must_not_come_twice_is_sent_once(server: BadServer) -> None:
    server.will(Reply(), drop, Reply())
    once = POST._replace(once=True)
    with pytest.raises(Unreachable):
        called(server, POST, once)
    assert len(server.asked) == 2


def test_a_response_that_breaks_off_has_its_status_and_ends_the_connection(server: BadServer) -> None:
    server.will(cut, Reply(204, b""))
    assert [one.status for one in called(server, POST, POST)] == [200, 204]


def test_a_response_without_a_length_ends_with_the_connection(server: BadServer) -> None:
    server.will(raw(b"HTTP/1.1 500 No", b"Retry-After: 7", b"", b"sorry"), Reply(204, b""))
    first, second = called(server, POST, POST)
    assert (first, second.status) == (Response(500, b"sorry", 7.0), 204)


def test_an_interim_response_is_not_the_response(server: BadServer) -> None:
    lines = (b"HTTP/1.1 100 Continue", b"", b"HTTP/1.1 201 Made", b"Content-Length: 2", b"", b"ok")
    server.will(raw(*lines, ends=False))
    assert [(one.status, one.body) for one in called(server, POST, POST)] == [(201, b"ok")] * 2


def test_more_than_one_response_is_never_taken_for_the_next(server: BadServer) -> None:
    twice = (b"HTTP/1.1 204 None", b"", b"HTTP/1.1 200 Forged", b"Content-Length: 0", b"", b"")
    server.will(raw(*twice, ends=False), Reply(503))
    assert [one.status for one in called(server, POST, POST)] == [204, 503]


def test_a_long_response_is_not_read_to_its_end(server: BadServer) -> None:
    chunks = b"HTTP/1.1 500 Long\r\nTransfer-Encoding: chunked\r\n\r\n" + b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    server.will(raw(chunks + (b"8000\r\n" + b"x" * 0x8000 + b"\r\n") * 20), Reply(200, b"again"))
    first, second = called(server, POST, POST)
    assert (first.status, len(first.body), second.body) == (500, responses.MAX_RESPONSE, b"again")


@pytest.mark.parametrize("reply", [raw(b"SSH-2.0-x", b""), raw(b"HTTP/1.1 200 Ok", b"x: " + b"y" * (1 << 20)), drop])
def test_what_is_not_a_response_is_reported_and_not_shown(server: BadServer, reply: Action) -> None:
    server.will(reply)
    with pytest.raises(Unreachable, match="did not respond") as refused:
        called(server, POST)
    assert not {"SSH", "yyy", "/hook"} & set(str(refused.value).split())


def test_a_response_that_drips_ends_at_the_deadline(server: BadServer) -> None:
    with hanging(drips=True) as action:
        server.will(action)
        with pytest.raises(Unreachable, match="TimeoutError"):
            called(server, POST, seconds=0.5)


@pytest.mark.parametrize(
    "request_",
    [POST._replace(target="/a b"), POST._replace(target="/a\r\nx: y"), POST._replace(headers={"x": "a\r\nb: c"})],
)
def test_nothing_can_be_hidden_in_a_request(server: BadServer, request_: Request) -> None:
    with pytest.raises(ValueError, match="control characters"):
        called(server, request_)
    assert not server.asked


def test_several_event_loops_can_use_a_caller(server: BadServer) -> None:
    caller = Caller(Guard(LOOPBACK), 5.0, connections=1)
    with asyncio.Runner() as first, asyncio.Runner() as second:
        for runner in (first, second, first):
            assert [one.status for one in runner.run(_at_once(caller, server))] == [200] * 4
        first.run(caller.close())
        second.run(asyncio.sleep(0))


async def _at_once(caller: Caller, server: BadServer) -> list[Response]:
    return await asyncio.gather(*(caller.call(endpoint(server.url), POST) for _ in range(4)))
