"""What a person should know about the roles and tables of a target, because no statement can change it."""

from collections import Counter
from collections.abc import Collection, Sequence

from lily.connect.enforcers.postgres.comparison import Comparison
from lily.connect.enforcers.postgres.roles import Roles
from lily.connect.enforcers.postgres.wanted.tables import WantedTable
from lily.plugins import Decision, Finding


def report(decisions: Sequence[Decision], enforced: Sequence[WantedTable], roles: Roles, database: str) -> Comparison:
    named = {role for one in decisions for role in one.principals}
    result = Comparison()
    result.findings += [
        Finding(role, "the database has no such role; create it, or correct its name")
        for role in sorted(named - roles.oids.keys())
    ]
    _report_unrestricted(result, named, roles)
    result.findings += _owners(enforced, named, roles)
    narrowed = Counter(role for one in enforced for role in one.narrowed)
    for role, count in sorted(narrowed.items()):
        described = f"in {_tables(count)} it may read less than was decided, because a member of it may read less"
        result.findings.append(Finding(role, f"{described}; allow its members instead"))
    for one in enforced:
        result.findings += [Finding(".".join((database, *one.path)), note) for note in one.notes]
    return result


def _report_unrestricted(result: Comparison, named: Collection[str], roles: Roles) -> None:
    for role in sorted(set(named) & roles.oids.keys()):
        if why := roles.unrestricted.get(roles.oids[role]):
            result.findings.append(Finding(role, f"nothing restricts it: {why}"))
            result.deviations.append(((), f"{role} reads everything: {why}", f"{role} as decided"))


def _owners(enforced: Sequence[WantedTable], named: Collection[str], roles: Roles) -> list[Finding]:
    owned = Counter(roles.name(one.relation.owner) for one in enforced)
    return [
        Finding(role, f"it owns {_tables(count, 'enforced table')}; PostgreSQL does not restrict owners")
        for role, count in sorted(owned.items())
        if role in named and roles.oids[role] not in roles.unrestricted
    ]


def _tables(count: int, noun: str = "table") -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
