"""The edges of one event: datasets from datasets, columns from columns.

Jobs are not on the path: a job that reads ten tables and writes ten would join all of them, and a path would be twice
as long as the data's. The job is who claims the edges.
"""

from lily.intake.openlineage import facets as facet
from lily.intake.openlineage.facets import Json
from lily.intake.openlineage.gathering import Gathering
from lily.model.edges import MAX_CLAIMS, Claim, EdgeKey
from lily.model.values import MAX_ITEMS

DERIVED = "derived-from"
INFLUENCES = "influences"  # of a column that decides which rows there are, or which value, without being in it


class Claims:
    """An edge that is claimed twice is masked only where both say so."""

    def __init__(self, gathering: Gathering) -> None:
        self._gathering = gathering
        self._masking: dict[EdgeKey, bool] = {}

    def found(self) -> tuple[Claim, ...]:
        if len(self._masking) > MAX_CLAIMS:
            self._gathering.checker.refuse("TOO_LONG", _too_many(len(self._masking)), "outputs")
            return ()
        return tuple(map(Claim, self._masking, self._masking.values()))

    def between(self, inputs: list[str], outputs: list[str]) -> None:
        """Every output is derived from every input."""
        if len(inputs) * len(outputs) > MAX_CLAIMS:
            self._gathering.checker.refuse("TOO_LONG", _too_many(len(inputs) * len(outputs)), "outputs")
            return
        for output in outputs:
            for input_ in inputs:
                self._claim(input_, output, DERIVED, masking=False)

    def of_columns(self, output: str, holder: Json, entity: str) -> None:
        """What the columnLineage facet of an output says."""
        checker = self._gathering.checker
        facets = facet.facets_of(checker, holder, entity)
        told = facet.facet_of(checker, facets, "columnLineage", entity)
        if told is None or facet.is_taken_back(told):
            return
        where = f"{entity}.facets.columnLineage"
        fields = told.get("fields")
        if fields is not None and not isinstance(fields, dict):
            checker.refuse("INVALID_TYPE", f"{where}.fields must be an object", f"{where}.fields")
            return
        for field, about in (fields or {}).items():
            self._of_column(output, field, about, f"{where}.fields")
        for source in facet.objects(checker, told.get("dataset"), f"{where}.dataset"):
            if (column := self._source(source, f"{where}.dataset")) is not None:
                self._claim(column, output, INFLUENCES, masking=_passes_as(source)[1])

    def _of_column(self, output: str, field: str, about: Json, where: str) -> None:
        checker = self._gathering.checker
        target = self._gathering.column(output, field, where)
        if not isinstance(about, dict):
            checker.refuse("INVALID_TYPE", "a field of columnLineage must be an object", where)
            return
        if target is None:
            return
        self._gathering.exists(target[0], "column", {"name": target[1], "parent": output})
        for source in facet.objects(checker, about.get("inputFields"), f"{where}.inputFields"):
            column = self._source(source, f"{where}.inputFields")
            if column is not None:
                kind, masking = _passes_as(source)
                self._claim(column, target[0], kind, masking=masking)

    def _source(self, source: Json, entity: str) -> str | None:
        """The column an input field means; it and its dataset exist, whatever else is known of them."""
        named = self._gathering.named(source, entity)
        if named is None:
            return None
        found = self._gathering.column(named.qualified_name, source.get("field"), f"{entity}.field")
        if found is None:
            return None
        column, name = found
        if column not in self._gathering.stated:
            self._gathering.exists(named.qualified_name, named.entity_type, {"name": named.title})
            self._gathering.exists(column, "column", {"name": name, "parent": named.qualified_name})
        return column

    def _claim(self, start: str, end: str, kind: str, *, masking: bool) -> None:
        if start != end:  # a table that is read and written by the same job is no lineage of its own
            key = EdgeKey(self._gathering.id(start), self._gathering.id(end), kind)
            self._masking[key] = masking and self._masking.get(key, True)


def _passes_as(source: Json) -> tuple[str, bool]:
    """The type of the edge, and whether what passes is masked: only where every transformation says so, because an
    aggregate such as max() shows a real value too."""
    told = source.get("transformations")
    if not isinstance(told, list) or not told or len(told) > MAX_ITEMS:
        return DERIVED, False
    steps = [step for step in told if isinstance(step, dict)]
    indirect = all(str(step.get("type", "")).upper() == "INDIRECT" for step in steps)
    masking = len(steps) == len(told) and all(step.get("masking") is True for step in steps)
    return INFLUENCES if indirect and steps else DERIVED, masking


def _too_many(count: int) -> str:
    return f"the event claims {count} edges; one may claim {MAX_CLAIMS}: send an event for each output"
