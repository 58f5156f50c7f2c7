"""The address and the token: as given, else from the environment, else those of the embedded stack."""

import os
import re
import ssl
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from lily.client.tls import Tls
from lily.model.errors import Terminal

DEFAULT_DATA_DIR = ".lily"
_TOKEN = re.compile(r"[\x21-\x7e]+")  # what a header can contain
ENDED = frozenset({"stopped", "failed"})


class NoAddress(Terminal):
    """The address or the token is missing or invalid."""


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    token: str
    tls: ssl.SSLContext | None = field(default=None, compare=False)  # of an https address

    def __repr__(self) -> str:
        return f"Address({self.url!r})"  # without the token, which must not appear in logs

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def websocket_url(self) -> str:
        return "ws" + self.url.removeprefix("http")


def find_address(url: str | None = None, token: str | None = None, tls: Tls | None = None) -> Address:
    """Raises NoAddress or UnusableFile with what to do.

    The embedded stack's admin token is sent to the embedded stack only, never to another address.
    """
    data_dir = Path(os.environ.get("LILY_DATA_DIR", DEFAULT_DATA_DIR)).expanduser()
    state = _embedded(data_dir)
    embedded = str(state.get("url", "")).rstrip("/")
    found = (url or os.environ.get("LILY_URL") or embedded).rstrip("/")
    if not found:
        raise NoAddress(
            f"No address for Lily: LILY_URL is not set, and no stack is running in {data_dir.absolute()}. "
            "Start one with `lily up`, or set LILY_DATA_DIR to the data directory of a running stack, "
            "or set LILY_URL and LILY_TOKEN."
        )
    if urlsplit(found).scheme not in ("http", "https") or not urlsplit(found).hostname:
        raise NoAddress(f"{found!r} is not a valid address. Write it as http://HOST:PORT or https://HOST:PORT.")
    secret = token or os.environ.get("LILY_TOKEN") or (_admin_token(data_dir) if found == embedded else "")
    secret = secret.strip()  # a line end that came with it from a file or a command
    if not secret:
        raise NoAddress(f"No token for {found}. Create one with `lily token create` and set LILY_TOKEN.")
    if not _TOKEN.fullmatch(secret):  # it is a secret, so the message must not quote it
        raise NoAddress(
            f"The token for {found} is not valid: it contains spaces, line ends or characters that are not ASCII. "
            "Set LILY_TOKEN to the token exactly as `lily token create` printed it."
        )
    trusted = (tls or Tls()).or_environment()
    if found == embedded and not trusted.ca:
        trusted = replace(trusted, ca=state.get("certificate") or None)  # the one that this stack serves with
    return Address(found, secret, trusted.context() if urlsplit(found).scheme == "https" else None)


def _embedded(data_dir: Path) -> dict[str, Any]:
    """What `lily up` recorded; empty if there is nothing, or if the stack has stopped."""
    try:
        state: dict[str, Any] = orjson.loads((data_dir / "stack.json").read_bytes())
        return {} if state["phase"] in ENDED else state
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return {}


def _admin_token(data_dir: Path) -> str:
    try:
        return (data_dir / "admin.token").read_text().strip()
    except OSError:
        return ""
