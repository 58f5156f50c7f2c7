"""What a table should look like: who may read which columns of it, its policies, its masking view."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lily.connect.enforcers.access import CLEAR, DENIED, Access, Cell, accesses, strictest
from lily.connect.enforcers.postgres.catalogue import Relation
from lily.connect.enforcers.postgres.identifiers import MAX_BYTES
from lily.connect.enforcers.postgres.privileges import NOTHING, Wanted
from lily.connect.enforcers.postgres.roles import Roles
from lily.connect.enforcers.postgres.wanted.masks import Fixed
from lily.connect.enforcers.postgres.wanted.row_filters import UnknownColumn, written
from lily.connect.enforcers.postgres.wanted.row_security import policies
from lily.connect.enforcers.postgres.wanted.views import Profiles, profiles, view_query
from lily.plugins import Decision

_TABLES = frozenset({"table", "partitioned table"})  # which can have row-level security


@dataclass(slots=True)
class WantedTable:
    """`view` is the text of its query, and empty if there cannot be one; `notes` say why, and what else is amiss."""

    relation: Relation
    exempt: frozenset[int] = frozenset()
    privileges: dict[int, Wanted] = field(default_factory=dict)
    view_privileges: dict[int, Wanted] = field(default_factory=dict)
    policies: tuple[str, ...] = ()
    filtered: frozenset[int] = frozenset()  # roles whom the policies show some of the rows
    view: str = ""
    filters: frozenset[str] = frozenset()
    narrowed: tuple[str, ...] = ()  # roles that get less than was decided, for the sake of their members
    had_row_security: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def path(self) -> tuple[str, str]:
        return self.relation.schema, self.relation.name


def masked_schema(schema: str, suffix: str) -> str:
    """A name that would be too long ends in a hash instead: PostgreSQL would cut it, and make two the same."""
    name = schema + suffix
    if len(name.encode()) <= MAX_BYTES:
        return name
    digest = hashlib.sha256(schema.encode()).hexdigest()[:8]
    room = MAX_BYTES - len(suffix.encode()) - len(digest) - 1
    return f"{schema.encode()[:room].decode(errors='ignore')}_{digest}{suffix}"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What else decides how a table can be enforced."""

    roles: Roles
    valid: Mapping[Fixed, bool]
    had_row_security: bool  # before Lily
    view_obstacle: str  # why there cannot be a masking view; empty if there can
    bad_filters: Collection[str] = ()  # which PostgreSQL does not accept


def wanted_table(relation: Relation, decisions: Sequence[Decision], given: Circumstances) -> WantedTable:
    roles, names = given.roles, [column.name for column in relation.columns]
    wanted = WantedTable(relation, roles.exempt(relation.owner), had_row_security=given.had_row_security)
    refused: dict[str, str] = {}

    def usable(row_filter: str) -> bool:
        if row_filter not in refused:
            refused[row_filter] = _flaw(row_filter, names, given.bad_filters)
        return not refused[row_filter]

    stated = accesses(decisions, names, usable)
    own = {oid: one for name, one in stated.items() if (oid := roles.oids.get(name)) and oid not in wanted.exempt}
    granted = _granted(own, roles, wanted.exempt)
    wanted.narrowed = tuple(roles.name(oid) for oid, one in granted.items() if one != own[oid])
    wanted.filters = frozenset(one for one, flaw in refused.items() if not flaw)
    wanted.notes += [f"what {one!r} would filter is denied: {flaw}" for one, flaw in refused.items() if flaw]
    _want_privileges(wanted, granted, given)
    _want_view(wanted, granted, given)
    wanted.privileges = _beyond_inherited(wanted.privileges, roles)
    wanted.view_privileges = _beyond_inherited(wanted.view_privileges, roles)
    return wanted


def _granted(own: Mapping[int, Access], roles: Roles, exempt: Collection[int]) -> dict[int, Access]:
    """What each role can be granted: no more than each of its members may have, for they would have it too."""
    known: dict[frozenset[Access], Access] = {}
    found = {}
    for oid, access in own.items():
        found[oid] = access
        members = roles.below[oid].difference(exempt) if oid in roles.below else ()
        if not members:
            continue
        nothing = Access((DENIED,) * len(access.cells))
        several = frozenset({access, *(own.get(member, nothing) for member in members)})
        if several not in known:
            known[several] = strictest(sorted(several, key=repr))
        found[oid] = known[several]
    return found


def _flaw(row_filter: str, columns: Collection[str], bad: Collection[str]) -> str:
    if row_filter in bad:
        return "PostgreSQL does not accept it for this table; compare values of the same type"
    try:
        written(row_filter, columns)
    except UnknownColumn as error:
        return str(error)
    return ""


