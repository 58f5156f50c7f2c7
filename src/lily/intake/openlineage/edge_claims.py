"""The edges that one event claims: from datasets to datasets, and from columns to columns.

A job is not a node between them. If it were, a job that reads ten tables and writes ten would connect all of them, and
every path would be twice as long. The job is the claimant of the edges.
"""

from lily.intake.openlineage import facets as facet
from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.facets import Json
from lily.model.edges import DERIVED_FROM, INFLUENCES, MAX_CLAIMS, Claim, EdgeKey
from lily.model.values import MAX_ITEMS


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

    def of_columns(self, output: str, holder: Json, entity: str) -> None:
        """Adds the edges of an output's columnLineage facet."""
        checker = self._collector.checker
        facets = facet.facets_of(checker, holder, entity)
        lineage = facet.facet_of(checker, facets, "columnLineage", entity)
        if lineage is None or facet.is_deleted(lineage):
            return
        where = f"{entity}.facets.columnLineage"
        fields = lineage.get("fields")
        if fields is not None and not isinstance(fields, dict):
            checker.refuse("INVALID_TYPE", f"{where}.fields must be an object", f"{where}.fields")
            return
        for field, about in (fields or {}).items():
            self._of_column(output, field, about, f"{where}.fields")
        for source in facet.objects(checker, lineage.get("dataset"), f"{where}.dataset"):
            if (column := self._source(source, f"{where}.dataset")) is not None:
                self._claim(column, output, INFLUENCES, masking=_type_and_masking(source)[1])

    def _of_column(self, output: str, field: str, about: Json, where: str) -> None:
        checker = self._collector.checker
        target = self._collector.column(output, field, where)
        if not isinstance(about, dict):
            checker.refuse("INVALID_TYPE", "each field of columnLineage must be an object", where)
            return
        if target is None:
            return
        self._collector.mention(target[0], "column", {"name": target[1], "parent": output})
        for source in facet.objects(checker, about.get("inputFields"), f"{where}.inputFields"):
            column = self._source(source, f"{where}.inputFields")
            if column is not None:
                kind, masking = _type_and_masking(source)
                self._claim(column, target[0], kind, masking=masking)

    def _source(self, source: Json, entity: str) -> str | None:
        """The column that an input field refers to. States that it and its dataset exist, and nothing else."""
        named = self._collector.dataset_name(source, entity)
        if named is None:
            return None
        found = self._collector.column(named.qualified_name, source.get("field"), f"{entity}.field")
        if found is None:
            return None
        column, name = found
        if column not in self._collector.stated:
            self._collector.mention(named.qualified_name, named.entity_type, {"name": named.title})
            self._collector.mention(column, "column", {"name": name, "parent": named.qualified_name})
        return column

    def _claim(self, start: str, end: str, kind: str, *, masking: bool) -> None:
        if start != end:  # a table that a job both reads and writes is not derived from itself
            key = EdgeKey(self._collector.id(start), self._collector.id(end), kind)
            self._masking[key] = masking and self._masking.get(key, True)


def _type_and_masking(source: Json) -> tuple[str, bool]:
    """The type of the edge, and whether it masks its input: only if every transformation does, because even an
    aggregate such as max() shows a real value."""
    transformations = source.get("transformations")
    if not isinstance(transformations, list) or not transformations or len(transformations) > MAX_ITEMS:
        return DERIVED_FROM, False
    steps = [step for step in transformations if isinstance(step, dict)]
    indirect = all(str(step.get("type", "")).upper() == "INDIRECT" for step in steps)
    masking = len(steps) == len(transformations) and all(step.get("masking") is True for step in steps)
    return INFLUENCES if indirect and steps else DERIVED_FROM, masking


def _too_many(count: int) -> str:
    return f"the event claims {count} edges, more than {MAX_CLAIMS}; send one event per output"
