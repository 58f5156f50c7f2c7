"""Paths that mean one thing to a check and another to what it guards: dots, encodings, slashes, files."""

import http.client
from collections.abc import Callable, Iterator
from urllib.parse import quote, urlsplit

import pytest

from tests.contract.door import Door, client
from tests.shared_stack import Stack

TRICKS = (
    "/health/live/../../metadata",
    "/health/live/..;/metadata",
    "/health/live%2f..%2f..%2fmetadata",
    "/health/%2e%2e/metadata",
    "//metadata",
    "/./metadata",
    "/METADATA",
    "/metadata/",
    "/metadata%00",
    "/metadata%2f",
    "/metadata;x=/health/live",
    "/metadata?/health/live",
    "/metadata#/health/live",
    "/enforce/opa/k/../../../metadata",
    "/enforce/opa/k/x/../../../../metadata",
    "http://127.0.0.1/metadata",
    "/webhook/../metadata",
    "/webhook/okta/../../metadata",
)
FILES = (
    "/schemas/../../../../etc/passwd",
    "/schemas/..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/schemas/%2e%2e%2f%2e%2e%2fsettings",
    "/schemas/..%252f..%252fetc%252fpasswd",
    "/schemas//etc/passwd",
    "/schemas/asset-event%00.json",
    "/docs/../../pyproject.toml",
    "/docs/..%5c..%5cetc%5cpasswd",
)


@pytest.fixture(scope="module")
def target(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    tenant, token = make_tenant()
    with client(stack, token) as http:
        door = Door(stack, tenant, token, http)
        door.ingest("shop.public.orders")
        yield door


def raw(door: Door, path: str, token: str = "") -> tuple[int, bytes]:
    """As it is written: other clients remove dots before they send it."""
    address = urlsplit(door.stack.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
    try:
        connection.putrequest("GET", path, skip_host=False)
        if token:
            connection.putheader("Authorization", f"Bearer {token}")
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("path", TRICKS)
def test_no_way_of_writing_a_path_gets_around_the_token(target: Door, path: str) -> None:
    status, body = raw(target, path)
    assert status in {400, 401, 404, 405}, body[:200]
    assert b"orders" not in body


@pytest.mark.parametrize("path", FILES)
def test_no_path_leads_to_a_file(target: Door, path: str) -> None:
    status, body = raw(target, path, target.token)
    assert status in {400, 404}, body[:200]
    assert b"root:" not in body
    assert b"[project]" not in body


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/../b", "a%2Fhistory", "\\..\\b"])
def test_a_name_with_dots_and_slashes_is_that_asset_and_no_other(target: Door, name: str) -> None:
    asset = target.ingest(name)
    found = target.http.get(f"/metadata/{quote(name, safe='')}").json()
    assert (found["metadata_id"], found["attributes"]["qualified_name"]) == (asset, name)
