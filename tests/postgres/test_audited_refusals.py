"""Refusals in the audit: the first one at once, repeated ones counted, and none lost while PostgreSQL is away."""

from typing import Any

from lily.api.auth.refusals import ROOM, SEVERAL, WINDOW_SECONDS, Refusals
from lily.model.access import Principal
from lily.model.errors import Problem
from lily.store.postgres.audit.entries import Filters, read_entries
from lily.store.postgres.audit.origin import Origin
from lily.store.postgres.sessions import Database
from tests.postgres.migrated import Migrated
from tests.postgres.test_audit import Audited, audited

__all__ = ["audited"]  # the fixture

PROBLEM = Problem("FORBIDDEN", "this call needs the scope policy:write", "/policies")
CREATE, DELETE = "POST /policies", "DELETE /policies/{id}"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Caller:
    """A principal whose calls are refused."""

    def __init__(self, refusals: Refusals, tenant: str, user: str = "ann") -> None:
        self._refusals = refusals
        self._principal = Principal(f"token of {user}", tenant, user, frozenset())

    async def refused(self, operation: str = CREATE, times: int = 1) -> None:
        origin = Origin(self._principal.token_id, "192.0.2.7", "c")
        for _ in range(times):
            await self._refusals.record(self._principal, origin, operation, PROBLEM)


async def recorded(database: Database, tenant: str) -> list[tuple[str, str, int]]:
    """Who was refused what, and how often, in order."""
    found = await read_entries(database, tenant, Filters(action="access.refused"), below=None, limit=100)
    return [(one["actor"], one["subject"], one["detail"]["count"]) for one in reversed(found)]


def test_a_refusal_is_an_entry_with_who_what_and_from_where(audited: Audited) -> None:
    async def story(database: Database) -> dict[str, Any]:
        await Caller(Refusals(database), audited.tenant).refused()
        return (await read_entries(database, audited.tenant, Filters(), below=None, limit=1))[0]

    entry = audited.migrated.as_api(story)
    who = (entry["actor"], entry["token_id"], entry["address"], entry["correlation"])
    assert who == ("ann", "token of ann", "192.0.2.7", "c")
    assert (entry["action"], entry["subject"], entry["detail"]["count"]) == ("access.refused", CREATE, 1)
    assert (entry["detail"]["code"], entry["detail"]["description"]) == ("FORBIDDEN", PROBLEM.description)
    assert audited.verified().broken is None


def test_a_flood_of_refusals_is_one_entry_per_minute_and_operation(audited: Audited) -> None:
    async def story(database: Database) -> list[list[tuple[str, str, int]]]:
        clock = Clock()
        refusals = Refusals(database, clock)
        ann, bob = Caller(refusals, audited.tenant), Caller(refusals, audited.tenant, "bob")
        await ann.refused(times=1000)
        await ann.refused(DELETE)
        await bob.refused()
        seen = [await recorded(database, audited.tenant)]
        clock.now = WINDOW_SECONDS - 1
        await refusals.write_due()
        seen.append(await recorded(database, audited.tenant))
        for _ in range(2):
            clock.now += WINDOW_SECONDS
            await refusals.write_due()
            seen.append(await recorded(database, audited.tenant))
        clock.now += WINDOW_SECONDS
        await refusals.write_due()
        await ann.refused()
        return [*seen, await recorded(database, audited.tenant)]

    at_once, within, after, quiet, again = audited.migrated.as_api(story)
    assert at_once == [("ann", CREATE, 1), ("ann", DELETE, 1), ("bob", CREATE, 1)]
    assert within == at_once
    assert after == quiet == [*at_once, ("ann", CREATE, 999)]
    assert again == [*quiet, ("ann", CREATE, 1)]


def test_what_was_counted_is_written_when_the_process_ends(audited: Audited) -> None:
    async def story(database: Database) -> list[tuple[str, str, int]]:
        refusals = Refusals(database)
        await Caller(refusals, audited.tenant).refused(times=3)
        await refusals.close()
        await refusals.close()
        return await recorded(database, audited.tenant)

    assert audited.migrated.as_api(story) == [("ann", CREATE, 1), ("ann", CREATE, 2)]


def test_callers_beyond_the_room_are_counted_together(audited: Audited) -> None:
    async def story(database: Database) -> list[tuple[str, str, int]]:
        refusals = Refusals(database)
        for number in range(ROOM):
            refusals._windows[("elsewhere", str(number), "", CREATE)] = None  # type: ignore[index,assignment]
        await Caller(refusals, audited.tenant).refused()
        await Caller(refusals, audited.tenant, "bob").refused(times=2)
        for number in range(ROOM):
            del refusals._windows[("elsewhere", str(number), "", CREATE)]  # type: ignore[arg-type]
        await refusals.close()
        return await recorded(database, audited.tenant)

    assert audited.migrated.as_api(story) == [(SEVERAL, SEVERAL, 1), (SEVERAL, SEVERAL, 2)]


def test_a_refusal_while_postgresql_is_away_is_written_later(migrated: Migrated, audited: Audited) -> None:
    async def story(database: Database) -> list[tuple[str, str, int]]:
        clock = Clock()
        away = Database(migrated.url_of("lily_api"))  # never opened
        refusals = Refusals(away, clock)
        await Caller(refusals, audited.tenant).refused(times=2)
        refusals._database = database
        clock.now = WINDOW_SECONDS
        await refusals.write_due()
        return await recorded(database, audited.tenant)

    assert migrated.as_api(story) == [("ann", CREATE, 2)]
