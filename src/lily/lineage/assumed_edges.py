"""Edges between the inputs and outputs of a run where nothing better is stated."""

from collections.abc import Iterable

from lily.model.edges import DERIVED_FROM, NOT_CONTENT, Claim, EdgeKey, RunDatasets


def assumed_claims(datasets: RunDatasets, stated: Iterable[EdgeKey]) -> list[Claim]:
    """Every output is derived from every input, except outputs that are explained, and those that are stated to be
    derived from at least one of the inputs. A statement that names none of them does not count: producers take a
    common table expression of a query for a table."""
    inputs = frozenset(datasets.inputs)
    explained = {key.to_id for key in stated if key.from_id in inputs and key.type not in NOT_CONTENT}.union(
        datasets.explained
    )
    return [
        Claim(EdgeKey(start, end, DERIVED_FROM), assumed=True)
        for end in datasets.outputs
        if end not in explained
        for start in datasets.inputs
        if start != end
    ]
