"""Where Lily is and which token to show: as given, else from the environment, else the embedded stack's own."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import orjson

from lily.model.errors import Terminal

DEFAULT_DATA_DIR = ".lily"
ENDED = frozenset({"stopped", "failed"})


class NoAddress(Terminal):
    """Nothing says where Lily is, or with which token to ask it."""


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    token: str

    def __repr__(self) -> str:
        return f"Address({self.url!r})"  # the token is nobody's to read in a log

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def websocket_url(self) -> str:
        return "ws" + self.url.removeprefix("http")


def find_address(url: str | None = None, token: str | None = None) -> Address:
    """Raises NoAddress with what to do.

    The embedded stack's admin token is only ever shown to the embedded stack: never to an address given by hand.
    """
    data_dir = Path(os.environ.get("LILY_DATA_DIR", DEFAULT_DATA_DIR)).expanduser()
    embedded = _embedded_url(data_dir)
    found = (url or os.environ.get("LILY_URL") or embedded).rstrip("/")
    if not found:
        raise NoAddress(f"Nothing runs in {data_dir}. Start it with `lily up`, or set LILY_URL and LILY_TOKEN.")
    if urlsplit(found).scheme not in ("http", "https") or not urlsplit(found).hostname:
        raise NoAddress(f"{found!r} is no address. Write it as http://HOST:PORT.")
    shown = token or os.environ.get("LILY_TOKEN") or (_admin_token(data_dir) if found == embedded else "")
    if not shown:
        raise NoAddress(f"There is no token for {found}. Set LILY_TOKEN; `lily token create` makes one.")
    return Address(found, shown)


def _embedded_url(data_dir: Path) -> str:
    """What `lily up` recorded; empty if nothing, or if it has stopped."""
    try:
        state = orjson.loads((data_dir / "stack.json").read_bytes())
        return "" if state["phase"] in ENDED else str(state["url"]).rstrip("/")
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return ""


def _admin_token(data_dir: Path) -> str:
    try:
        return (data_dir / "admin.token").read_text().strip()
    except OSError:
        return ""
