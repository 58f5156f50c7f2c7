"""From what a table is to what it should be: the statements of one transaction, and what they correct."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from lily.connect.enforcers.postgres.catalogue import Kept, Relation
from lily.connect.enforcers.postgres.identifiers import literal, quoted
from lily.connect.enforcers.postgres.privileges import Difference, difference
from lily.connect.enforcers.postgres.roles import Roles
from lily.connect.enforcers.postgres.wanted.masks import BOOKKEEPING
from lily.connect.enforcers.postgres.wanted.row_security import disabled, dropped
from lily.connect.enforcers.postgres.wanted.tables import WantedTable
from lily.connect.enforcers.postgres.wanted.views import create_view


@dataclass(slots=True)
class Change:
    """`deviations` are pairs of what was found and what was expected. Without one there is nothing to do."""

    relation: Relation
    statements: list[str] = field(default_factory=list)
    deviations: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Present:
    """What is there of a table beyond the table itself."""

    kept: Kept | None
    views: Mapping[tuple[str, str], Relation]  # all of Lily's
    view_path: tuple[str, str]  # where this table's is, or should be

    @property
    def view(self) -> Relation | None:
        return self.views.get(self.view_path)


def change(wanted: WantedTable, present: Present, roles: Roles) -> Change:
    result = Change(wanted.relation)
    kept = present.kept
    of_policies = _digest("; ".join(wanted.policies))
    policies_differ = _policies_differ(of_policies, kept)
    of_view = _digest(wanted.view)
    view_differs = _view_differs(wanted, of_view, present)
    again = wanted.filtered if policies_differ else frozenset[int]()
    on_table = difference(wanted.relation, wanted.privileges, roles, wanted.exempt, again)
    on_view = _on_view(wanted, present, roles, differs=view_differs)
    if policies_differ:
        result.deviations.append(_policy_deviation(wanted, kept))
    if view_differs:
        result.deviations.append(_view_deviation(wanted, of_view, present))
    for one in (on_table, on_view):
        result.deviations += [(a, b) for a, b in zip(one.found, one.expected, strict=True)]
    if result.deviations:
        policies = _policy_statements(wanted) if policies_differ else []
        views = _view_statements(wanted, present) if view_differs else []
        result.statements = [
            *_begin(wanted.relation),
            *on_table.revoke,
            *on_view.revoke,
            *policies,
            *views,
            *on_table.grant,
            *on_view.grant,
            _finish(wanted.relation, present, of_view, of_policies),
        ]
    return result


def _policies_differ(of_policies: str, kept: Kept | None) -> bool:
    if kept is None or kept.policies_source is None:
        return bool(of_policies)
    return kept.policies_source != of_policies or not kept.policies_intact


def _view_differs(wanted: WantedTable, of_view: str, present: Present) -> bool:
    kept, view = present.kept, present.view
    if not wanted.view:
        return kept is not None and kept.view in {one.oid for one in present.views.values()}
    if kept is None or view is None:
        return True
    # The query that PostgreSQL keeps does not change when a column of the view is renamed.
    renamed = [column.name for column in view.columns] != [column.name for column in wanted.relation.columns]
    return kept.view != view.oid or kept.view_source != of_view or not kept.view_intact or renamed


def _on_view(wanted: WantedTable, present: Present, roles: Roles, *, differs: bool) -> Difference:
    view = present.view
    if not wanted.view:
        return Difference()
    if view is None or (differs and not _replaceable(wanted.relation, view)):
        view = Relation(0, *present.view_path, "view", 0, True, False, False, None, (), True, wanted.relation.columns)
        view.columns = [column._replace(grants=()) for column in wanted.relation.columns]
        made = difference(view, wanted.view_privileges, roles, (), ())
        return Difference(grant=made.grant)  # that the view is missing is one deviation
    grants = [*view.grants, *(grant for column in view.columns for grant in column.grants)]
    again = {grant.grantee for grant in grants} if differs else ()
    return difference(view, wanted.view_privileges, roles, {view.owner}, again)


def _replaceable(relation: Relation, view: Relation) -> bool:
    """CREATE OR REPLACE VIEW can add columns at the end, and nothing else."""
    now = [(column.name, column.type.sql, column.type.collation) for column in view.columns]
    return now == [(column.name, column.type.sql, column.type.collation) for column in relation.columns][: len(now)]


def _view_statements(wanted: WantedTable, present: Present) -> list[str]:
    statements = []
    kept, view = present.kept, present.view
    old = {one.oid: path for path, one in present.views.items()}.get(kept.view) if kept and kept.view else None
    if old is not None and (not wanted.view or old != present.view_path):
        statements.append(f"DROP VIEW IF EXISTS {quoted(*old)}")  # the table was renamed
    if wanted.view:
        if view is not None and not _replaceable(wanted.relation, view):
            statements.append(f"DROP VIEW IF EXISTS {quoted(*present.view_path)}")
        statements.append(create_view(*present.view_path, wanted.view))
    return statements


def _policy_statements(wanted: WantedTable) -> list[str]:
    was_on = wanted.had_row_security
    statements = [*dropped(wanted.relation), *wanted.policies]
    if not wanted.policies and not was_on:
        statements.append(disabled(wanted.relation))
    elif was_on and not wanted.relation.row_security:
        statements.append(f"ALTER TABLE {quoted(*wanted.path)} ENABLE ROW LEVEL SECURITY")
    return statements


def _policy_deviation(wanted: WantedTable, kept: Kept | None) -> tuple[str, str]:
    before = "no row filter" if kept is None or not kept.policies_source else "row filters of earlier decisions"
    if kept and kept.policies_source == _digest("; ".join(wanted.policies)):
        before = "row-level security was changed by hand"
    return before, "; ".join(wanted.policies) or "no row filter"


def _view_deviation(wanted: WantedTable, of_view: str, present: Present) -> tuple[str, str]:
    name, kept = quoted(*present.view_path), present.kept
    if not wanted.view:
        return f"the masking view {name}", "no masking view"
    if present.view is None:
        return f"no masking view {name}", f"the masking view {name}"
    if kept and kept.view_source == of_view:
        return f"the masking view {name} was changed by hand", f"the masking view {name} as Lily made it"
    return f"the masking view {name} of earlier decisions", f"the masking view {name}: {wanted.view}"


def _begin(relation: Relation) -> list[str]:
    arguments = f"{relation.oid}, {literal(relation.schema)}, {literal(relation.name)}"
    return [f"SELECT {BOOKKEEPING}.begin_table({arguments})"]


def _finish(relation: Relation, present: Present, of_view: str, of_policies: str) -> str:
    schema, name = (literal(one) if of_view else "NULL" for one in present.view_path)
    return (
        f"SELECT {BOOKKEEPING}.finish_table({relation.oid}, {schema}, {name}, "
        f"{literal(of_view)}, {literal(of_policies)})"
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest() if text else ""
