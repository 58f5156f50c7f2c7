"""The feed of changes: what breaks is connected again, and goes on where it was."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from lily.client import AsyncLily, Lily, LilyApiError, NotAuthenticated, Refused, Retry, Unavailable, Unexpected
from tests.threads import in_thread

QUICK = Retry(attempts=4, seconds=20, first_pause=0.001, longest_pause=0.01)
Script = Callable[[ServerConnection], None]
Follow = Callable[..., list[str]]


@dataclass
class Feed:
    """One script a connection; the last one stays. `asked` holds the query of each."""

    scripts: list[Script] = field(default_factory=list)
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    url: str = ""
    denial: Callable[[], Response] | None = None
    handshakes: int = 0

    def handle(self, connection: ServerConnection) -> None:
        request = connection.request
        assert request is not None
        self.asked.append(parse_qs(urlsplit(request.path).query))
        self.tokens.append(request.headers["Authorization"])
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        script(connection)

    def admit(self, _connection: ServerConnection, _request: Request) -> Response | None:
        self.handshakes += 1
        return self.denial() if self.denial else None

    def greet(self, _connection: ServerConnection, _request: Request, answer: Response) -> Response:
        answer.headers["Lily-Position"] = f"p{len(self.asked) * 100}"
        return answer


@pytest.fixture
def feed() -> Iterator[Feed]:
    with running(Feed()) as running_feed:
        yield running_feed


@contextmanager
def running(feed: Feed) -> Iterator[Feed]:
    with serve(feed.handle, "127.0.0.1", 0, process_request=feed.admit, process_response=feed.greet) as server:
        feed.url = f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        with in_thread(server.serve_forever, server.shutdown):
            yield feed


@pytest.fixture(params=["sync", "async"])
def follow(request: pytest.FixtureRequest, feed: Feed) -> Follow:
    """The names of the first changes that a client of either kind hears."""

    def with_sync(number: int, since: str | None = None, tag: str | None = None) -> list[str]:
        with Lily(feed.url, "secret", retry=QUICK) as lily, lily.notifications(since, tag=tag) as changes:
            return [next(changes).change for _ in range(number)]

    async def with_async(number: int, since: str | None = None, tag: str | None = None) -> list[str]:
        async with (
            AsyncLily(feed.url, "secret", retry=QUICK) as lily,
            lily.notifications(since, tag=tag) as changes,
        ):
            return [(await anext(changes)).change for _ in range(number)]

    return with_sync if request.param == "sync" else lambda *args, **named: asyncio.run(with_async(*args, **named))


def message(change: str, position: str) -> bytes:
    about = {"type": "update", "metadata_id": "1", "entity_type": "table", "timestamp": "2026-11-15T08:00:00.000000Z"}
    return orjson.dumps({**about, "change": change, "position": position, "a_field_of_tomorrow": 1})


def tells(*changes: tuple[str, str], close: tuple[int, str] = (1000, "")) -> Script:
    def script(connection: ServerConnection) -> None:
        for change, position in changes:
            connection.send(message(change, position).decode())
        connection.close(*close)

    return script


def vanishes(connection: ServerConnection) -> None:
    """The server dies: no farewell."""
    connection.socket.close()


def stays(connection: ServerConnection) -> None:
    """Says nothing, until the other side leaves."""
    for _ in connection:
        pass


def test_the_filters_the_position_and_the_token_are_sent(feed: Feed, follow: Follow) -> None:
    feed.scripts = [tells(("created", "p1"))]
    assert follow(1, since="p0", tag="PII") == ["created"]
    assert feed.asked == [{"since": ["p0"], "tag": ["PII"]}]
    assert feed.tokens == ["Bearer secret"]


@pytest.mark.parametrize("close", [(1000, ""), (1012, "restart"), (1013, "too slow")])
def test_a_feed_that_breaks_is_resumed_after_the_last_message_heard(
    feed: Feed, follow: Follow, close: tuple[int, str]
) -> None:
    feed.scripts = [tells(("created", "p1"), ("updated", "p2"), close=close), tells(("tagged", "p3"))]
    assert follow(3) == ["created", "updated", "tagged"]
    assert feed.asked == [{}, {"since": ["p2"]}]


def test_a_feed_that_breaks_before_its_first_message_misses_nothing(feed: Feed, follow: Follow) -> None:
    feed.scripts = [tells(), tells(("created", "p3"))]
    assert follow(1) == ["created"]
    assert feed.asked[1] == {"since": ["p0"]}, "the position of the first handshake"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_that_dies_is_waited_for(feed: Feed, follow: Follow) -> None:
    feed.scripts = [vanishes, vanishes, tells(("created", "p1"))]
    assert follow(1) == ["created"]


def test_a_server_that_stays_away_is_given_up_on(feed: Feed, follow: Follow) -> None:
    feed.scripts = [tells()]
    with pytest.raises(Unavailable):
        follow(1)
    assert len(feed.asked) == QUICK.attempts


def test_a_feed_that_breaks_time_and_again_goes_on_as_long_as_messages_arrive(feed: Feed, follow: Follow) -> None:
    times = 2 * QUICK.attempts
    feed.scripts = [tells(("updated", f"p{number}")) for number in range(times)]
    assert follow(times) == ["updated"] * times


def test_a_lost_position_or_a_revoked_token_is_not_tried_again(feed: Feed, follow: Follow) -> None:
    feed.scripts = [tells(close=(1008, "the token has expired or was revoked"))]
    with pytest.raises(Refused, match="revoked"):
        follow(1)
    assert len(feed.asked) == 1


@pytest.mark.parametrize(("status", "kind"), [(401, NotAuthenticated), (400, Refused), (503, Unavailable)])
def test_a_refused_handshake_raises_what_the_server_said(
    feed: Feed, follow: Follow, status: int, kind: type[LilyApiError]
) -> None:
    body = orjson.dumps({"errors": [{"code": "SOME_CODE", "description": "what to do", "entity": ""}]})
    headers = {"Content-Length": str(len(body)), "Connection": "close"}
    feed.denial = lambda: Response(status, HTTPStatus(status).phrase, Headers(headers), body)
    with pytest.raises(kind, match="SOME_CODE: what to do"):
        follow(1)
    assert feed.handshakes == (QUICK.attempts if kind is Unavailable else 1)


def test_a_message_that_is_none_of_lilys_is_unexpected(feed: Feed, follow: Follow) -> None:
    def babble(connection: ServerConnection) -> None:
        connection.send("no json")
        connection.close()

    feed.scripts = [babble]
    with pytest.raises(Unexpected):
        follow(1)


def test_a_caller_may_wait_for_a_while_only(feed: Feed) -> None:
    feed.scripts = [stays]
    with Lily(feed.url, "secret", retry=QUICK) as lily, lily.notifications() as changes:
        assert changes.receive(timeout=0.05) is None
        assert changes.position == "p0"
