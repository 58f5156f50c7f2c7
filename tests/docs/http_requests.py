"""Reads a block of HTTP requests: a request line, headers, an empty line, a body.

A short body may stand behind the path. Lines that begin with # are comments. `{receipt}` in a path is the header
`Lily-Receipt` of the response before.
"""

import json
import re
from dataclasses import dataclass, field

_REQUEST = re.compile(r"^(?P<method>GET|POST|PUT|DELETE) +(?P<target>/\S*)(?: +(?P<body>[{\[].*))?$")
_HEADER = re.compile(r"^(?P<name>[A-Z][A-Za-z-]+): (?P<value>.+)$")


@dataclass
class Request:
    method: str
    target: str
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raises ValueError if the body is not what its content type says."""
        if not self.body.strip():
            return
        if self.headers.setdefault("Content-Type", "application/json") == "application/json":
            json.loads(self.body)


def read_requests(text: str) -> list[Request]:
    requests: list[Request] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        begun = _REQUEST.match(line)
        header = _HEADER.match(line)
        if begun is not None:
            requests.append(Request(begun["method"], begun["target"], begun["body"] or ""))
        elif not requests:
            raise ValueError(f"Expected a request line such as GET /metadata, found {line!r}.")
        elif header is not None and not requests[-1].body:
            requests[-1].headers[header["name"]] = header["value"]
        elif line.strip():
            requests[-1].body += line + "\n"
    for request in requests:
        request.check()
    return requests
