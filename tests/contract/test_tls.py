"""The API with TLS: REST, WebSocket and gRPC with a certificate, and with one of the client too."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx
import pytest

from lily.client import Lily, Refused, Tls, Unavailable
from lily.client.retry import NEVER
from lily.embedded.probes import http_ready, https_ready, tls_responds
from tests.certificates import Authority
from tests.extra_api import extra_api, until
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it starts processes of the API


@dataclass(frozen=True)
class Served:
    stack: Stack
    ca: Path
    client: tuple[Path, Path]

    @property
    def port(self) -> int:
        return int(self.stack.url.rpartition(":")[2])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tls")
    authority = Authority()
    (directory / "ca.pem").write_bytes(authority.certificate)
    authority.issue().saved(directory, "server")
    authority.issue("client").saved(directory, "client")
    Authority("stranger").issue("client").saved(directory, "stranger")
    return directory


@pytest.fixture(scope="module")
def served(stack: Stack, files: Path) -> Iterator[Served]:
    settings = {"LILY_TLS__CERTIFICATE": str(files / "server.pem"), "LILY_TLS__KEY": str(files / "server.key")}
    with extra_api(stack, files / "api.log", **settings) as api:
        yield Served(api, files / "ca.pem", (files / "client.pem", files / "client.key"))


@pytest.fixture(scope="module")
def mutual(stack: Stack, files: Path) -> Iterator[Served]:
    settings = {
        "LILY_TLS__CERTIFICATE": str(files / "server.pem"),
        "LILY_TLS__KEY": str(files / "server.key"),
        "LILY_TLS__CLIENT_CA": str(files / "ca.pem"),
    }
    with extra_api(stack, files / "mutual.log", **settings) as api:
        yield Served(api, files / "ca.pem", (files / "client.pem", files / "client.key"))


def lily(served: Served, tls: Tls | None) -> Lily:
    return Lily(served.stack.url, served.stack.token, retry=NEVER, tls=tls)


def test_calls_and_the_feed_of_changes_go_over_tls(served: Served) -> None:
    name = "tls.public.orders"
    with lily(served, Tls(ca=served.ca)) as client, client.notifications() as feed:
        client.ingest("table", {"name": "orders", "qualified_name": name}, wait=30)
        asset = client.get(name)
        while (change := feed.receive(60)) is not None and change.metadata_id != asset.metadata_id:
            pass
        assert change is not None


def test_a_certificate_that_is_not_trusted_is_an_error_that_names_the_remedy(served: Served, files: Path) -> None:
    with lily(served, None) as client, pytest.raises(Refused, match=r"not trusted.*LILY_CA"):
        client.get("x")
    with lily(served, None) as client, pytest.raises(Refused, match="LILY_CA"):
        client.notifications().receive(30)
    with lily(served, Tls(ca=files / "stranger.pem")) as client, pytest.raises(Refused, match="not trusted"):
        client.get("x")


def test_without_tls_there_is_no_response(served: Served) -> None:
    with pytest.raises(httpx.TransportError):
        httpx.get(served.stack.url.replace("https", "http") + "/health/live", timeout=10)


def test_the_server_itself_may_be_what_is_trusted(served: Served, files: Path) -> None:
    with lily(served, Tls(ca=files / "server.pem")) as client:
        assert client.health().ready


def test_grpc_is_served_with_the_same_certificate(served: Served) -> None:
    assert connected(served, grpc.ssl_channel_credentials(served.ca.read_bytes()))
    assert not connected(served, grpc.ssl_channel_credentials(Authority().certificate))


def connected(served: Served, credentials: grpc.ChannelCredentials) -> bool:
    with grpc.secure_channel(served.stack.grpc, credentials) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=5)
        except grpc.FutureTimeoutError:
            return False
        return True


def test_the_command_line_takes_an_https_address_and_a_ca(served: Served) -> None:
    access = {"LILY_URL": served.stack.url, "LILY_TOKEN": served.stack.token, "LILY_CA": str(served.ca)}
    command = [sys.executable, "-m", "lily", "webhooks", "list", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **access})
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)


def test_with_mutual_tls_a_client_needs_a_certificate_of_the_right_authority(mutual: Served, files: Path) -> None:
    certificate, key = mutual.client
    with lily(mutual, Tls(mutual.ca, certificate, key)) as client:
        assert client.health().ready
    for tls in (Tls(mutual.ca), Tls(mutual.ca, files / "stranger.pem", files / "stranger.key")):
        with lily(mutual, tls) as client, pytest.raises((Refused, Unavailable)):
            client.health()
    own = grpc.ssl_channel_credentials(mutual.ca.read_bytes(), key.read_bytes(), certificate.read_bytes())
    assert connected(mutual, own)
    assert not connected(mutual, grpc.ssl_channel_credentials(mutual.ca.read_bytes()))


def test_the_supervisors_probe_needs_no_certificate(served: Served, mutual: Served) -> None:
    until(lambda: https_ready(served.port))
    assert tls_responds(mutual.port)
    assert not https_ready(mutual.port)
    assert not http_ready(served.port)
