"""The flows of a columnLineage facet: into the columns of its dataset, and from columns that only decide about rows."""

from collections.abc import Collection

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.common_tables import CommonTables
from lily.intake.openlineage.facets import MAX_ENTRIES, Json, is_deleted, objects
from lily.intake.openlineage.flows import End, Flow, column_of, flow_kind, into_whole, says_how, whole
from lily.intake.openlineage.naming import DatasetName
from lily.model.edges import INFLUENCES
from lily.model.values import Checker


class ColumnLineage:
    """Parses the facet of one output. Some producers take the common table expressions of their SQL for datasets, or
    state fields that the output does not have: flows from the former are left out, those into the latter are flows into
    the output as a whole, and `is_doubtful` is set. `columns` are the qualified names of those that the output has; if
    there are none, any field may be one. `loose` are flows of which the facet does not say how they use their source,
    and are not among those that are returned."""

    def __init__(
        self,
        collector: AssetCollector,
        output: DatasetName,
        common_tables: CommonTables,
        columns: Collection[str] = (),
    ) -> None:
        self._collector, self._output, self._common_tables = collector, output, common_tables
        self._columns = {name.lower() for name in columns}
        self.targets: list[End] = []
        self.loose: list[Flow] = []
        self.is_doubtful = False

    def __call__(self, checker: Checker, facet: Json, where: str) -> list[Flow]:
        if is_deleted(facet):
            return []
        fields = facet.get("fields")
        if fields is not None and not isinstance(fields, dict):
            checker.refuse("INVALID_TYPE", f"{where}.fields must be an object", f"{where}.fields")
            return []
        if len(fields or ()) > MAX_ENTRIES:
            checker.refuse(
                "TOO_LONG", f"{where}.fields must not have more than {MAX_ENTRIES} entries", f"{where}.fields"
            )
            return []
        found = [flow for field, about in (fields or {}).items() for flow in self._into(checker, field, about, where)]
        where, target = f"{where}.dataset", whole(self._output)
        found += [
            Flow(column, target, INFLUENCES, flow_kind(source).masking)
            for source in objects(checker, facet.get("dataset"), where)
            if (column := self._source(checker, source, where)) is not None
        ]
        return found

    def _into(self, checker: Checker, field: str, about: Json, where: str) -> list[Flow]:
        where = f"{where}.fields"
        target = column_of(checker, self._output, field, where)
        if not isinstance(about, dict):
            checker.refuse("INVALID_TYPE", "each field of columnLineage must be an object", where)
            return []
        if target is None:
            return []
        where, is_column = f"{where}.inputFields", self._has(target)
        if is_column:
            self.targets.append(target)
        else:
            self.is_doubtful = True
        flows = [
            (says_how(source), Flow(column, target, *flow_kind(source)))
            for source in objects(checker, about.get("inputFields"), where)
            if (column := self._source(checker, source, where)) is not None
        ]
        if not is_column:
            return [into_whole(flow) for _, flow in flows]
        self.loose += [flow for is_certain, flow in flows if not is_certain]
        return [flow for is_certain, flow in flows if is_certain]

    def _has(self, target: End) -> bool:
        """Whether the output has the column, or one that it may be a nested field of."""
        top = f"{self._output.qualified_name}.{str(target.field).partition('.')[0]}"
        return not self._columns or not self._columns.isdisjoint({target.qualified_name.lower(), top.lower()})

    def _source(self, checker: Checker, source: Json, where: str) -> End | None:
        if source.get("name") in self._common_tables:
            self.is_doubtful = True
            return None
        named = self._collector.dataset_name(checker, source, where)
        return None if named is None else column_of(checker, named, source.get("field"), f"{where}.field")
