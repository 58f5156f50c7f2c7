"""The edges that one event claims: from datasets to datasets, and from columns to columns.

A job is not a node between them. If it were, a job that reads ten tables and writes ten would connect all of them, and
every path would be twice as long. The job is the claimant of the edges. Only an explicit lineage facet makes it an end
of an edge, where the data does not come from a dataset or does not go to one.
"""

from collections.abc import Iterable
from itertools import accumulate

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.explicit_lineage import Explained
from lily.intake.openlineage.flows import End, Flow
from lily.model import ids
from lily.model.edges import DERIVED_FROM, INFLUENCES, MAX_CLAIMS, Claim, EdgeKey
from lily.model.values import MAX_QUALIFIED_NAME, Checker

MAX_NAMES = 256 << 10  # bytes: the event with its claims has to fit into one record of the log


class EdgeClaims:
    """An edge that is claimed more than once is masked only if every claim masks it."""

    def __init__(self, collector: AssetCollector) -> None:
        self._collector = collector
        self._masking: dict[EdgeKey, bool] = {}
        self._influenced: dict[tuple[str, str], None] = {}  # datasets, by columns that only decide about rows or values
        self._explained: dict[str, None] = {}
        self._named: dict[str, None] = {}

    def claims(self) -> tuple[Claim, ...]:
        for start, end in self._influenced:
            if EdgeKey(start, end, DERIVED_FROM) not in self._masking:
                self._masking[EdgeKey(start, end, INFLUENCES)] = False
        if len(self._masking) > MAX_CLAIMS:
            described = (
                f"the event claims {len(self._masking)} edges, more than {MAX_CLAIMS}; send one event per output"
            )
            self._collector.checker.refuse("TOO_LONG", described, "outputs")
            return ()
        return tuple(map(Claim, self._masking, self._masking.values()))

    def explained(self) -> tuple[str, ...]:
        """Ids of what a lineage facet explains in full."""
        return tuple(map(self._collector.id, self._explained))

    def sources(self) -> frozenset[str]:
        """Ids of all that an edge leads from."""
        return frozenset(key.from_id for key in self._masking).union(start for start, _ in self._influenced)

    def names(self) -> tuple[str, ...]:
        """Qualified names of ends that the event does not state, as many as fit."""
        names = [name for name in self._named if name not in self._collector.stated and _is_name(name)]
        lengths = accumulate(len(name.encode()) for name in names)
        return tuple(name for name, length in zip(names, lengths, strict=True) if length <= MAX_NAMES)

    def explain(self, explained: Explained | None) -> None:
        if explained is not None:
            self.add(explained.flows, explained.targets)
            self._explained |= dict.fromkeys(target.of.qualified_name for target in explained.targets)

    def equate(self, flows: Iterable[Flow]) -> None:
        """Flows between names of one dataset. Columns of another name are not stated, because they need not exist: they
        only have names."""
        for source, target, kind, masking in flows:
            if source.field is None:
                source.mention(self._collector)
            else:
                self._named[source.qualified_name] = None
            self._claim(source.qualified_name, target.qualified_name, kind, masking=masking)

    def add(self, flows: Iterable[Flow], targets: Iterable[End]) -> None:
        """`targets` have been described, even if nothing flows into them."""
        for target in targets:
            target.mention(self._collector)
        datasets: dict[tuple[str, str, str], None] = {}  # few, compared with the columns
        for source, target, kind, masking in flows:
            source.mention(self._collector)
            self._claim(source.qualified_name, target.qualified_name, kind, masking=masking)
            if source.field is not None or target.field is not None:
                datasets[source.of.qualified_name, target.of.qualified_name, kind] = None
        for start, end, kind in datasets:
            self._between_datasets(start, end, kind)

    def _claim(self, start: str, end: str, kind: str, *, masking: bool) -> None:
        if start != end:  # a table that a job both reads and writes is not derived from itself
            key = EdgeKey(self._collector.id(start), self._collector.id(end), kind)
            self._masking[key] = masking and self._masking.get(key, True)

    def _between_datasets(self, start: str, end: str, kind: str) -> None:
        """What holds for a column holds for its dataset, but other columns may not be masked."""
        if start == end:
            return
        start, end = self._collector.id(start), self._collector.id(end)
        if kind == INFLUENCES:
            self._influenced[start, end] = None
        else:
            self._masking[EdgeKey(start, end, kind)] = False


def _is_name(name: str) -> bool:
    """Whether an asset can have the name: that of another dataset may be longer, with the column's."""
    return Checker().name(name, "", MAX_QUALIFIED_NAME) is not None and not ids.looks_like_uuid(name)
