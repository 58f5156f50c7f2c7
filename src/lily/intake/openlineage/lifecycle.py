"""The facet lifecycleStateChange: a dataset that was dropped, or that has another name now.

The other changes (ALTER, CREATE, OVERWRITE, TRUNCATE) leave the asset as it is, and are kept with the run.
"""

from typing import NamedTuple

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.datasets import Stated
from lily.intake.openlineage.facets import Json, is_deleted
from lily.intake.openlineage.naming import DatasetName
from lily.model.edges import DERIVED_FROM, EdgeKey
from lily.model.errors import Problem
from lily.model.table_changes import NO_CHANGES, Renames, SenderLimits, TableChanges
from lily.model.values import Checker

CHANGES = frozenset({"ALTER", "CREATE", "DROP", "OVERWRITE", "RENAME", "TRUNCATE"})


class Lifecycle(NamedTuple):
    change: str
    previous: DatasetName | None = None


class LifecycleChanges:
    """Applies the changes of one event: `apply` takes its datasets in their order, `finish` applies what they add up
    to. `dropped` are datasets that no longer exist, `renamed` the edges from assets of old names to those of new ones.
    A sender without `metadata:write` deletes only what nobody else has stated, which the worker decides."""

    def __init__(self, collector: AssetCollector) -> None:
        self._collector = collector
        self._renames = Renames()
        self._named: dict[str, DatasetName] = {}
        self._columns: dict[str, tuple[str, ...]] = {}  # of the new names, as far as a schema is stated
        self._drops: dict[str, DatasetName] = {}
        self.dropped: list[DatasetName] = []
        self.renamed: list[EdgeKey] = []

    def apply(self, dataset: Stated) -> None:
        found = dataset.facets.read("lifecycleStateChange", self._parse)
        if found is None:
            return
        named = dataset.named
        self._columns[named.qualified_name] = tuple(dataset.columns or ())
        if found.change == "DROP":
            self._drops[named.qualified_name] = named
        elif found.previous is not None and found.previous.qualified_name != named.qualified_name:
            for one in (found.previous, named):
                self._named.setdefault(one.qualified_name, one)
            self._renames.add(found.previous.qualified_name, named.qualified_name)

    def finish(self) -> TableChanges:
        """What the worker has to do."""
        moved = self._renames.moved()
        for old, new in moved:
            self._move(old, new)
        gone = self._drops | {name: self._named[name] for name in self._renames.gone()}
        existing = {new for _, new in moved}
        self.dropped = [named for name, named in gone.items() if name not in existing]
        names = tuple(named.qualified_name for named in self.dropped)
        if self._collector.describes:
            self._collector.deleted.update(names, *(self._columns.get(name, ()) for name in names))
            return TableChanges(moved) if moved else NO_CHANGES
        if names:
            self._warn(names)
        return TableChanges(moved, names, SenderLimits(None, own_only=True)) if moved or names else NO_CHANGES

    def _warn(self, names: tuple[str, ...]) -> None:
        described = (
            "a token without the scope metadata:write deletes only what nobody else has stated; what others have "
            "stated stays"
        )
        self._collector.warnings += [Problem("FORBIDDEN", described, name) for name in names]

    def _move(self, old: str, new: str) -> None:
        """The tags of the old name pass on to the new one: what it holds is the same."""
        collector, previous, named = self._collector, self._named[old], self._named[new]
        if collector.describes:
            collector.state(old, previous.entity_type, {"name": previous.title, "renamed_to": new})
        collector.state(new, named.entity_type, {"name": named.title, "renamed_from": old})
        columns = self._columns.get(new, ())
        pairs = [(old, new), *((f"{old}{column.removeprefix(new)}", column) for column in columns)]
        self.renamed += [EdgeKey(collector.id(one), collector.id(other), DERIVED_FROM) for one, other in pairs]

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
