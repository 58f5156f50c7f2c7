"""What `/docs` offers to send is accepted as it stands."""

from typing import Any
from urllib.parse import quote

import httpx

from tests.contract.door import WAIT, Door
from tests.shared_stack import Stack

# In the order in which a reader would try them. Suppressing needs a tag that was derived, so it is not among them.
STORY = (
    ("post", "/ingest-metadata"),
    ("post", "/ingest-metadata/bulk"),
    ("get", "/metadata/{id}"),
    ("put", "/metadata/{id}"),
    ("get", "/metadata/by-name"),
    ("put", "/metadata/by-name"),
    ("post", "/metadata/batch-get"),
    ("get", "/metadata"),
    ("post", "/metadata/{id}/tags"),
    ("get", "/metadata/{id}/tags"),
    ("get", "/metadata/{id}/history"),
    ("delete", "/metadata/{id}/tags/{tag}"),
    ("post", "/lineage"),
    ("get", "/lineage/{id}"),
    ("post", "/propagations/dry-run"),
    ("post", "/lineage/sql"),
    ("post", "/api/v1/lineage"),
    ("delete", "/lineage"),
    ("post", "/tags"),
    ("put", "/tags/{name}"),
    ("post", "/propagation-rules"),
    ("put", "/propagation-rules/{name}"),
    ("get", "/propagation-rules/{name}"),
    ("put", "/settings"),
    ("post", "/roles"),
    ("put", "/roles/{name}"),
    ("get", "/roles/{name}"),
    ("post", "/users"),
    ("put", "/users/{name}"),
    ("get", "/users/{name}"),
    ("post", "/users/{name}/disable"),
    ("get", "/users/{name}/disable"),
    ("delete", "/users/{name}/disable"),
    ("post", "/policies"),
    ("put", "/policies/{id}"),
    ("get", "/policies/{id}"),
    ("post", "/scraper-policies"),
    ("put", "/scraper-policies/{id}"),
    ("get", "/scraper-policies/{id}"),
    ("post", "/engine-mappings"),
    ("put", "/engine-mappings/{id}"),
    ("get", "/engine-mappings/{id}"),
    ("post", "/policy/check"),
    ("post", "/policy/explain"),
    ("post", "/policy/dry-run"),
    ("get", "/policy/decisions"),
    ("delete", "/policies/{id}"),
    ("delete", "/users/{name}"),
    ("delete", "/roles/{name}"),
    ("delete", "/scraper-policies/{id}"),
    ("delete", "/engine-mappings/{id}"),
    ("post", "/dead-letters/replay"),
    ("get", "/schemas/{name}"),
    ("delete", "/metadata/{id}"),
    ("post", "/metadata/{id}/restore"),
)


def test_every_example_is_accepted(door: Door) -> None:
    document = door.http.get("/openapi.json").json()
    for method, path in STORY:
        operation = document["paths"][path][method]
        for body in _bodies(operation) or [{}]:
            answer = door.http.request(method, _address(path, operation), **_request(body))
            assert answer.status_code in {200, 201, 202}, f"{method} {path}: {answer.text}"


def test_the_page_and_its_files_are_served_by_lily_itself(stack: Stack) -> None:
    page = httpx.get(f"{stack.url}/docs", timeout=30)
    assert page.status_code == 200
    assert "://" not in page.headers["content-security-policy"]
    script = httpx.get(stack.url + page.text.partition('<script src="')[2].partition('"')[0], timeout=30)
    assert (script.status_code, script.headers["content-type"].partition(";")[0]) == (200, "text/javascript")


def _address(path: str, operation: dict[str, Any]) -> str:
    """With the first example of every parameter that has one."""
    query = {}
    for parameter in operation.get("parameters", ()):
        examples = list(parameter.get("examples", {}).values())
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", quote(examples[0]["value"], safe=""))
        elif examples:
            query[parameter["name"]] = examples[0]["value"]
    return str(httpx.URL(path, params=query)) if query else path


def _bodies(operation: dict[str, Any]) -> list[dict[str, Any]]:
    content = operation.get("requestBody", {}).get("content", {})
    return [
        {"type": media_type, "value": example["value"]}
        for media_type, described in content.items()
        for example in described.get("examples", {}).values()
    ]


def _request(body: dict[str, Any]) -> dict[str, Any]:
    if not body:
        return {"headers": WAIT}
    headers = WAIT | {"Content-Type": body["type"]}
    value = body["value"]
    return {"headers": headers, "content": value} if isinstance(value, str) else {"headers": WAIT, "json": value}
