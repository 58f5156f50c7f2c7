"""Where a call goes: the parts of a URL, or the host and port of a mail server."""

from typing import NamedTuple
from urllib.parse import urlsplit

MAX_URL = 2_000
_PORTS = {"https": 443, "http": 80}
_ENCRYPTED = frozenset({"https", "smtps", "smtp+starttls"})


class Endpoint(NamedTuple):
    scheme: str
    host: str
    port: int
    target: str  # path and query

    @property
    def is_encrypted(self) -> bool:
        return self.scheme in _ENCRYPTED

    @property
    def shown(self) -> str:
        """For errors: without path and query, which may hold a token."""
        return f"{self.scheme}://{self.host}:{self.port}"


def endpoint(url: str) -> Endpoint:
    """Raises ValueError with what is wrong, without the URL."""
    if len(url) > MAX_URL:
        raise ValueError(f"the URL is longer than {MAX_URL} characters")
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise ValueError("the URL has characters that must be encoded: write the host in punycode, the rest with %")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ValueError(f"the URL cannot be read: {error}") from error
    if parts.scheme not in _PORTS:
        raise ValueError("the URL must begin with https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL must not have a user or a password")
    if parts.fragment:
        raise ValueError("the URL must not have a fragment (#)")
    if not host or port == 0:
        raise ValueError("the URL has no host, or the port 0")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Endpoint(parts.scheme, host, port or _PORTS[parts.scheme], target)
