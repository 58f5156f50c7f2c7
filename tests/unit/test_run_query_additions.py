"""What the analysis of a run's SQL adds to the claims of its event."""

import pytest

from lily.intake.sql.protocol import AnalysisResult, Edge
from lily.model import ids
from lily.model.edges import DERIVED_FROM, EdgeKey
from lily.reactions.run_queries.additions import with_claims
from lily.reactions.run_queries.stated_columns import with_stated
from tests.openlineage_words import column_lineage, converted, dataset, field, run_event

HASHED = field("a", "mail", {"type": "DIRECT", "masking": True})


def key(start: str, end: str) -> EdgeKey:
    return EdgeKey(ids.asset_id("t", start), ids.asset_id("t", end), DERIVED_FROM)


def test_an_edge_that_the_producer_states_as_masked_stays_masked() -> None:
    """SQL of a run with `*` is analyzed beside columnLineage, and does not know which functions mask."""
    outputs = [dataset("b", columnLineage=column_lineage(hash=[HASHED]))]
    job = {"namespace": "n", "name": "j", "facets": {"sql": {"query": "select *, sha2(mail) as hash from a"}}}
    event = converted(run_event(job=job, inputs=[dataset("a")], outputs=outputs)).claims
    assert event is not None
    pairs = [("a", "b"), ("a.mail", "b.hash"), ("a.mail", "b.mail")]
    added = with_claims(event, AnalysisResult(1, {}, [Edge(*pair, DERIVED_FROM) for pair in pairs], understood=1))
    assert added is not None
    assert {claim.key: claim.masking for claim in added.claims} == {
        key("a", "b"): False,
        key("a.mail", "b.hash"): True,
        key("a.mail", "b.mail"): False,
    }


@pytest.mark.parametrize(("partial", "expected"), [(0, ["a.x"]), (1, ["a.x", "a.y"])])
def test_what_the_producer_states_loosely_counts_unless_the_query_is_understood(
    partial: int, expected: list[str]
) -> None:
    known = AnalysisResult(1, {}, [Edge("a.x", "b.x", DERIVED_FROM)], made={"b": ["x"]}, partial=partial)
    found = with_stated(known, {"b.x": ["a.x", "a.y"]}, ["a", "b"], ())
    assert [edge.from_name for edge in found.edges] == expected


def test_a_query_that_makes_another_table_decides_nothing_about_this_one() -> None:
    found = with_stated(AnalysisResult(1, {}, made={"c": ["x"]}), {"b.x": ["a.x"]}, ["a", "b", "c"], ())
    assert found.edges == [Edge("a.x", "b.x", DERIVED_FROM)]


def test_a_column_that_the_schema_has_and_the_query_does_not_keeps_its_sources() -> None:
    stated = {"b.x": ["a.y"], "b.y": ["a.y"], "b.z": ["a.z"]}
    found = with_stated(AnalysisResult(1, {}, made={"b": ["X"]}), stated, ["a", "b"], {"b.x", "b.y"})
    assert found.edges == [Edge("a.y", "b.y", DERIVED_FROM)]


@pytest.mark.parametrize(("combines", "expected"), [(False, {"b.y"}), (True, {"b.x", "b.y"})])
def test_a_column_that_is_named_beside_a_star_is_understood_unless_queries_are_combined(
    expected: set[str], *, combines: bool
) -> None:
    found = AnalysisResult(1, {}, partial=1, named={"b": ["x"]})
    stated = {"b.x": ["a.x"], "b.y": ["a.y"]}
    added = with_stated(found, stated, ["a", "b"], (), combines=combines)
    assert {edge.to_name for edge in added.edges} == expected
