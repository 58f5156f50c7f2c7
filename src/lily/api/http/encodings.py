"""Content-Encoding: decompresses request bodies in pieces, limited in size."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator

from starlette.requests import Request

from lily.api.http.errors import Declined, too_large
from lily.model.errors import Problem, Refused

PIECE = 64 << 10  # bytes decompressed at a time, and read before other requests go on
# Decompressed to compressed. Estates compress 12 to 19 times, deflate can reach 1,000 times.
MAX_RATIO = 100
RATIO_ALLOWANCE = 1 << 20  # decompressed bytes for which the ratio does not matter
_GZIP = 16 + zlib.MAX_WBITS  # zlib's code for the gzip format
_NAMES = {"gzip": True, "x-gzip": True, "identity": False, "": False}


async def decoded(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The body without its encoding. Raises Declined with 415 for an unknown encoding, and with 413 as soon as it is
    too long, compressed or not, or unpacks to too many times its size; Refused if it is not valid gzip, after yielding
    what could be decompressed."""
    gunzip = Gunzip() if is_gzip(request) else None
    refuse_longer(request, limit)
    received = decompressed = 0
    async for chunk in request.stream():
        received += len(chunk)
        if received > limit:  # counted separately: a compressed body may expand to nothing
            raise too_large(limit)
        for piece in gunzip.feed(chunk) if gunzip else (chunk,):
            decompressed += len(piece)
            if decompressed > limit:
                raise too_large(limit)
            if gunzip and decompressed > RATIO_ALLOWANCE + MAX_RATIO * received:
                raise _ratio_exceeded()
            yield piece
            if gunzip:
                await asyncio.sleep(0)  # other requests go on between two pieces
    if gunzip:
        gunzip.finish()


def is_gzip(request: Request) -> bool:
    """Raises Declined with 415 for any encoding but gzip and none."""
    given = request.headers.get("content-encoding", "").strip().lower()
    if given not in _NAMES:
        description = f"Content-Encoding {given[:64]} is not supported; send the body as gzip or without an encoding"
        problem = Problem("UNSUPPORTED_ENCODING", description, "Content-Encoding")
        raise Declined(415, problem, {"Accept-Encoding": "gzip, identity"})
    return _NAMES[given]


def refuse_longer(request: Request, limit: int) -> None:
    """Raises Declined with 413 if Content-Length exceeds the limit, before anything is read."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise too_large(limit)


class Gunzip:
    """Decompresses one gzip member in pieces. Raises Refused for anything else."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        full = False
        while chunk or full:
            piece = self._decompress(chunk)
            full, chunk = len(piece) == PIECE, self._stream.unconsumed_tail
            if piece:
                yield piece

    def finish(self) -> None:
        if not self._stream.eof:
            raise _malformed("the body ends before the gzip member does")

    def _decompress(self, chunk: bytes) -> bytes:
        try:
            piece = self._stream.decompress(chunk, PIECE)
        except zlib.error as error:
            raise _malformed(f"the body is not gzip: {error}") from error
        if self._stream.unused_data:
            raise _malformed("something follows the gzip member; send exactly one")
        return piece


def _ratio_exceeded() -> Declined:
    description = f"the body decompresses to more than {MAX_RATIO} times its size; send it without gzip"
    return Declined(413, Problem("TOO_LARGE", description, "body"))


def _malformed(description: str) -> Refused:
    return Refused(Problem("MALFORMED_GZIP", description, "body"))
