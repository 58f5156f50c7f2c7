"""Bodies that come compressed: unpacked exactly, in bounded pieces, and refused beyond the limit."""

import asyncio
import gzip
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from lily.api.http.bodies import read_bytes
from lily.api.http.encodings import PIECE, RATIO_ALLOWANCE, Gunzip
from lily.api.http.errors import Declined
from lily.model.errors import Refused

LIMIT = 1 << 20


def request(chunks: Iterable[bytes], encoding: str | None) -> Request:
    headers = [] if encoding is None else [(b"content-encoding", encoding.encode())]
    unread = iter(chunks)

    async def receive() -> dict[str, object]:
        chunk = next(unread, None)
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    return Request({"type": "http", "headers": headers}, receive)


def read(chunks: Iterable[bytes], encoding: str | None = "gzip", limit: int = LIMIT) -> bytes:
    return asyncio.run(read_bytes(request(chunks, encoding), limit))


def cut(body: bytes, size: int) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]


@given(st.binary(max_size=5_000), st.integers(1, 400))
def test_what_was_packed_is_unpacked_however_it_arrives(body: bytes, size: int) -> None:
    assert read(cut(gzip.compress(body), size)) == body


@pytest.mark.parametrize("encoding", [None, "", "identity", " Identity "])
def test_a_plain_body_is_left_as_it_is(encoding: str | None) -> None:
    assert read([b"ab", b"c"], encoding) == b"abc"


@pytest.mark.parametrize("length", [PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_pieces_are_bounded_and_nothing_is_lost_between_them(length: int) -> None:
    body = bytes(length)
    pieces = list(Gunzip().feed(gzip.compress(body)))
    assert b"".join(pieces) == body
    assert all(0 < len(piece) <= PIECE for piece in pieces)


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "nonsense"])
def test_an_unknown_encoding_names_the_supported_ones(encoding: str) -> None:
    with pytest.raises(Declined) as refused:
        read([b"{}"], encoding)
    assert refused.value.status == 415
    assert refused.value.headers == {"Accept-Encoding": "gzip, identity"}


def test_the_limit_holds_for_what_is_unpacked() -> None:
    assert len(read([gzip.compress(bytes(LIMIT))])) == LIMIT
    with pytest.raises(Declined) as refused:
        read([gzip.compress(bytes(LIMIT + 1))])
    assert refused.value.status == 413


def test_a_bomb_is_refused_before_the_rest_of_it_is_read() -> None:
    chunks = cut(gzip.compress(bytes(200 << 20)), 1_000)
    unread = iter(chunks)
    with pytest.raises(Declined) as refused:
        read(unread)
    assert refused.value.status == 413
    assert len(list(unread)) > len(chunks) // 2


def test_a_body_may_unpack_to_a_hundred_times_its_size() -> None:
    row = b'{"entity_type": "column", "attributes": {"name": "%d"}}\n'
    real = b"".join(row % number for number in range(100_000))
    assert read([gzip.compress(real)], limit=1 << 30) == real
    assert len(read([gzip.compress(bytes(RATIO_ALLOWANCE))], limit=1 << 30)) == RATIO_ALLOWANCE
    with pytest.raises(Declined, match="100 times its size; send it without gzip") as refused:
        read([gzip.compress(bytes(16 << 20))], limit=1 << 30)
    assert refused.value.status == 413
    assert read([bytes(16 << 20)], encoding=None, limit=1 << 30) == bytes(16 << 20)


def test_a_body_that_never_unpacks_to_anything_is_refused_too() -> None:
    stored_nothing = b"\x00\x00\x00\xff\xff"  # a block of deflate without content
    head = gzip.compress(b"")[:10]
    with pytest.raises(Declined) as refused:
        read([head, stored_nothing * 1_000, stored_nothing * 1_000], limit=8_000)
    assert refused.value.status == 413


@pytest.mark.parametrize(
    "body",
    [
        b"plain",
        gzip.compress(b"cut off", mtime=0)[:-9],
        gzip.compress(b"one", mtime=0) + b"more",
        gzip.compress(b"one", mtime=0) + gzip.compress(b"two", mtime=0),
        zlib.compress(b"zlib's own header"),
        b"",
    ],
)
def test_what_is_not_one_whole_gzip_member_is_refused(body: bytes) -> None:
    with pytest.raises(Refused) as refused:
        read([body])
    assert [problem.code for problem in refused.value.problems] == ["MALFORMED_GZIP"]
