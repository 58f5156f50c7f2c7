"""The SQL facet of a job: what it has to explain because the facets of the outputs do not (docs/decisions/0039)."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from lily.intake.openlineage.common_tables import CommonTables
from lily.intake.openlineage.datasets import Stated
from lily.intake.openlineage.facets import Json, is_deleted
from lily.intake.openlineage.given_names import GivenNames
from lily.model.errors import Problem
from lily.model.run_queries import MAX_TEXT, RunQuery, combines_queries, has_windows, selects_star
from lily.model.values import Checker

MAX_DIALECT = 64


class SqlFacet(NamedTuple):
    text: str
    dialect: str


def read_sql(job: Stated | None) -> SqlFacet | None:
    return None if job is None else job.facets.read("sql", _parsed)


def common_tables(sql: SqlFacet | None, datasets: Iterable[Json]) -> CommonTables:
    return CommonTables(sql.text, (dataset.get("name") for dataset in datasets)) if sql else CommonTables()


def is_covered(sql: SqlFacet | None, inputs: Iterable[str], sources: Collection[str], *, is_loose: bool) -> bool:
    """Whether columnLineage may be all that there is. Producers leave out the columns of `*`, and inputs that they
    could not resolve. Those whose columnLineage `is_loose` take the columns of all queries of a UNION for columns of
    the output, and those that only partition a window for its sources. All are ids; `sources` are those that edges lead
    from."""
    if sql is None:
        return True
    is_misread = is_loose and (combines_queries(sql.text) or has_windows(sql.text))
    is_doubtful = is_misread or selects_star(sql.text)
    return not is_doubtful and all(asset in sources for asset in inputs)


def run_query(sql: SqlFacet, given: GivenNames, explained: Sequence[bool], *, starts: bool) -> RunQuery | None:
    """None if all outputs are `explained`, or if no dataset of the event shows which platform the tables are of. If the
    event has no outputs, the query names what it writes itself. Of a run that `starts`, later events may name the
    datasets."""
    unexplained = [output for output, known in zip(given.outputs, explained, strict=True) if not known]
    platform = unexplained or ([] if given.outputs else given.inputs)
    if not platform and (given.outputs or not starts):
        return None
    target = given.table(unexplained[0]).name if len(unexplained) == 1 else ""
    return RunQuery(sql.text, sql.dialect, given.namespace(platform), given.in_sql(), target, complete=False)


def unexpanded(query: RunQuery) -> list[Problem]:
    if query.expands or not selects_star(query.text):
        return []
    described = "`*` is not expanded: reading the columns of its tables needs the scope metadata:read"
    return [Problem("FORBIDDEN", described, "job.facets.sql.query")]


def _parsed(checker: Checker, facet: Json, where: str) -> SqlFacet | None:
    text, dialect = facet.get("query"), facet.get("dialect")
    if is_deleted(facet):
        return None
    if not isinstance(text, str):
        checker.refuse("INVALID_TYPE", f"{where}.query must be text", f"{where}.query")
        return None
    if len(text) > MAX_TEXT:
        described = f"{where}.query must not exceed {MAX_TEXT} characters to be analyzed"
        checker.refuse("TOO_LONG", described, f"{where}.query")
        return None
    return SqlFacet(text, dialect[:MAX_DIALECT] if isinstance(dialect, str) else "")
