"""One server per vendor, and certificates that this machine trusts for the length of a test."""

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lily.outbound import connections, guard
from tests.badserver import BadServer, Responder, bad_server
from tests.certificates import server_context

HOST = "receiver.example.org"
Serving = Callable[[Responder], BadServer]


@pytest.fixture
def serving() -> Iterator[Serving]:
    """Starts a server for a vendor."""
    with bad_server() as server:

        def serve(responder: Responder) -> BadServer:
            server.responder = responder
            return server

        yield serve


@pytest.fixture
def resolves(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets every name resolve to these addresses, one list per resolution; the last one stays."""

    def resolve(*answers: list[str]) -> None:
        left = list(answers)
        monkeypatch.setattr(guard, "resolved", lambda _host, _port: left.pop(0) if len(left) > 1 else left[0])

    return resolve


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """The context of a server that is called HOST, whose certificate the machine trusts."""
    context, certificate = server_context(tmp_path, HOST)
    (tmp_path / "trusted.pem").write_bytes(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    connections.tls.cache_clear()
    yield context
    connections.tls.cache_clear()
