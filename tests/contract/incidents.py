"""Incidents as another system reports them: a secret, a signed webhook, and a look at what became of it."""

import time
from collections.abc import Callable
from typing import Any

import httpx

from tests.contract.door import Door
from tests.monte_carlo import signed

SECRET = "a secret that only the sender knows"


def put_secret(door: Door, secret: str = SECRET, **more: Any) -> dict[str, Any]:
    answer = door.http.put("/webhook-secrets/monte-carlo", json={"secret": secret, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def post(
    door: Door, body: dict[str, Any], secret: str = SECRET, *, url_encoded: bool = True, tenant: str | None = None
) -> httpx.Response:
    """Without a token, as the sender does it."""
    raw, headers = signed(body, secret, url_encoded=url_encoded)
    return deliver(door, raw, headers, tenant=door.tenant if tenant is None else tenant)


def deliver(
    door: Door, raw: bytes, headers: dict[str, str], *, tenant: str, source: str = "monte-carlo"
) -> httpx.Response:
    url = f"{door.stack.url}/webhook/{source}"
    return httpx.post(url, params={"tenant": tenant} if tenant else {}, content=raw, headers=headers, timeout=60)


def report(door: Door, body: dict[str, Any]) -> None:
    answer = post(door, body)
    assert answer.status_code == 200, answer.text


def found(
    door: Door, path: str = "/incidents", *, until: Callable[[list[dict[str, Any]]], bool] = bool, **parameters: str
) -> list[dict[str, Any]]:
    """The incidents, once they are as expected."""
    deadline = time.monotonic() + 60
    while True:
        answer = door.http.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        if until(items):
            return items
        assert time.monotonic() < deadline, items
        time.sleep(0.1)
