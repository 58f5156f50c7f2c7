"""Addresses that a tenant chooses and Lily calls: none leads into the operator's network, by any way to write it.

Redirects, names that resolve elsewhere later, and hidden requests: `tests/unit/outbound/`.
"""

import pytest

from tests.contract.door import Door, codes
from tests.webhook_tool import SECRET

ADDRESSES = (
    "https://169.254.169.254/latest/meta-data",  # credentials of a cloud's machine
    "https://[fd00:ec2::254]/latest/meta-data",
    "https://10.0.0.1/",
    "https://192.168.1.1/",
    "https://172.16.0.1/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://[::]/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[64:ff9b::a00:1]/",
    "https://0xa9fea9fe/",
    "https://2852039166/",
    "https://0251.0376.0251.0376/",
    "https://224.0.0.1/",
)


@pytest.mark.parametrize("url", ADDRESSES)
def test_a_channel_or_target_at_an_internal_address_is_refused(door: Door, url: str) -> None:
    config = {"destinations": {"ops": url}, "secrets": [SECRET]}
    channel = door.http.post("/channels", json={"name": "c", "type": "webhook", "config": config})
    body = {"name": "t", "type": "webhook", "config": {"url": url, "secrets": [SECRET]}}
    target = door.http.post("/enforcement-targets", json=body)
    for answer in (channel, target):
        assert answer.status_code in {400, 422}, answer.text
        assert codes(answer) <= {"FORBIDDEN_ADDRESS", "INVALID_CHANNEL", "INVALID_TARGET"}


@pytest.mark.parametrize("url", ["file:///etc/passwd", "gopher://example.org/", "ftp://example.org/", "unix:/run/x"])
def test_only_http_is_spoken(door: Door, url: str) -> None:
    body = {"name": "t", "type": "webhook", "config": {"url": url, "secrets": [SECRET]}}
    assert codes(door.http.post("/enforcement-targets", json=body)) == {"INVALID_TARGET"}
