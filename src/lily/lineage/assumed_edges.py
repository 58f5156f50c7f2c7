"""Edges between the inputs and outputs of a run where nothing better is stated."""

from collections.abc import Iterable, Sequence

from lily.model.edges import DERIVED_FROM, NOT_CONTENT, Claim, EdgeKey, RunDatasets

# Of one run. A name in an event costs some 60 bytes and may add a thousand edges: without a limit, one record of a few
# kilobytes would occupy the pipeline for seconds. And what reads and writes seventy datasets explains nothing that way.
MAX_ASSUMED = 5_000


def assumed_claims(datasets: RunDatasets, stated: Iterable[EdgeKey]) -> list[Claim]:
    """Every unexplained output is derived from every input. None of them if these would be more than MAX_ASSUMED."""
    outputs = unexplained(datasets, stated)
    if are_too_many(datasets, outputs):
        return []
    return [
        Claim(EdgeKey(start, end, DERIVED_FROM), assumed=True)
        for end in outputs
        for start in datasets.inputs
        if start != end
    ]


def are_too_many(datasets: RunDatasets, outputs: Sequence[str]) -> bool:
    """Whether nothing is assumed about these outputs."""
    return len(outputs) * len(datasets.inputs) > MAX_ASSUMED


def unexplained(datasets: RunDatasets, stated: Iterable[EdgeKey]) -> list[str]:
    """The outputs that are not explained, and not stated to be derived from at least one of the inputs. A statement
    that names none of them does not count: producers take a common table expression of a query for a table."""
    inputs = frozenset(datasets.inputs)
    explained = {key.to_id for key in stated if key.from_id in inputs and key.type not in NOT_CONTENT}.union(
        datasets.explained
    )
    return [output for output in datasets.outputs if output not in explained]
