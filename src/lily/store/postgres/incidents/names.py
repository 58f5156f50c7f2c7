"""Attaches incidents to the assets that they name, and keeps the names that no asset has yet."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from psycopg import Connection

from lily.incidents import folded
from lily.store.postgres.copying import id_array
from lily.store.postgres.incidents.announcing import Change, announce
from lily.store.postgres.incidents.matching import GivenName, Matches, match_names
from lily.store.postgres.queries import query

TASK = "match-incident-names"  # of the job that looks for assets with the names that are kept; one per tenant
AT_ONCE = 5_000  # names that one query looks for
_FIRST = "00000000-0000-0000-0000-000000000000"


class NamesOfIncident(NamedTuple):
    """What a source states of where the issue is: names of tables, ids of assets."""

    incident_id: str
    source: str
    tables: Collection[str]
    assets: Collection[str] = ()


class Kept(NamedTuple):
    """A name that no asset had when it was looked for last, and for how many seconds it has been kept."""

    folded: str
    incident_id: str
    name: str
    source: str
    age: float

    @property
    def given(self) -> GivenName:
        return GivenName(self.source, self.name)


class Attached(NamedTuple):
    incidents: set[str]  # those that have an asset that they did not have
    unmatched: int  # names that are kept now and were not before


class Look(NamedTuple):
    """A look at all names that are kept. `left` were not matched; the newest of them is so many seconds old."""

    left: int
    age: float


def attach(connection: Connection[Any], tenant: str, named: Sequence[NamesOfIncident]) -> Attached:
    """Runs in the caller's transaction."""
    wanted = {GivenName(one.source, name) for one in named for name in one.tables}
    matches = match_names(connection, tenant, wanted)
    pairs = [(one.incident_id, asset) for one in named for asset in one.assets]
    unmatched: list[tuple[str, str, str, str]] = []
    for one in named:
        for name in one.tables:
            found = matches.get(GivenName(one.source, name), ())
            pairs += [(one.incident_id, asset) for asset in found]
            if not found and folded(name):
                unmatched.append((folded(name), one.incident_id, name, one.source))
    attached = _attach(connection, tenant, pairs)
    return Attached(attached, _keep(connection, tenant, unmatched))


def look_again(connection: Connection[Any], tenant: str) -> Look:
    """Attaches incidents to assets that have appeared since, and announces that. Runs in the caller's transaction, with
    the tenant's lock."""
    left, age, last = 0, 0.0, ("", _FIRST)
    while rows := _kept(connection, tenant, last):
        last = (rows[-1].folded, rows[-1].incident_id)
        matches = match_names(connection, tenant, {row.given for row in rows})
        _attach_kept(connection, tenant, [row for row in rows if row.given in matches], matches)
        ages = [row.age for row in rows if row.given not in matches]
        age = min([*([age] if left else []), *ages], default=0.0)
        left += len(ages)
    return Look(left, age)


def queue_look(connection: Connection[Any], tenant: str, seconds: float, but: int | None = None) -> None:
    """Queues the next look, unless one is queued already; `but` is the job that is running and asks."""
    parameters = {"tenant": tenant, "task": TASK, "seconds": seconds, "but": but}
    connection.execute(query("incidents/names/queue_matching"), parameters)


def _kept(connection: Connection[Any], tenant: str, after: tuple[str, str]) -> list[Kept]:
    parameters = {"tenant": tenant, "folded": after[0], "incident": after[1], "limit": AT_ONCE}
    return [Kept(*row) for row in connection.execute(query("incidents/names/unmatched"), parameters)]


def _attach_kept(connection: Connection[Any], tenant: str, rows: Sequence[Kept], matches: Matches) -> None:
    if not rows:
        return
    attached = _attach(connection, tenant, [(row.incident_id, asset) for row in rows for asset in matches[row.given]])
    forgotten = {"folded": [row.folded for row in rows], "ids": id_array(row.incident_id for row in rows)}
    connection.execute(query("incidents/names/forget"), {"tenant": tenant, **forgotten})
    announce(connection, tenant, [Change(one) for one in sorted(attached)])


def _attach(connection: Connection[Any], tenant: str, pairs: Sequence[tuple[str, str]]) -> set[str]:
    if not pairs:
        return set()
    ids, assets = id_array(one for one, _ in pairs), id_array(asset for _, asset in pairs)
    rows = connection.execute(query("incidents/names/attach"), {"tenant": tenant, "ids": ids, "assets": assets})
    return {incident_id for incident_id, _ in rows}


def _keep(connection: Connection[Any], tenant: str, unmatched: Sequence[tuple[str, str, str, str]]) -> int:
    if not unmatched:
        return 0
    parameters = {
        "tenant": tenant,
        "folded": [one[0] for one in unmatched],
        "ids": id_array(one[1] for one in unmatched),
        "names": [one[2] for one in unmatched],
        "sources": [one[3] for one in unmatched],
    }
    return len(connection.execute(query("incidents/names/keep"), parameters).fetchall())
