"""The behaviour of a transform."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from lily.model.errors import Refused
from lily.plugins.connectors import SourceAsset, SourceEdge
from lily.plugins.groups import TRANSFORMS
from lily.testing.suite import ConfiguredSuite, failure

Stated = SourceAsset | SourceEdge

# What real sources state, too.
ODD = (
    SourceAsset("table", {}),
    SourceAsset("table", {"name": None, "tags": None}),
    SourceAsset("column", {"name": "ä" * 500, "qualified_name": "x." + "y" * 1000, "tags": []}),
    SourceAsset("table", {"name": 7, "qualified_name": ["not", "a", "name"]}, operation="delete"),
    SourceAsset("", {"qualified_name": "0190a5b0-7b1e-8c3d-9e4f-0123456789ab", "parent": None}, time="yesterday"),
    SourceEdge("", ""),
    SourceEdge("0190a5b0-7b1e-8c3d-9e4f-0123456789ab", "a.b", "used-in", masking=True),
)


@dataclass(frozen=True)
class Example:
    """A statement, and the result of transforming it."""

    stated: Stated
    expected: Sequence[Stated]


class TransformSuite(ConfiguredSuite):
    """Override `settings` and `examples`."""

    group = TRANSFORMS

    def examples(self) -> Sequence[Example]:
        raise NotImplementedError("return statements with their results: at least one that changes")

    def test_a_statement_becomes_what_was_expected(self) -> None:
        examples = self.examples()
        assert any([example.stated] != list(example.expected) for example in examples), "give an example that changes"
        for example in examples:
            assert _apply(self.made(), example.stated) == list(example.expected), f"of {example.stated}"

    def test_order_and_repetition_do_not_matter(self) -> None:
        stated = [example.stated for example in self.examples()]
        one, other = self.made(), self.made()
        forwards = [_apply(one, each) for each in stated]
        assert forwards == [_apply(one, each) for each in stated], "the same statements again became something else"
        backwards = [_apply(other, each) for each in reversed(stated)]
        assert forwards == backwards[::-1], "the same statements in another order became something else"

    def test_a_statement_is_not_modified(self) -> None:
        for example in self.examples():
            given = deepcopy(example.stated)
            _results(self.made(), given)
            assert given == example.stated, f"the transform modified {example.stated}"

    def test_an_odd_statement_is_passed_on_or_refused(self) -> None:
        """Lily validates statements itself; a transform that needs a field raises Refused if it is missing."""
        transform = self.made()
        for stated in ODD:
            error = failure(_apply, transform, stated)
            assert error is None or isinstance(error, Refused), f"{error!r} of {stated}; raise Refused"


def _apply(transform: Any, stated: Stated) -> list[Stated]:
    """On a copy, so that a transform that modifies it does not spoil the other tests."""
    return _results(transform, deepcopy(stated))


def _results(transform: Any, stated: Stated) -> list[Stated]:
    return list(transform.asset(stated) if isinstance(stated, SourceAsset) else transform.edge(stated))
