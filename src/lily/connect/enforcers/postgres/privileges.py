"""SELECT on tables and columns: who has it, who should, and the statements between the two."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lily.connect.enforcers.postgres.catalogue import PUBLIC, Grant, Relation
from lily.connect.enforcers.postgres.identifiers import listed, quoted
from lily.connect.enforcers.postgres.roles import Roles

MAX_NAMED = 10  # columns in a description


@dataclass(slots=True)
class Held:
    """`whole`: on the table, which includes every column, also those that are added later."""

    whole: bool = False
    columns: set[str] = field(default_factory=set)
    unusual: bool = False


class Wanted(NamedTuple):
    whole: bool = False
    columns: frozenset[str] = frozenset()

    def beyond(self, inherited: Sequence["Wanted"]) -> "Wanted":
        """What is left to grant to a role that has the others from elsewhere."""
        if any(one.whole for one in inherited):
            return NOTHING
        return self._replace(columns=self.columns.difference(*(one.columns for one in inherited)))


NOTHING = Wanted()


@dataclass(slots=True)
class Difference:
    """`revoke` come first. A REVOKE on the table takes the privileges on its columns away as well."""

    revoke: list[str] = field(default_factory=list)
    grant: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)


def difference(
    relation: Relation, wanted: Mapping[int, Wanted], roles: Roles, spared: Collection[int], again: Collection[int]
) -> Difference:
    """`spared` are left alone. `again` lose what they have and get it back, so that they have nothing if the statements
    in between fail."""
    held = _held(relation)
    revoked, granted, result = [], defaultdict(list), Difference()
    for oid in sorted({*held, *wanted}.difference(spared)):
        have, want = held.get(oid, Held()), wanted.get(oid, NOTHING)
        too_much = have.unusual or have.whole > want.whole or bool(have.columns - want.columns)
        missing = want.whole > have.whole or bool(want.columns - have.columns)
        if too_much or missing:
            result.found.append(f"{_who(oid, roles)} has {_described(have.whole, have.columns, unusual=have.unusual)}")
            result.expected.append(f"{_who(oid, roles)} has {_described(want.whole, want.columns)}")
        if too_much or (oid in again and oid in held):
            revoked.append(oid)
            have = Held()
        if want.whole > have.whole:
            granted[frozenset[str]()].append(oid)
        elif want.columns - have.columns:
            granted[want.columns - have.columns].append(oid)
    table = quoted(relation.schema, relation.name)
    if revoked:
        result.revoke.append(f"REVOKE SELECT ON TABLE {table} FROM {_grantees(revoked, roles)} CASCADE")
    order = {column.name: at for at, column in enumerate(relation.columns)}
    for columns, oids in sorted(granted.items(), key=lambda pair: sorted(pair[0])):
        some = f" ({listed(sorted(columns, key=order.__getitem__))})" if columns else ""
        result.grant.append(f"GRANT SELECT{some} ON TABLE {table} TO {_grantees(oids, roles)}")
    return result


def _held(relation: Relation) -> dict[int, Held]:
    found: dict[int, Held] = defaultdict(Held)
    for grant in relation.grants:
        held = found[grant.grantee]
        held.whole, held.unusual = True, held.unusual or grant.unusual
    alike: dict[tuple[Grant, ...], list[str]] = defaultdict(list)
    for column in relation.columns:
        alike[column.grants].append(column.name)
    for grants, columns in alike.items():
        for grant in grants:
            held = found[grant.grantee]
            held.columns.update(columns)
            held.unusual = held.unusual or grant.unusual
    return found


def _grantees(oids: Iterable[int], roles: Roles) -> str:
    return ", ".join("PUBLIC" if oid == PUBLIC else quoted(roles.name(oid)) for oid in oids)


def _who(oid: int, roles: Roles) -> str:
    return "PUBLIC" if oid == PUBLIC else roles.name(oid)


def _described(whole: bool, columns: Collection[str], *, unusual: bool = False) -> str:  # noqa: FBT001 - a pair
    what = "SELECT on the table" if whole else f"SELECT on {_some(columns)}" if columns else "no SELECT"
    return f"{what}, with grant option or from another role than the owner" if unusual else what


def _some(columns: Collection[str]) -> str:
    named = ", ".join(sorted(columns)[:MAX_NAMED])
    return named if len(columns) <= MAX_NAMED else f"{named} and {len(columns) - MAX_NAMED} more columns"
