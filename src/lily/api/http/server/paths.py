"""Names with slashes in paths. Routes are matched before `%2F` is decoded, so a slash in a name never splits a path.

The server decodes a path before routing: `/metadata/a%2Fhistory` would arrive as `/metadata/a/history`. Here every
segment is decoded separately, and a slash inside a segment stays escaped until a route has matched.
"""

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import unquote

from starlette.convertors import Convertor

SUBRESOURCES = (
    "history",
    "tags",
    "attributes",
    "facets",
    "restore",
    "incidents",
    "usage",
)  # of `/metadata/{id}`


def keep_encoded_slashes(scope: MutableMapping[str, Any]) -> None:
    """Rewrites the path of a request so that its only slashes are those between segments."""
    raw: bytes = scope.get("raw_path") or b""
    if b"%" in raw:
        segments = raw.decode("ascii", "replace").split("/")
        scope["path"] = "/".join(_escaped(unquote(segment)) for segment in segments)


class TextConvertor(Convertor[str]):
    """A path parameter that may contain slashes: encoded ones anywhere, plain ones where no longer route matches."""

    regex = ".*"

    def convert(self, value: str) -> str:
        return value.replace("%2F", "/").replace("%25", "%")

    def to_string(self, value: str) -> str:
        return _escaped(value)


class SegmentConvertor(TextConvertor):
    """A path parameter that may contain slashes, but encoded ones only: others are beside it."""

    regex = "[^/]+"


class UserConvertor(TextConvertor):
    """The parameter of `/users/{name}` itself, without the plain slash of `/users/{name}/disable`."""

    regex = r"(?!.*/disable$).*"


class AssetConvertor(TextConvertor):
    """The parameter of `/metadata/{id}` itself. A plain slash before the name of a subresource is never part of it, so
    that `PUT /metadata/x/history` is a method that is not allowed, and not a change of an asset named `x/history`."""

    regex = rf"(?!.*/(?:{'|'.join(SUBRESOURCES)})$).*"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")
