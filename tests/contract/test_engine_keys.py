"""Keys in the path, for engines that cannot send a header: they open one thing only, and no log ever has them."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from lily.store.postgres.access.administration import create_token
from tests.contract.door import codes
from tests.extra_api import extra_api, until
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it starts processes of the API

Make = Callable[[], tuple[str, str]]


@dataclass(frozen=True)
class Engine:
    """An engine's way to an API whose log and traces the test can read."""

    stack: Stack
    tenant: str
    key: str
    admin: str
    log: Path
    traces: list[bytes]

    def get(self, path: str, key: str | None = None) -> httpx.Response:
        return httpx.get(f"{self.stack.url}/enforce/probe/k/{key or self.key}/{path}", timeout=30)


@pytest.fixture(scope="module")
def traces() -> Iterator[tuple[str, list[bytes]]]:
    """A collector of traces: its address, and all that it was sent."""
    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", bodies
        server.shutdown()


@pytest.fixture(scope="module")
def engine(
    stack: Stack, make_tenant: Make, traces: tuple[str, list[bytes]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    tenant, admin = make_tenant()
    key = create_token(stack.database, tenant, ["enforce:read"], user="trino")
    log = tmp_path_factory.mktemp("engine") / "api.log"
    command = ("-m", "tests.contract.engine_api")
    settings = {"LILY_OTLP_ENDPOINT": traces[0], "OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_EXPORTER_OTLP_COMPRESSION": ""}
    with extra_api(stack, log, command, **settings) as seen:
        yield Engine(seen, tenant, key, admin, log, traces[1])


def test_a_key_identifies_the_tenant_and_is_hidden_from_the_route(engine: Engine) -> None:
    answer = engine.get("allow")
    assert answer.status_code == 200
    assert answer.json() == {"tenant": engine.tenant, "path": "/enforce/probe/k/~/allow", "parameters": {"key": "~"}}


def test_only_a_key_with_the_single_scope_is_accepted(engine: Engine) -> None:
    wider = create_token(engine.stack.database, engine.tenant, ["enforce:read", "metadata:read"])
    other = create_token(engine.stack.database, engine.tenant, ["metadata:read"])
    for token in (wider, other, engine.admin):
        refused = engine.get("allow", token)
        assert (refused.status_code, codes(refused)) == (403, {"FORBIDDEN"})
        assert "enforce:read" in refused.text
        assert token not in refused.text


@pytest.mark.parametrize("key", ["lily_forged", "~", "a.b.c", "%2F", "x" * 4000])
def test_what_is_no_key_is_refused(engine: Engine, key: str) -> None:
    refused = engine.get("allow", key)
    assert (refused.status_code, codes(refused)) == (401, {"UNAUTHENTICATED"})


def test_a_key_in_the_path_opens_nothing_else(engine: Engine) -> None:
    headers = {"Authorization": f"Bearer {engine.key}"}
    refused = httpx.get(f"{engine.stack.url}/metadata", headers=headers, timeout=30)
    assert (refused.status_code, codes(refused)) == (403, {"FORBIDDEN"})
    assert "metadata:read" in refused.text
    missing = engine.get("write")
    assert missing.status_code == 403
    assert missing.json()["errors"][0]["description"] == "this call needs the scope policy:write"


def test_no_log_trace_metric_or_error_contains_a_key(engine: Engine) -> None:
    quoted = engine.key.replace("_", "%5F")
    responses = [engine.get(path) for path in ("allow", "write", "fail", "no/such/route", "allow?unknown=1", "")]
    responses += [engine.get("fail", quoted), engine.get("allow/", quoted)]
    responses.append(httpx.post(f"{engine.stack.url}/enforce/probe/k/{engine.key}/allow", timeout=30))
    assert {500, 404, 403, 400, 405} <= {response.status_code for response in responses}
    with pytest.raises(InvalidStatus):
        connect(f"ws{engine.stack.url.removeprefix('http')}/enforce/probe/k/{engine.key}/allow", open_timeout=30)
    metrics = httpx.get(f"{engine.stack.url}/metrics", headers={"Authorization": f"Bearer {engine.admin}"}, timeout=30)
    until(lambda: b"/enforce/probe/k/{key}/fail" in b"".join(engine.traces), 30)
    places = [*(response.text for response in responses), metrics.text, engine.log.read_text()]
    places.append(b"".join(engine.traces).decode(errors="replace"))
    assert "/enforce/probe/k/{key}/fail" in metrics.text
    assert "RuntimeError" in engine.log.read_text()
    secret = engine.key.removeprefix("lily_")
    assert [place for place in places if secret in place] == []
