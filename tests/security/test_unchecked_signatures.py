"""Webhooks, cursors and tokens: nothing is believed that was not signed, or was signed for something else.

Access tokens without a signature, or with one of another kind: `tests/unit/oidc/test_signatures.py`.
"""

import base64

import orjson
import pytest

from tests.contract.door import Door
from tests.contract.incidents import SECRET, deliver, put_secret
from tests.monte_carlo import anomaly, signed

SOURCES = ("great-expectations", "jira", "monte-carlo", "okta", "slack", "soda")
BODY = orjson.dumps({"id": "1", "text": "x"})
HEADERS: dict[str, dict[str, str]] = {
    "nothing": {},
    "an empty signature": {"x-mcd-signature": "", "x-hub-signature": "sha256=", "authorization": ""},
    "a wrong signature": {"x-mcd-signature": "0" * 128, "x-hub-signature": "sha256=" + "0" * 64, "authorization": "x"},
    "an algorithm that signs nothing": {
        "x-hub-signature": "none=",
        "x-slack-signature": "v0=",
        "webhook-signature": "",
    },
}


def unsigned_jwt(**claims: str) -> str:
    parts = ({"alg": "none", "typ": "JWT"}, claims)
    return ".".join(base64.urlsafe_b64encode(orjson.dumps(part)).decode().rstrip("=") for part in parts) + "."


@pytest.mark.parametrize("source", SOURCES)
def test_a_webhook_without_a_valid_signature_is_refused(door: Door, source: str) -> None:
    assert door.http.put(f"/webhook-secrets/{source}", json={"secret": SECRET}).status_code == 200
    for sent, headers in HEADERS.items():
        answer = deliver(door, BODY, {"content-type": "application/json", **headers}, tenant=door.tenant, source=source)
        assert answer.status_code == 403, sent


def test_a_signature_holds_for_its_body_its_tenant_and_its_secret_alone(door: Door, other_door: Door) -> None:
    put_secret(door)
    put_secret(other_door, secret="another secret of twenty bytes")
    raw, headers = signed(anomaly("shop.public.orders"), SECRET)
    changed = raw.replace(b"orders", b"people")
    assert changed != raw
    assert deliver(door, changed, headers, tenant=door.tenant).status_code == 403
    assert deliver(door, raw, headers, tenant=other_door.tenant).status_code == 403
    assert deliver(door, raw, headers, tenant="").status_code == 403
    assert deliver(door, raw, headers, tenant=door.tenant).status_code == 200


def test_an_access_token_without_a_signature_is_no_token(door: Door) -> None:
    for token in (
        unsigned_jwt(sub="root", tenant=door.tenant, scope="admin"),
        unsigned_jwt() + "x",
        "..",
        "lily_" + "a" * 43,
    ):
        answer = door.http.get("/metadata", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401, answer.text


def test_a_cursor_or_receipt_of_another_tenant_or_made_up_is_refused(door: Door, other_door: Door) -> None:
    for number in range(3):
        door.ingest(f"shop.public.t{number}")
    cursor = door.http.get("/metadata", params={"limit": 1}).json()["next_cursor"]
    assert door.http.get("/metadata", params={"limit": 1, "cursor": cursor}).status_code == 200
    forged = base64.urlsafe_b64encode(b'["x",1]').decode()
    for http, given in ((other_door.http, cursor), (door.http, cursor[:-2] + "AA"), (door.http, forged)):
        assert http.get("/metadata", params={"limit": 1, "cursor": given}).status_code == 400
