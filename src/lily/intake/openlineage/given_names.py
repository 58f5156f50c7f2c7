"""What the SQL of a run may call the datasets of its event."""

from collections.abc import Iterator, Sequence

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.facets import Json
from lily.intake.openlineage.naming import DatasetName, name_in_sql
from lily.intake.openlineage.symlinks import LOCATION, GivenName, Symlinks
from lily.model.values import Checker


class GivenNames:
    """SQL names the tables of a catalogue, also where the event names their locations and has the tables as
    symlinks."""

    def __init__(
        self, collector: AssetCollector, symlinks: Symlinks, inputs: Sequence[Json], outputs: Sequence[Json]
    ) -> None:
        self._collector, self._symlinks = collector, symlinks
        self.inputs, self.outputs = inputs, outputs

    def in_sql(self) -> dict[str, str]:
        """The qualified names of the datasets, by the names that SQL may have for them. The names of tables come before
        those of locations; a name that a dataset has in the event is that of no other."""
        named = [(dataset, found) for dataset in self._all() if (found := self._named(dataset)) is not None]
        names: dict[str, str] = {}
        for dataset, found in named:
            tables = self._symlinks.tables.get(found.qualified_name, ())
            spelled = [_spelled(table) for table in tables]
            for name in (*spelled, name_in_sql(str(dataset.get("namespace") or ""), dataset["name"]), dataset["name"]):
                names.setdefault(name, found.qualified_name)
        return names | {dataset["name"]: found.qualified_name for dataset, found in named}

    def table(self, dataset: Json) -> GivenName:
        """The dataset as SQL names it."""
        named = self._named(dataset)
        tables = self._symlinks.tables.get(named.qualified_name, ()) if named is not None else ()
        found = tables[0] if tables else _own(dataset, named)
        return found._replace(name=_spelled(found))

    def namespace(self, platform: Sequence[Json]) -> str:
        """That of tables which the event does not name: of the first of these datasets that is a table, or else of any
        dataset that is one."""
        first = [self.table(dataset) for dataset in platform]
        tables = (table for table in (*first, *map(self.table, self._all())) if table.named.entity_type != LOCATION)
        return next((table.namespace for table in (*tables, *first)), "")

    def _all(self) -> Iterator[Json]:
        yield from self.inputs
        yield from self.outputs

    def _named(self, dataset: Json) -> DatasetName | None:
        return self._collector.dataset_name(Checker(), dataset, "")


def _own(dataset: Json, named: DatasetName | None) -> GivenName:
    name = str(dataset.get("name"))
    return GivenName(str(dataset.get("namespace") or ""), name, named or DatasetName(name, name, LOCATION))


def _spelled(given: GivenName) -> str:
    return name_in_sql(given.namespace, given.name)
