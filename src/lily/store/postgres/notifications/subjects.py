"""Reads what filters look at, for all assets of some events at once."""

from collections.abc import Sequence

from lily.model import ids
from lily.notify.events import Occurrence, Subject, known
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches, Row
from lily.store.postgres.subscriptions.configuration import Configuration

CHUNK = 2_000  # assets of one query
WALK = 50  # assets from which one query walks along lineage
MAX_REACHED = 20_000  # pairs of assets that one walk along lineage returns


async def with_facts(
    database: Fetches, tenant: str, occurrences: Sequence[Occurrence], configuration: Configuration
) -> list[Occurrence]:
    """The events with what is known of their assets now. An asset that is not stored keeps what the event states."""
    subjects = {subject.id: subject for one in occurrences for subject in one.subjects}
    if not subjects:
        return list(occurrences)
    places = list(subjects)
    found: dict[str, Subject] = {}
    for start in range(0, len(places), CHUNK):
        part = [subjects[one] for one in places[start : start + CHUNK]]
        found |= await _facts(database, tenant, part)
        if configuration.looks_upstream:
            for asset, reached in await _walk(database, tenant, "upstream", part):
                found[asset] = known(found[asset], upstream=frozenset(reached))
        if configuration.looks_at_downstream_owners:
            for asset, owners in await _walk(database, tenant, "downstream_owners", part):
                found[asset] = known(found[asset], downstream_owners=frozenset(owners))
    return [one.about([found[subject.id] for subject in one.subjects]) for one in occurrences]


async def _facts(database: Fetches, tenant: str, subjects: Sequence[Subject]) -> dict[str, Subject]:
    parameters = {
        "ids": id_array(one.id for one in subjects),
        "above": id_array(_above(tenant, one.qualified_name) for one in subjects),
    }
    rows = {row[0]: row for row in await database.fetch(tenant, query("notifications/subjects"), parameters)}
    return {one.id: _known(one, rows[one.id]) for one in subjects}


def _known(subject: Subject, row: Row) -> Subject:
    _, entity_type, name, owner, tags, ancestors = row
    return known(
        subject,
        entity_type=entity_type,
        qualified_name=name,
        owner=owner,
        tags=frozenset(tags or ()),
        ancestors=frozenset(ancestors or ()),
    )


async def _walk(database: Fetches, tenant: str, name: str, subjects: Sequence[Subject]) -> list[Row]:
    found: list[Row] = []
    for start in range(0, len(subjects), WALK):
        ids_ = id_array(one.id for one in subjects[start : start + WALK])
        found += await database.fetch(tenant, query(f"notifications/{name}"), {"ids": ids_, "limit": MAX_REACHED})
    return found


def _above(tenant: str, name: str) -> str:
    """The id of the asset whose column the name may be."""
    above = ids.name_prefix(name)
    return "null" if not name or above == name else ids.asset_id(tenant, above)
