"""Every promise that the suite of formats tests is broken here once, and the suite notices."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import orjson
import pytest

from lily.formats.ndjson import Lines, Ndjson
from lily.model.errors import Problem
from lily.plugins import Row
from lily.testing import FormatSuite
from tests.unit import test_formats_builtin
from tests.unit.suites.broken import Broken, closing_once, promises_of, run


class NoSuffixes:
    media_types = ("text/x",)

    def splitter(self, limit: int) -> Lines:
        return Lines(limit)


def a_format(splitter_of: Callable[[int], Any]) -> type[Any]:
    class Format(Ndjson):
        def splitter(self, limit: int) -> Any:
            return splitter_of(limit)

    return Format


class LosesLast(Lines):
    def feed(self, chunk: bytes) -> Iterator[Row]:
        yield from [*super().feed(chunk)][:-1]


class ChunksAreBodies(Lines):
    def feed(self, chunk: bytes) -> Iterator[Row]:
        yield from super().feed(chunk)
        yield from super().finish()


class Raises(Lines):
    def feed(self, chunk: bytes) -> Iterator[Row]:
        for row in super().feed(chunk):
            assert isinstance(row, bytes)
            yield orjson.loads(row) if row else row


class AllOrNothing(Lines):
    """Returns rows at the end, if the body ends as it should."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._all: list[Row] = []

    def feed(self, chunk: bytes) -> Iterator[Row]:
        self._all += super().feed(chunk)
        return iter(())

    def finish(self) -> Iterator[Row]:
        last = [*super().finish()]
        yield from [Problem("INCOMPLETE", "")] if any(not _is_json(row) for row in last) else [*self._all, *last]


class HoldsLongRows(Lines):
    def __init__(self, limit: int) -> None:
        super().__init__(1 << 30)
        self._most = limit

    def feed(self, chunk: bytes) -> Iterator[Row]:
        for row in super().feed(chunk):
            yield Problem("TOO_LARGE", "") if isinstance(row, bytes) and len(row) > self._most else row


class Shared(Ndjson):
    """One splitter for all bodies."""

    _one: ClassVar[Lines] = Lines(1 << 16)

    def splitter(self, limit: int) -> Lines:  # noqa: ARG002
        return self._one


FORMATS: list[Broken] = [
    (NoSuffixes, "test_the_class_satisfies_its_port"),
    (a_format(LosesLast), "test_a_body_gives_its_rows"),
    (a_format(ChunksAreBodies), "test_the_rows_are_the_same_however_the_body_is_cut"),
    (Shared, "test_two_bodies_at_a_time_do_not_mix"),
    (a_format(Raises), "test_no_body_makes_it_raise"),
    (a_format(AllOrNothing), "test_a_body_that_breaks_off_keeps_the_rows_before"),
    (a_format(lambda _: Lines(1 << 30)), "test_a_row_that_is_too_long_is_a_problem"),
    (a_format(HoldsLongRows), "test_a_row_that_is_too_long_is_not_held"),
    (a_format(closing_once(Lines)), "test_closing_twice_is_harmless"),
]


@pytest.mark.parametrize("broken", FORMATS, ids=str)
def test_the_suite_of_formats_notices(broken: Broken) -> None:
    run(test_formats_builtin.TestNdjson, broken)


def test_every_promise_of_the_suite_is_broken_here() -> None:
    assert promises_of(FormatSuite) == {test for _, test in FORMATS}


def _is_json(row: Row) -> bool:
    try:
        return isinstance(row, bytes) and orjson.loads(row) is not None
    except orjson.JSONDecodeError:
        return False
