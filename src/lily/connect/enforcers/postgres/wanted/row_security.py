"""Row-level security on the tables themselves, for roles that may read some of the rows."""

from collections.abc import Sequence

from lily.connect.enforcers.postgres.catalogue import Relation
from lily.connect.enforcers.postgres.identifiers import is_current_user, quoted
from lily.connect.enforcers.postgres.wanted.views import Profiles, conjunction

POLICIES = ("lily_read", "lily_insert", "lily_update", "lily_delete")


def policies(relation: Relation, shown: Profiles, *, restrictive: bool) -> tuple[str, ...]:
    """The statements that make the policies. A role that is not named reads no row.

    Restrictive where the table has policies of its own, which go on to apply. Elsewhere a policy is needed for every
    command, because without one nothing is permitted; the one for reading is not restrictive then, so that no row
    can be read if it is dropped, as it is with a column that it compares.
    """
    table = quoted(relation.schema, relation.name)
    kind = "RESTRICTIVE" if restrictive else "PERMISSIVE"
    reading = f"CREATE POLICY lily_read ON {table} AS {kind} FOR SELECT USING ({_condition(relation, shown)})"
    if restrictive:
        return (reading,)
    return (
        reading,
        f"CREATE POLICY lily_insert ON {table} FOR INSERT WITH CHECK (true)",
        f"CREATE POLICY lily_update ON {table} FOR UPDATE USING (true) WITH CHECK (true)",
        f"CREATE POLICY lily_delete ON {table} FOR DELETE USING (true)",
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
    )


def _condition(relation: Relation, shown: Profiles) -> str:
    names = [column.name for column in relation.columns]
    whens = [f"WHEN {is_current_user(roles)} THEN {conjunction(one.filters, names) or 'true'}" for one, roles in shown]
    return f"CASE {' '.join(whens)} ELSE false END"


def dropped(relation: Relation) -> Sequence[str]:
    table = quoted(relation.schema, relation.name)
    return [f"DROP POLICY IF EXISTS {name} ON {table}" for name in POLICIES]


def disabled(relation: Relation) -> str:
    return f"ALTER TABLE {quoted(relation.schema, relation.name)} DISABLE ROW LEVEL SECURITY"
