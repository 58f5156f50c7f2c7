"""Every promise that the suite of transforms tests is broken here once, and the suite notices."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lily.connect.transforms.rename import Rename
from lily.plugins import SourceAsset, SourceEdge
from lily.testing import TransformSuite
from tests.unit import test_suites_on_plugins
from tests.unit.suites.broken import Broken, Careless, promises_of, run


class NoEdges:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass

    def asset(self, stated: SourceAsset) -> list[SourceAsset]:
        return [stated]


class Remembers(Rename):
    first: SourceAsset | None = None

    def asset(self, stated: SourceAsset) -> Iterator[SourceAsset]:
        self.first = self.first or stated
        yield self.first

    def edge(self, stated: SourceEdge) -> Iterator[SourceEdge]:
        yield stated if self.first is None else replace(stated, target="after an asset")


class Modifies(Rename):
    def asset(self, stated: SourceAsset) -> Iterator[SourceAsset]:
        assert isinstance(stated.attributes, dict)
        stated.attributes["seen"] = True
        yield stated


class Assumes(Rename):
    def asset(self, stated: SourceAsset) -> Iterator[SourceAsset]:
        yield replace(stated, attributes={"name": stated.attributes["name"].upper()})


class CarelessRename(Rename):
    Config = Careless  # type: ignore[assignment]


TRANSFORMS: list[Broken] = [
    (NoEdges, "test_the_class_satisfies_its_port"),
    (CarelessRename, "test_a_misspelt_setting_is_refused"),
    (Modifies, "test_a_statement_becomes_what_was_expected"),
    (Remembers, "test_order_and_repetition_do_not_matter"),
    (Modifies, "test_a_statement_is_not_modified"),
    (Assumes, "test_an_odd_statement_is_passed_on_or_refused"),
]


@pytest.mark.parametrize("broken", TRANSFORMS, ids=str)
def test_the_suite_of_transforms_notices(broken: Broken) -> None:
    run(test_suites_on_plugins.TestRename, broken)


def test_every_promise_of_the_suite_is_broken_here() -> None:
    assert promises_of(TransformSuite) == {test for _, test in TRANSFORMS}
