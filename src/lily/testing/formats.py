"""The behaviour of a format."""

import json
import tracemalloc
from collections.abc import Sequence
from contextlib import closing
from random import Random
from typing import Any, ClassVar, NamedTuple

from lily.model.errors import Problem
from lily.plugins.formats import BlankRows, Row
from lily.plugins.groups import FORMATS
from lily.testing.suite import Suite, damaged

LIMIT = 1 << 16
LONG_ROW = 8 << 20
MAX_HELD = 1 << 20  # by a splitter whose rows may have LIMIT bytes, while a row of LONG_ROW bytes passes
CHUNKS = (1, 2, 3, 7, 64, 1000)


class Sample(NamedTuple):
    """A body, and the ingest bodies of its rows."""

    body: bytes
    rows: Sequence[Any]


class FormatSuite(Suite):
    """Override `samples`, and `long_row` unless the format can only be read as a whole (`streams = False`)."""

    group = FORMATS
    streams: ClassVar[bool] = True

    def samples(self) -> Sequence[Sample]:
        raise NotImplementedError("return at least one body with several rows, and the ingest bodies of its rows")

    def long_row(self, length: int) -> bytes:
        """A body whose only row has at least `length` bytes."""
        raise NotImplementedError("return a body with one row of at least `length` bytes")

    def split(self, body: bytes, chunk: int = LIMIT, limit: int = LIMIT) -> list[Row]:
        with closing(self.plugin().splitter(limit)) as splitter:
            rows: list[Row] = []
            for start in range(0, len(body), chunk):
                rows += splitter.feed(body[start : start + chunk])
            return _one_by_one([*rows, *splitter.finish()])

    def test_a_body_gives_its_rows(self) -> None:
        assert any(len(sample.rows) > 1 for sample in self.samples()), "give a sample with more than one row"
        for sample in self.samples():
            assert _bodies(self.split(sample.body)) == list(sample.rows), f"the rows of {sample.body[:200]!r}"

    def test_the_rows_are_the_same_however_the_body_is_cut(self) -> None:
        for sample in self.samples():
            whole = self.split(sample.body)
            for chunk in CHUNKS:
                assert self.split(sample.body, chunk) == whole, f"cut into chunks of {chunk} bytes"

    def test_two_bodies_at_a_time_do_not_mix(self) -> None:
        plugin, sample = self.plugin(), self.samples()[0]
        rows: tuple[list[Row], list[Row]] = ([], [])
        with closing(plugin.splitter(LIMIT)) as one, closing(plugin.splitter(LIMIT)) as other:
            for offset in range(len(sample.body)):
                for splitter, found in zip((one, other), rows, strict=True):
                    found.extend(splitter.feed(sample.body[offset : offset + 1]))
            for splitter, found in zip((one, other), rows, strict=True):
                found.extend(splitter.finish())
        assert _bodies(rows[0]) == _bodies(rows[1]) == list(sample.rows)

    def test_no_body_makes_it_raise(self) -> None:
        """Any input becomes rows or problems: empty, truncated, damaged, or another format."""
        random = Random(0)  # noqa: S311 - the same damage every time
        bodies = [b"", b"\n", b"\x00" * 100, random.randbytes(5_000), b"\xff\xfe" * 50, b"[" * 1_000, b"<" * 1_000]
        for body in bodies + damaged([sample.body for sample in self.samples()], random):
            for row in self.split(body, chunk=random.choice(CHUNKS)):
                assert isinstance(row, bytes | dict | Problem), f"{type(row).__name__} is not a row ({body[:80]!r})"

    def test_a_body_that_breaks_off_keeps_the_rows_before(self) -> None:
        if not self.streams:
            return
        for sample in self.samples():
            rows = list(sample.rows)
            for cut in range(0, len(sample.body), 1 + len(sample.body) // 200):
                kept = _bodies(self.split(sample.body[:cut]))[:-1]  # the last may be half a row
                assert kept == rows[: len(kept)], f"cut off after {cut} bytes"
            kept = _bodies(self.split(sample.body[:-1]))
            assert kept[: len(rows) - 1] == rows[:-1], "without the last byte, rows before the last one are lost"

    def test_a_row_that_is_too_long_is_a_problem(self) -> None:
        if not self.streams:
            return
        rows = self.split(self.long_row(2 * LIMIT), chunk=1000)
        assert [row.code for row in rows if isinstance(row, Problem)] == ["TOO_LARGE"], f"{rows[:3]!r:.300}"

    def test_a_row_that_is_too_long_is_not_held(self) -> None:
        if not self.streams:
            return
        body = self.long_row(LONG_ROW)
        tracemalloc.start()
        try:
            self.split(body, chunk=LIMIT)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < MAX_HELD, f"a row of {LONG_ROW} bytes was held: {peak} bytes at the peak"

    def test_closing_twice_is_harmless(self) -> None:
        splitter = self.plugin().splitter(LIMIT)
        splitter.close()
        splitter.close()


def _one_by_one(rows: Sequence[Row]) -> list[Row]:
    """How many blank rows are reported together may depend on how the body is cut."""
    return [one for row in rows for one in ([b""] * row.count if isinstance(row, BlankRows) else [row])]


def _bodies(rows: Sequence[Row]) -> list[Any]:
    """As Lily reads them: bytes are JSON, blank lines are skipped, problems are kept."""
    return [json.loads(row) if isinstance(row, bytes) and _is_json(row) else row for row in rows if row != b""]


def _is_json(row: bytes) -> bool:
    try:
        json.loads(row)
    except ValueError:
        return False
    return True
