"""The pages a browser shows: whole in themselves, and permitted to run nothing else."""

import asyncio
import base64
import hashlib
import re
import uuid
from collections.abc import Callable

import httpx
import pytest

from lily.api.http.negotiation import prefers_html
from lily.notify.links import asset_url, incident_url
from tests.built_api import built_api

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

PAGES = ("/", "/docs")


async def _get(path: str, accept: str = BROWSER) -> httpx.Response:
    transport = httpx.ASGITransport(built_api())
    async with httpx.AsyncClient(transport=transport, base_url="http://lily") as client:
        return await client.get(path, headers={"Accept": accept})


def get(path: str, accept: str = BROWSER) -> httpx.Response:
    return asyncio.run(_get(path, accept))


@pytest.mark.parametrize(
    ("accept", "html"),
    [
        (BROWSER, True),
        ("text/html", True),
        ("text/html;q=0.5, application/json;q=0.4", True),
        ("text/html;q=0.4, application/json", False),
        ("application/json", False),
        ("*/*", False),
        ("", False),
        ("text/html;q=0", False),
        ("text/html;q=nonsense", False),
    ],
)
def test_only_who_prefers_html_gets_it(accept: str, html: bool) -> None:  # noqa: FBT001
    assert prefers_html(accept) is html
    answer = get("/", accept)
    assert answer.headers["content-type"].startswith("text/html" if html else "application/json")
    assert answer.headers["vary"] == "Accept"


def test_programs_get_pointers() -> None:
    told = get("/", "*/*").json()
    assert told["name"] == "lily"
    assert {told["docs"], told["openapi"], told["health"]} == {"/docs", "/openapi.json", "/health/ready"}


@pytest.mark.parametrize("path", [*PAGES, "/health/live"])
def test_head_gets_the_headers_of_get(path: str) -> None:
    async def both() -> tuple[httpx.Response, httpx.Response]:
        transport = httpx.ASGITransport(built_api())
        async with httpx.AsyncClient(transport=transport, base_url="http://lily") as client:
            return await client.head(path), await client.get(path)

    head, got = asyncio.run(both())
    assert head.status_code == 200
    assert head.headers["content-type"] == got.headers["content-type"]


def test_the_start_page_names_health_token_and_documentation() -> None:
    page = get("/").text
    for text in (
        'href="/docs"',
        "/health/ready",
        "lily token create",
        "--data-dir DIR",
        "/ingest-metadata",
        "/metrics",
        "/schemas",
    ):
        assert text in page
    assert "{{" not in page


@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_only_what_its_policy_names_by_digest(path: str) -> None:
    answer = get(path)
    policy = _policy(answer)
    assert policy["default-src"] == ["'none'"]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", answer.text, re.DOTALL)
        assert _digest(inline) in policy[directive]
        assert "'unsafe-inline'" not in policy[directive]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_nothing_from_elsewhere(path: str) -> None:
    answer = get(path)
    for source in re.findall(r'(?:src|href)="([^"]*)"', answer.text):
        assert source.startswith(("/", "data:", "#"))
    assert not any("://" in source or "*" in source for sources in _policy(answer).values() for source in sources)


def test_the_documentation_brings_its_own_scripts_and_styles() -> None:
    page = get("/docs").text
    assets = [address for address in re.findall(r'(?:src|href)="([^"]*)"', page) if address.startswith("/docs/assets/")]
    kinds = {address.rpartition(".")[2]: get(address) for address in assets}
    assert kinds["js"].headers["content-type"].startswith("text/javascript")
    assert "SwaggerUIBundle" in kinds["js"].text
    assert kinds["css"].headers["content-type"].startswith("text/css")
    assert all("immutable" in answer.headers["cache-control"] for answer in kinds.values())
    assert 'id="token"' in page


@pytest.mark.parametrize("path", ["/docs/assets/0/swagger-ui.css", "/docs/assets/x/..%2F__init__.py", "/docs/assets"])
def test_no_other_file_is_served(path: str) -> None:
    assert get(path).status_code == 404


def _policy(answer: httpx.Response) -> dict[str, list[str]]:
    directives = [directive.split() for directive in answer.headers["content-security-policy"].split(";")]
    return {name: sources for name, *sources in directives}


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize(("link", "kind"), [(incident_url, "incidents"), (asset_url, "assets")])
def test_the_start_page_shows_how_to_read_what_a_link_of_a_notification_names(
    link: Callable[[str, str], str], kind: str
) -> None:
    page, identity = get("/").text, str(uuid.uuid4())
    (pattern,) = re.findall(r"^const LINK = /(.+)/;$", page, re.MULTILINE)
    linked = re.match(pattern, link("https://lily.example", identity).removeprefix("https://lily.example/"))
    assert linked is not None
    assert linked.groups() == (kind, identity)
    assert 'id="linked"' in page
