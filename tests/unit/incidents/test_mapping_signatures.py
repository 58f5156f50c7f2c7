"""The signatures that a mapping can name."""

import base64
import hashlib
import hmac
from typing import Any

import pytest
from standardwebhooks import Webhook

from lily.model import clock
from lily.plugins import Delivery
from tests.unit.incidents.mapped import NOW, mapped

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = b'{"id": "1"}'


def verifies(signature: dict[str, Any], headers: dict[str, str], *secrets: str, received: str = NOW) -> bool:
    intake = mapped(signature=signature)
    return intake.verify(Delivery(BODY, headers, received), [secret.encode() for secret in secrets])


def test_standard_webhooks_are_verified_within_five_minutes() -> None:
    sent = clock.parse("2026-01-31T23:58:00.000000Z")
    signature = Webhook(SECRET).sign("msg_1", sent, BODY.decode())
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(sent.timestamp())),
        "webhook-signature": f"v1a,xyz v1,bm9uc2Vuc2U= {signature}",
    }
    scheme = {"type": "standard-webhooks"}
    assert verifies(scheme, headers, "another secret", SECRET)
    assert not verifies(scheme, headers, "another secret")
    assert not verifies(scheme, headers, SECRET, received="2026-02-01T00:04:00.000000Z")
    for name in headers:
        assert not verifies(scheme, headers | {name: ""}, SECRET)
    assert not verifies(scheme, headers | {"webhook-timestamp": "٣" * 10}, SECRET)
    unnamed = {"webhook-id": "", "webhook-signature": Webhook(SECRET).sign("", sent, BODY.decode())}
    assert not verifies(scheme, headers | unnamed, SECRET), "a receiver drops repeats by the id"


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
@pytest.mark.parametrize("encoding", ["hex", "base64"])
def test_hmacs_are_verified_in_the_stated_header(algorithm: str, encoding: str) -> None:
    digest = hmac.new(b"secret", BODY, getattr(hashlib, algorithm)).digest()
    shown = digest.hex() if encoding == "hex" else base64.b64encode(digest).decode()
    scheme = {"type": f"hmac-{algorithm}", "header": "Ticket-Sig", "prefix": "v=", "encoding": encoding}
    assert verifies(scheme, {"ticket-sig": f"v={shown}"}, "secret")
    for wrong in (shown, f"v={shown[:-2]}", f"v={shown} ", "v=", "", f"v={shown}{shown}"):
        assert not verifies(scheme, {"ticket-sig": wrong}, "secret")
    assert not verifies(scheme, {"x-signature": f"v={shown}"}, "secret")


def test_a_bearer_shows_the_secret() -> None:
    assert verifies({"type": "bearer"}, {"authorization": "Bearer secret"}, "other", "secret")
    assert not verifies({"type": "bearer"}, {"authorization": "secret"}, "secret")
    assert not verifies({"type": "bearer"}, {}, "secret")
    assert verifies({"type": "bearer", "header": "X-Api-Key"}, {"x-api-key": "secret"}, "secret")
    assert not verifies({"type": "bearer", "header": "X-Api-Key"}, {"x-api-key": "Bearer secret"}, "secret")
