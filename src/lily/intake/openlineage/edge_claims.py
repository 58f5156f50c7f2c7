"""The edges that one event claims: from datasets to datasets, and from columns to columns.

A job is not a node between them. If it were, a job that reads ten tables and writes ten would connect all of them, and
every path would be twice as long. The job is the claimant of the edges.
"""

from collections.abc import Iterable

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.flows import End, Flow
from lily.model.edges import DERIVED_FROM, MAX_CLAIMS, Claim, EdgeKey


class EdgeClaims:
    """An edge that is claimed more than once is masked only if every claim masks it."""

    def __init__(self, collector: AssetCollector) -> None:
        self._collector = collector
        self._masking: dict[EdgeKey, bool] = {}

    def claims(self) -> tuple[Claim, ...]:
        if len(self._masking) > MAX_CLAIMS:
            self._collector.checker.refuse("TOO_LONG", _too_many(len(self._masking)), "outputs")
            return ()
        return tuple(map(Claim, self._masking, self._masking.values()))

    def between(self, inputs: list[str], outputs: list[str]) -> None:
        """Every output is derived from every input."""
        if len(inputs) * len(outputs) > MAX_CLAIMS:
            self._collector.checker.refuse("TOO_LONG", _too_many(len(inputs) * len(outputs)), "outputs")
            return
        for output in outputs:
            for input_ in inputs:
                self._claim(input_, output, DERIVED_FROM, masking=False)

    def add(self, flows: Iterable[Flow], targets: Iterable[End]) -> None:
        """`targets` have been described, even if nothing flows into them."""
        for target in targets:
            target.mention(self._collector)
        for source, target, kind, masking in flows:
            source.mention(self._collector)
            self._claim(source.qualified_name, target.qualified_name, kind, masking=masking)

    def _claim(self, start: str, end: str, kind: str, *, masking: bool) -> None:
        if start != end:  # a table that a job both reads and writes is not derived from itself
            key = EdgeKey(self._collector.id(start), self._collector.id(end), kind)
            self._masking[key] = masking and self._masking.get(key, True)


def _too_many(count: int) -> str:
    return f"the event claims {count} edges, more than {MAX_CLAIMS}; send one event per output"
