"""Slashes in names: an encoded one never splits a path."""

from typing import Any
from urllib.parse import quote, unquote

import pytest
from fastapi.routing import APIRoute
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Match

from lily.api.http.server.paths import SUBRESOURCES, TextConvertor, keep_encoded_slashes
from lily.api.server import ROUTERS

ROUTES = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
NAMES = (
    "a/b/history",
    "x/tags",
    "x/tags/PII/suppress",
    "a/restore",
    "a/attributes",
    "batch-get",
    "100%2Fsure",
    "%",
    "/",
)


def matched(method: str, path: str) -> tuple[str, dict[str, Any]]:
    """The route that takes a request, as the server and then the router see it, with its path parameters."""
    scope = {"type": "http", "method": method, "path": unquote(path), "raw_path": path.encode(), "headers": []}
    keep_encoded_slashes(scope)
    found = ((route, route.matches(scope)) for route in ROUTES)
    route, (_, child) = next((route, match) for route, match in found if match[0] is Match.FULL)
    return route.path_format, child["path_params"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("below", ["", "/history", "/tags", "/attributes", "/facets"])
def test_a_name_is_one_parameter_whatever_it_contains(name: str, below: str) -> None:
    assert matched("GET", f"/metadata/{quote(name, safe='')}{below}") == (f"/metadata/{{id}}{below}", {"id": name})


def test_a_tag_may_contain_slashes_too() -> None:
    path = f"/metadata/x/tags/{quote('a/suppress', safe='')}"
    assert matched("DELETE", path) == ("/metadata/{id}/tags/{tag}", {"id": "x", "tag": "a/suppress"})
    suppressed = f"{path}/suppress"
    assert matched("POST", suppressed) == ("/metadata/{id}/tags/{tag}/suppress", {"id": "x", "tag": "a/suppress"})


def test_plain_slashes_still_belong_to_a_name_where_no_longer_route_matches() -> None:
    assert matched("GET", "/metadata/a/b") == ("/metadata/{id}", {"id": "a/b"})
    assert matched("GET", "/metadata/a/b/history") == ("/metadata/{id}/history", {"id": "a/b"})


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("below", ["history", "tags", "attributes", "facets", "restore"])
def test_a_subresource_is_never_taken_for_an_asset(method: str, below: str) -> None:
    scope = {"type": "http", "method": method, "path": f"/metadata/x/{below}", "headers": []}
    assert not [route.path for route in ROUTES if route.matches(scope)[0] is Match.FULL]


def test_every_subresource_of_an_asset_is_known() -> None:
    prefix = "/metadata/{id}/"
    ends = {route.path_format.removeprefix(prefix) for route in ROUTES if route.path_format.startswith(prefix)}
    assert {end for end in ends if "/" not in end} == set(SUBRESOURCES)


@given(st.text(min_size=1))
def test_any_name_arrives_as_it_was_sent(name: str) -> None:
    sent = name.encode("utf-8", "replace").decode()
    scope: dict[str, Any] = {"path": "", "raw_path": f"/metadata/{quote(sent, safe='')}".encode()}
    scope["path"] = unquote(scope["raw_path"].decode())
    keep_encoded_slashes(scope)
    assert scope["path"].count("/") == 2
    assert TextConvertor().convert(scope["path"].removeprefix("/metadata/")) == sent
