"""What was sent, as files that are read in reviews. `REWRITE_GOLDEN=1` writes them anew."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.badserver import Asked

DIRECTORY = Path(__file__).parent / "golden"
# The rest is the library's, or differs from one run to the next.
HEADERS = ("content-type", "authorization", "accept", "user-agent", "webhook-id")


def recorded(received: Iterable[Asked]) -> list[dict[str, Any]]:
    return [
        {
            "request": f"{one.method} {one.path}",
            **({"query": one.params} if one.params else {}),
            "headers": {name: one.headers[name] for name in HEADERS if name in one.headers},
            **({"body": json.loads(one.body)} if one.body else {}),
        }
        for one in received
    ]


def matches(name: str, found: Any) -> None:
    path = DIRECTORY / f"{name}.json"
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("REWRITE_GOLDEN") == "1":
        path.write_text(text)
    assert text == path.read_text(), f"{path.name} differs; REWRITE_GOLDEN=1 rewrites it if the change is wanted"
