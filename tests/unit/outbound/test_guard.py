"""A URL of a tenant's choice does not lead into the operator's network, however it is written."""

from collections.abc import Sequence
from ipaddress import ip_network

import pytest

from lily.outbound import ForbiddenAddress, Guard, UnresolvedName, endpoint

PRIVATE = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "0.0.0.0",  # noqa: S104
    "10.1.2.3",
    "172.16.0.1",
    "192.168.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2001:0:1::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[3fff::1]",
    "[ff0e::1]",
    "localhost",
]


def resolver(*addresses: str) -> Guard:
    return Guard(resolver=lambda _host, _port: addresses)


@pytest.mark.parametrize("host", PRIVATE)
def test_an_address_that_is_not_public_is_refused(host: str) -> None:
    with pytest.raises(ForbiddenAddress, match="ALLOWED_NETWORKS"):
        Guard().addresses(endpoint(f"https://{host}/hook"))


@pytest.mark.parametrize("host", ["93.184.216.34", "[2606:2800:220:1::1]", "[::ffff:93.184.216.34]"])
def test_a_public_address_is_permitted(host: str) -> None:
    assert Guard().addresses(endpoint(f"https://{host}/hook"))


@pytest.mark.parametrize("addresses", [("10.0.0.5",), ("93.184.216.34", "10.0.0.5"), ("fe80::1%eth0",)])
def test_a_name_with_a_private_address_is_refused_and_the_address_not_shown(addresses: Sequence[str]) -> None:
    with pytest.raises(ForbiddenAddress) as refused:
        resolver(*addresses).addresses(endpoint("https://tool.example.org/"))
    assert not any(address in str(refused.value) for address in addresses)


def test_the_operator_can_allow_networks() -> None:
    allowed = [ip_network("127.0.0.0/8"), ip_network("fd00::/8")]
    assert Guard(allowed).addresses(endpoint("http://127.0.0.1:8080/")) == ["127.0.0.1"]
    assert Guard(allowed).addresses(endpoint("https://[fd00::7]/")) == ["fd00::7"]
    with pytest.raises(ForbiddenAddress):
        Guard(allowed).addresses(endpoint("https://169.254.169.254/"))


def test_decisions_do_not_leave_unencrypted() -> None:
    with pytest.raises(ForbiddenAddress, match="encrypted"):
        Guard().addresses(endpoint("http://93.184.216.34/"))


def test_a_name_that_is_not_known_now_may_be_later() -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(UnresolvedName):
        Guard(resolver=unknown).addresses(endpoint("https://tool.example.org/"))
    with pytest.raises(UnresolvedName):
        resolver().addresses(endpoint("https://tool.example.org/"))


@pytest.mark.parametrize(
    ("url", "described"),
    [
        ("ftp://example.org/", "https"),
        ("file:///etc/passwd", "https"),
        ("gopher://example.org/", "https"),
        ("//example.org/", "https"),
        ("https://ann:secret@example.org/", "password"),
        ("https://example.org@10.0.0.1/", "password"),
        ("https://example.org/#part", "fragment"),
        ("https:///path", "no host"),
        ("https://example.org:0/", "port 0"),
        ("https://example.org:99999/", "cannot be read"),
        ("https://[::1/", "cannot be read"),
        ("https://example.org\\@10.0.0.1/", "encoded"),
        ("https://example.org/ x", "encoded"),
        ("https://example.org/\r\nHost: x", "encoded"),
        ("https://exämple.org/", "punycode"),
        (f"https://example.org/{'x' * 2000}", "longer"),
    ],
)
def test_a_url_that_could_mean_something_else_is_refused(url: str, described: str) -> None:
    with pytest.raises(ValueError, match=described) as refused:
        endpoint(url)
    assert "secret" not in str(refused.value)


def test_an_endpoint_has_path_query_and_the_default_port() -> None:
    found = endpoint("https://Example.org/a/b?c=d")
    assert found == ("https", "example.org", 443, "/a/b?c=d")
    assert found.shown == "https://example.org:443"
