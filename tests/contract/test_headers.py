"""What protects a connection and a response, on the running API."""

import socket
from urllib.parse import urlsplit

import pytest

from tests.contract.door import Door


@pytest.mark.parametrize(
    "path", ["/metadata", "/metadata/{id}", "/metadata/none", "/dead-letters", "/metrics", "/nowhere"]
)
def test_a_response_is_neither_sniffed_nor_stored(door: Door, path: str) -> None:
    asset_id = door.ingest("shop.orders")
    for _ in range(2):  # the second time the token is cached, and the fast read responds
        headers = door.http.get(path.replace("{id}", asset_id)).headers
        assert headers.get_list("x-content-type-options") == ["nosniff"]
        assert headers.get_list("cache-control") == ["no-store"]


def test_headers_above_the_limit_are_refused(door: Door) -> None:
    address = urlsplit(door.stack.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=30) as connection:
        connection.sendall(b"GET /health/live HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 12_000 + b"\r\n")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400 ")
