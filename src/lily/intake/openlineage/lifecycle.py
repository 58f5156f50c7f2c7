"""The facet lifecycleStateChange: a dataset that was dropped, or that has another name now.

The other changes (ALTER, CREATE, OVERWRITE, TRUNCATE) leave the asset as it is, and are kept with the run.
"""

from typing import NamedTuple

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.datasets import Stated
from lily.intake.openlineage.facets import Json, is_deleted
from lily.intake.openlineage.naming import DatasetName
from lily.model.edges import DERIVED_FROM, EdgeKey
from lily.model.values import Checker

CHANGES = frozenset({"ALTER", "CREATE", "DROP", "OVERWRITE", "RENAME", "TRUNCATE"})


class Lifecycle(NamedTuple):
    change: str
    previous: DatasetName | None = None


class LifecycleChanges:
    """Applies the changes of one event. `dropped` are datasets that no longer exist, `renamed` the edges from the
    assets of an old name to those of the new one."""

    def __init__(self, collector: AssetCollector) -> None:
        self._collector = collector
        self.dropped: list[DatasetName] = []
        self.renamed: list[EdgeKey] = []

    def apply(self, dataset: Stated) -> None:
        found = dataset.facets.read("lifecycleStateChange", self._parse)
        if found is None:
            return
        if found.change == "DROP":
            self._drop(dataset.named)
        elif found.previous is not None and found.previous.qualified_name != dataset.named.qualified_name:
            self._rename(found.previous, dataset)

    def _parse(self, checker: Checker, facet: Json, where: str) -> Lifecycle | None:
        if is_deleted(facet):
            return None
        change = str(facet.get("lifecycleStateChange")).upper()
        if change not in CHANGES:
            described = f"{where}.lifecycleStateChange must be one of {', '.join(sorted(CHANGES))}"
            checker.refuse("INVALID_VALUE", described, f"{where}.lifecycleStateChange")
        previous = facet.get("previousIdentifier")
        if change != "RENAME" or previous is None:
            return Lifecycle(change)
        where = f"{where}.previousIdentifier"
        if not isinstance(previous, dict):
            checker.refuse("INVALID_TYPE", f"{where} must be an object", where)
            return None
        return Lifecycle(change, self._collector.dataset_name(checker, previous, where))

    def _drop(self, named: DatasetName) -> None:
        self._collector.deleted.add(named.qualified_name)
        self.dropped.append(named)

    def _rename(self, previous: DatasetName, dataset: Stated) -> None:
        """The old name is deleted, and its tags pass on to the new one: what it holds is the same."""
        collector, named = self._collector, dataset.named
        about = {"name": previous.title, "renamed_to": named.qualified_name}
        collector.state(previous.qualified_name, previous.entity_type, about)
        collector.state(named.qualified_name, named.entity_type, {"renamed_from": previous.qualified_name})
        self._drop(previous)
        pairs = [(previous.qualified_name, named.qualified_name)]
        pairs += [
            (f"{previous.qualified_name}.{column.removeprefix(f'{named.qualified_name}.')}", column)
            for column in dataset.columns or ()
        ]
        self.renamed += [EdgeKey(collector.id(old), collector.id(new), DERIVED_FROM) for old, new in pairs]
