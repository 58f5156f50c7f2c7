"""Access tokens that no library would sign."""

import base64
import json
from collections.abc import Callable
from typing import Any


def part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(header: Any, claims: Any, sign: Callable[[bytes], bytes]) -> str:
    text = f"{part(header)}.{part(claims)}"
    return f"{text}.{part(sign(text.encode()))}"