def _want_privileges(wanted: WantedTable, granted: Mapping[int, Access], given: Circumstances) -> None:
    relation, roles = wanted.relation, given.roles
    dormant = relation.foreign_policies and not given.had_row_security  # which Lily would put into force
    can_filter = relation.kind in _TABLES and not dormant
    clear: dict[Access, frozenset[str]] = {}
    for oid, access in granted.items():
        if access.filters and (not can_filter or roles.by_oid[oid].bypasses_row_security):
            continue
        if access not in clear:
            clear[access] = _columns(relation, access, lambda cell: cell.is_clear)
        if clear[access]:
            wanted.privileges[oid] = Wanted(columns=clear[access])
    if dormant and any(access.filters for access in granted.values()):
        wanted.notes.append(
            "roles with a row filter can read the masking view alone: the table has policies that are not in force, "
            "and enabling row-level security would put them into force; drop them, or enable it yourself"
        )
    wanted.filtered = frozenset(oid for oid in wanted.privileges if granted[oid].filters)
    if wanted.filtered:
        reading = {roles.name(oid): granted[oid] for oid in wanted.privileges}
        shown = profiles(reading | _unrestricted(wanted, roles))
        wanted.policies = policies(relation, _by_filters(shown), restrictive=given.had_row_security)


def _want_view(wanted: WantedTable, granted: Mapping[int, Access], given: Circumstances) -> None:
    relation, roles = wanted.relation, given.roles
    obstacle = given.view_obstacle or _obstacle(relation, given)
    if obstacle:
        if any(cell.mask or cell.filters for access in granted.values() for cell in access.cells):
            wanted.notes.append(f"its masked columns cannot be read at all: {obstacle}")
        return
    everything = _unrestricted(wanted, roles)
    shown = profiles({roles.name(oid): access for oid, access in granted.items()} | everything)
    wanted.view = view_query(relation, shown, given.valid)
    readable = {access: _readable(relation, access) for access, _ in shown}
    for oid, access in granted.items():
        if access in readable:
            wanted.view_privileges[oid] = readable[access]
    for name in everything:
        if not roles.by_oid[roles.oids[name]].superuser and not roles.by_oid[roles.oids[name]].is_lily:
            wanted.view_privileges[roles.oids[name]] = Wanted(whole=True)


def _obstacle(relation: Relation, given: Circumstances) -> str:
    if given.had_row_security:
        return "it has row-level security of its own, which a masking view would circumvent"
    return "" if relation.columns else "it has no columns"


def _unrestricted(wanted: WantedTable, roles: Roles) -> dict[str, Access]:
    """They read the table anyhow, so they are shown the same in the view, and are not caught by the policies."""
    everything = Access((CLEAR,) * len(wanted.relation.columns))
    return {roles.name(oid): everything for oid in wanted.exempt if not roles.is_system(oid)}


def _beyond_inherited(several: dict[int, Wanted], roles: Roles) -> dict[int, Wanted]:
    """What a role has through another need not be granted to it: a thousand people in a group are one privilege.

    That is safe because a group is granted no more than each of its members may have.
    """
    known: dict[tuple[Wanted, frozenset[int]], Wanted] = {}
    for oid, wanted in several.items():
        key = wanted, roles.by_oid[oid].inherits
        if key not in known:
            known[key] = wanted.beyond([several[above] for above in key[1] if above in several])
    beyond = {oid: known[wanted, roles.by_oid[oid].inherits] for oid, wanted in several.items()}
    return {oid: wanted for oid, wanted in beyond.items() if wanted != NOTHING}


def _readable(relation: Relation, access: Access) -> Wanted:
    columns = _columns(relation, access, lambda cell: not cell.denied)
    return Wanted(whole=True) if len(columns) == len(access.cells) else Wanted(columns=columns)


def _columns(relation: Relation, access: Access, chosen: Callable[[Cell], bool]) -> frozenset[str]:
    pairs = zip(relation.columns, access.cells, strict=True)
    return frozenset(column.name for column, cell in pairs if chosen(cell))


def _by_filters(shown: Profiles) -> Profiles:
    """Policies are about rows alone, so roles with the same filters need not be told apart."""
    grouped: dict[tuple[str, ...], tuple[Access, list[str]]] = {}
    for access, names in shown:
        grouped.setdefault(access.filters, (access, []))[1].extend(names)
    return sorted(((access, sorted(names)) for access, names in grouped.values()), key=lambda pair: pair[1])
