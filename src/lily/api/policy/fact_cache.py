"""The facts of assets that engines ask about again and again, kept as long as nothing at all has changed.

Before every use one small query reads which transactions are visible. If they are the same as when the facts were read,
nothing was committed in between, so the facts are those of now. Decision 26 has the reasons.

Requests that arrive while a read is under way share the next one: where Trino asks for 250 columns in as many requests,
a few queries serve all of them.
"""

import asyncio
from collections.abc import Collection, Mapping
from typing import NamedTuple

from lily.policy import Facts
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.facts import Earlier, Wanted
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database

MAX_ASSETS = 100_000  # kept per tenant, about 2 kB each
MAX_TENANTS = 50
Found = Mapping[str, list[Facts]]


class _Kept(NamedTuple):
    """What was read while `state` was the state of the database, for policies that look at `wanted`."""

    state: str
    wanted: tuple[object, ...]
    facts: dict[str, list[Facts]]
    earlier: Earlier


class _Waiting(NamedTuple):
    references: Collection[str]
    wanted: Wanted
    done: "asyncio.Future[Found]"


class FactCache:
    """Raises StoreUnavailable if PostgreSQL does not respond: then nothing that is kept is used."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: dict[str, _Kept] = {}
        self._waiting: dict[str, list[_Waiting]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    async def candidates(self, tenant: str, references: Collection[str], wanted: Wanted) -> Found:
        """By reference, at least: the assets that it may mean, as they are now."""
        waiting = _Waiting(references, wanted, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(tenant, []).append(waiting)
        if tenant not in self._running:
            self._running[tenant] = asyncio.create_task(self._serve(tenant))
        return await waiting.done

    async def _serve(self, tenant: str) -> None:
        """Until no request waits. Each round serves those that arrived before it began."""
        try:
            while waiting := self._waiting.pop(tenant, []):
                try:
                    await self._round(tenant, waiting)
                except Exception as error:  # noqa: BLE001 - raised to each request
                    for one in waiting:
                        if not one.done.done():
                            one.done.set_exception(error)
        finally:
            del self._running[tenant]

    async def _round(self, tenant: str, waiting: list[_Waiting]) -> None:
        ((state,),) = await self._database.fetch(tenant, query("policies/visible_state"), {})
        by_wanted: dict[tuple[object, ...], list[_Waiting]] = {}
        for one in waiting:
            by_wanted.setdefault(_key(one.wanted), []).append(one)
        for wanted, group in by_wanted.items():
            facts = await self._read(tenant, state, wanted, group)
            for one in group:
                if not one.done.done():  # its request may have been cancelled
                    one.done.set_result(facts)

    async def _read(self, tenant: str, state: str, wanted: tuple[object, ...], group: list[_Waiting]) -> Found:
        kept = self._kept.get(tenant)
        if kept is None or kept.wanted != wanted or len(kept.earlier) > MAX_ASSETS:
            kept = _Kept(state, wanted, {}, Earlier())
        elif kept.state != state:
            kept = _Kept(state, wanted, {}, kept.earlier)
        missing = {name for one in group for name in one.references if name not in kept.facts}
        if missing:
            found = await read_candidates(
                self._database, tenant, missing, group[0].wanted, as_written=False, earlier=kept.earlier
            )
            if len(kept.facts) + len(found) > MAX_ASSETS:
                names = (name for one in group for name in one.references)
                kept = _Kept(
                    state, wanted, {name: kept.facts[name] for name in names if name in kept.facts}, kept.earlier
                )
            kept.facts.update(found)
        self._keep(tenant, kept)
        return kept.facts

    def _keep(self, tenant: str, kept: _Kept) -> None:
        if tenant not in self._kept and len(self._kept) >= MAX_TENANTS:
            del self._kept[next(iter(self._kept))]
        self._kept[tenant] = kept


def _key(wanted: Wanted) -> tuple[object, ...]:
    return (tuple(wanted.rules.protective_array), wanted.rules.cut_deleted, wanted.protective, wanted.attributes)
