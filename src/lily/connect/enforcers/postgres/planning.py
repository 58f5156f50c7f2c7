"""The whole target: which tables are enforced, which are given back, and what has to be known about it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from lily.connect.enforcers.postgres.catalogue import Catalogue, Kept, Relation
from lily.connect.enforcers.postgres.changes import Change, Present, change
from lily.connect.enforcers.postgres.comparison import Comparison
from lily.connect.enforcers.postgres.reports import report
from lily.connect.enforcers.postgres.roles import Roles
from lily.connect.enforcers.postgres.schemas import SchemaUsage
from lily.connect.enforcers.postgres.wanted.masks import BOOKKEEPING, Fixed, fixed_value
from lily.connect.enforcers.postgres.wanted.tables import Circumstances, WantedTable, masked_schema, wanted_table
from lily.plugins import Decision, Finding, Step
from lily.plugins.enforcers import Path

CheckFixed = Callable[[Collection[Fixed]], dict[Fixed, bool]]
CheckFilters = Callable[[Relation, Collection[str]], Collection[str]]


@dataclass(frozen=True, slots=True)
class Questions:
    """What only PostgreSQL knows: whether a value can have a type, and which row filters it does not accept."""

    fixed: CheckFixed
    filters: CheckFilters


class Planner:
    def __init__(self, catalogue: Catalogue, roles: Roles, suffix: str, questions: Questions) -> None:
        self._catalogue, self._roles, self._suffix, self._questions = catalogue, roles, suffix, questions
        self._by_path = {self._path(one): one for one in catalogue.relations}
        self._by_oid = {one.oid: one for one in catalogue.relations}
        self._result = Comparison()
        self._usage = SchemaUsage(catalogue, roles)

    def compare(self, decisions: Sequence[Decision]) -> Comparison:
        of_table = self._by_table(decisions)
        valid = self._questions.fixed(_fixed_values(of_table, self._by_path))
        enforced = [self._wanted(self._by_path[path], own, valid) for path, own in sorted(of_table.items())]
        changes = [self._changed(one) for one in (*enforced, *self._parts({one.relation.oid for one in enforced}))]
        self._add(self._usage.granted())
        for one in changes:
            self._add_change(one)
        self._give_back(of_table)
        self._add(self._usage.withdrawn())
        self._add(self._usage.dropped({self._present(one.relation).view_path[0] for one in enforced if one.view}))
        self._add(report(decisions, enforced, self._roles, self._catalogue.database))
        if self._result.steps and not self._catalogue.prepared:
            self._result.steps.insert(0, Step((), f"CREATE SCHEMA IF NOT EXISTS {BOOKKEEPING}"))
        return self._result

    def _path(self, relation: Relation) -> Path:
        return self._catalogue.database, relation.schema, relation.name

    def _by_table(self, decisions: Sequence[Decision]) -> dict[Path, list[Decision]]:
        found: dict[Path, list[Decision]] = defaultdict(list)
        for one in decisions:
            found[one.table].append(one)
        for path in sorted(found.keys() - self._by_path.keys()):
            del found[path]
            described = (
                "the database does not have it, or not in the configured schemas; decisions for it have no effect"
            )
            self._result.findings.append(Finding(".".join(path), described))
        for path in [path for path in found if self._is_part(self._by_path[path])]:
            del found[path]
            described = "it is a part of another table, whose decisions hold for it; read it through that table"
            self._result.findings.append(Finding(".".join(path), described))
        return found

    def _is_part(self, relation: Relation) -> bool:
        return relation.parent is not None and relation.parent in self._by_oid

    def _wanted(self, relation: Relation, decisions: Sequence[Decision], valid: dict[Fixed, bool]) -> WantedTable:
        kept = self._catalogue.kept.get(relation.oid)
        by_lily = kept is not None and bool(kept.policies_source)
        had = kept.row_security_before if kept is not None and by_lily else relation.row_security
        given = Circumstances(self._roles, valid, had, self._view_obstacle(relation))
        wanted = wanted_table(relation, decisions, given)
        if wanted.filters and change(wanted, self._present(relation), self._roles).deviations:
            bad = self._questions.filters(relation, wanted.filters)
            if bad:
                given = Circumstances(self._roles, valid, had, given.view_obstacle, bad)
                wanted = wanted_table(relation, decisions, given)
        return wanted

    def _view_obstacle(self, relation: Relation) -> str:
        name = masked_schema(relation.schema, self._suffix)
        schema = self._catalogue.schemas.get(name)
        return f"the schema {name} exists and is not Lily's; rename it" if schema and not schema.is_own else ""

    def _present(self, relation: Relation) -> Present:
        path = masked_schema(relation.schema, self._suffix), relation.name
        return Present(self._catalogue.kept.get(relation.oid), self._catalogue.views, path)

    def _changed(self, wanted: WantedTable) -> Change:
        self._usage.need(wanted.relation.schema, wanted.privileges)
        if wanted.view:
            self._usage.need(masked_schema(wanted.relation.schema, self._suffix), wanted.view_privileges)
        return change(wanted, self._present(wanted.relation), self._roles)

    def _parts(self, enforced: Collection[int]) -> Iterator[WantedTable]:
        """Partitions, and tables that inherit: nobody reads them but through the table that is enforced."""
        for relation in self._catalogue.relations:
            if self._is_part(relation) and self._root(relation) in enforced:
                yield WantedTable(relation, self._roles.exempt(relation.owner), had_row_security=relation.row_security)

    def _add(self, further: Comparison) -> None:
        self._result.steps += further.steps
        self._result.findings += further.findings
        self._result.deviations += further.deviations

    def _add_change(self, one: Change) -> None:
        path = self._path(one.relation)
        self._result.steps += [Step(path, statement) for statement in one.statements]
        self._result.deviations += [(path, found, expected) for found, expected in one.deviations]

    def _give_back(self, of_table: dict[Path, list[Decision]]) -> None:
        enforced = {self._by_path[path].oid for path in of_table}
        for kept in self._catalogue.kept.values():
            relation = self._by_oid.get(kept.oid)
            if kept.oid in enforced or (relation is not None and self._root(relation) in enforced):
                continue
            path = self._path(relation) if relation else (self._catalogue.database, kept.schema, kept.name)
            if relation is not None and (relation.schema, relation.name) != (kept.schema, kept.name):
                self._result.findings.append(_renamed(kept, path))
                continue
            self._result.steps.append(Step(path, f"SELECT {BOOKKEEPING}.restore_table({kept.oid})"))
            self._result.deviations.append((path, "what Lily changed", "the table as it was before Lily"))

    def _root(self, relation: Relation) -> int:
        while self._is_part(relation):
            relation = self._by_oid[relation.parent or 0]
        return relation.oid


def _renamed(kept: Kept, path: Path) -> Finding:
    was = f"{kept.schema}.{kept.name}"
    return Finding(".".join(path), f"it was {was} when it was enforced; it stays so until a decision names it")


def _fixed_values(of_table: dict[Path, list[Decision]], by_path: dict[Path, Relation]) -> set[Fixed]:
    found = set()
    for path, decisions in of_table.items():
        values = {one.mask_value for one in decisions if one.mask_value is not None}
        for column in by_path[path].columns if values else ():
            found |= {question for value in values if (question := fixed_value(column.type, value))}
    return found
