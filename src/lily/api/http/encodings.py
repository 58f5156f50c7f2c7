"""Bodies that come compressed (Content-Encoding: gzip), unpacked no further than allowed."""

import zlib

from starlette.requests import Request

from lily.api.http.bodies import read_bytes
from lily.api.http.errors import Declined, too_large
from lily.model.errors import Problem, Refused

_GZIP = 16 + zlib.MAX_WBITS  # zlib's way to ask for gzip's header and trailer


async def read_decoded(request: Request, limit: int) -> bytes:
    """The body without its encoding. Raises Declined with 413 or 415, Refused for what cannot be unpacked."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip", ""}:
        says = f"send the body plain or as gzip, not as {encoding[:64]}"
        raise Declined(415, Problem("UNSUPPORTED_ENCODING", says, "Content-Encoding"))
    raw = await read_bytes(request, limit)
    return raw if encoding in {"identity", ""} else _unpacked(raw, limit)


def _unpacked(raw: bytes, limit: int) -> bytes:
    unpacking = zlib.decompressobj(_GZIP)
    try:
        body = unpacking.decompress(raw, limit + 1)
    except zlib.error as error:
        raise Refused(Problem("MALFORMED_GZIP", f"this is no gzip: {error}", "body")) from error
    if len(body) > limit:
        raise too_large(limit)
    if not unpacking.eof or unpacking.unused_data:
        raise Refused(Problem("MALFORMED_GZIP", "the body is not one whole gzip member", "body"))
    return body
