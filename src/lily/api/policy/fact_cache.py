"""The facts of assets that engines ask about again and again, kept until a change of them is committed.

Before every use one small query reports which assets were changed since the last one. Facts that rest on none of them
are those of now; the others are read again. Decision 25 has the reasons.

Requests that arrive while a read is under way share the next one: where Trino asks for 250 columns in as many requests,
a few queries serve all of them.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from lily.api.policy.dependencies import changed_keys, own_keys
from lily.policy import Facts
from lily.store.postgres.policies.any_case import read_candidates
from lily.store.postgres.policies.decision_state import Changes, State, changes_since
from lily.store.postgres.policies.facts import Earlier, Wanted
from lily.store.postgres.sessions import Database

MAX_ASSETS = 100_000  # kept per tenant, about 2 kB each
MAX_TENANTS = 50
SLICE = 1_250  # names that are read at once: others wait meanwhile. A query of a thousand columns is one slice.
_generations = count(1)

Assets = dict[str, list[Facts]]  # by reference


class Known(NamedTuple):
    """By reference, at least: the assets that it may mean. In the same generation, all that was known before is still
    so; the number is of this process and occurs once."""

    facts: Mapping[str, list[Facts]]
    generation: int


@dataclass(slots=True)
class _Kept:
    """What is valid at `state`, for policies that look at `wanted`.

    `settled` was read while propagation did not lag. `arriving` was read while it lagged, with every tag that would
    arrive, and is valid until the next change of the tenant or until propagation has caught up. `unsettled`: something
    was changed and propagation has not caught up with it, so what is settled cannot be used. Afterwards it can, but for
    what was changed in the meantime.

    `keys` has what an entry of `settled` rests on beside the keys of its assets.
    """

    wanted: tuple[object, ...]
    state: State = field(default_factory=State)
    settled: Assets = field(default_factory=dict)
    keys: dict[str, frozenset[str]] = field(default_factory=dict)
    arriving: Assets = field(default_factory=dict)
    unsettled: bool = False
    earlier: Earlier = field(default_factory=Earlier)
    generation: int = field(default_factory=_generations.__next__)
    known: Known = field(init=False)

    def __post_init__(self) -> None:
        self._show()

    def __len__(self) -> int:
        return len(self.settled) + len(self.arriving)

    def has(self, names: Collection[str]) -> bool:
        return all(name in self.known.facts for name in names)

    def advance(self, changes: Changes) -> None:
        """To a later state, without what is no longer valid there.

        While propagation lags, a change may concern any asset downstream. Facts that were read while it did not lag
        stay valid if it lags now and nothing of the tenant was changed.
        """
        changed = changes.assets is None or bool(changes.assets)
        unsettled = changes.lags and (changed or self.unsettled)
        lost = self.settled if changes.assets is None else self._resting_on(changed_keys(changes.assets, changes.names))
        ended = bool(self.arriving) and (changed or not changes.lags)
        self._forget(lost)
        if ended:
            self.arriving = {}
        if lost or ended or unsettled != self.unsettled:
            self.unsettled = unsettled
            self.generation = next(_generations)
            self._show()
        self.state = changes.now

    def clear(self) -> None:
        self.settled, self.keys, self.arriving = {}, {}, {}
        self.generation = next(_generations)
        self._show()

    def add(self, tenant: str, found: Mapping[str, list[Facts]], *, lagging: bool) -> None:
        if lagging or self.unsettled:
            self.arriving = {**self.arriving, **found}
        else:
            self.settled.update(found)
            self.keys.update((name, own_keys(tenant, name, assets)) for name, assets in found.items())
        self._show()

    def _forget(self, names: Collection[str]) -> None:
        """In new dictionaries: requests that were served before may still read the old ones."""
        if names:
            self.settled = {name: found for name, found in self.settled.items() if name not in names}
            self.keys = {name: self.keys[name] for name in self.settled}

    def _resting_on(self, changed: frozenset[str]) -> set[str]:
        return {
            name
            for name, found in (self.settled.items() if changed else ())
            if not changed.isdisjoint(self.keys[name]) or any(not changed.isdisjoint(one.keys) for one in found)
        }

    def _show(self) -> None:
        usable = self.arriving if self.unsettled else self.settled
        if self.arriving and not self.unsettled:
            usable = {**self.settled, **self.arriving}
        self.known = Known(usable, self.generation)


class _Waiting(NamedTuple):
    references: Collection[str]
    wanted: Wanted
    done: "asyncio.Future[Known]"


class FactCache:
    """Raises StoreUnavailable if PostgreSQL does not respond: then nothing that is kept is used."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: dict[str, _Kept] = {}
        self._waiting: dict[str, list[_Waiting]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    async def candidates(self, tenant: str, references: Collection[str], wanted: Wanted) -> Known:
        """What the references may mean now. Without references it reports whether anything has changed.

        Of many, a slice is read at a time, so that requests for few need not wait for all of them. In the end only what
        was changed meanwhile is read again."""
        if len(references) > SLICE:
            for part in _slices(references):
                await self._shared(tenant, part, wanted)
        return await self._shared(tenant, references, wanted)

    async def _shared(self, tenant: str, references: Collection[str], wanted: Wanted) -> Known:
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
        by_wanted: dict[tuple[object, ...], list[_Waiting]] = {}
        for one in waiting:
            by_wanted.setdefault(_key(one.wanted), []).append(one)
        for wanted, group in by_wanted.items():
            kept = self._kept_for(tenant, wanted)
            kept.advance(await changes_since(self._database, tenant, kept.state))
            # First those for which nothing has to be read.
            _serve_all([one for one in group if kept.has(one.references)], kept.known)
            others = [one for one in group if not one.done.done()]
            if others:
                _serve_all(others, await self._read(tenant, kept, others))

    async def _read(self, tenant: str, kept: _Kept, group: list[_Waiting]) -> Known:
        missing = {name for one in group for name in one.references if name not in kept.known.facts}
        if len(kept) + len(missing) > MAX_ASSETS:
            kept.clear()
            missing = {name for one in group for name in one.references}
        kept.earlier.lags.clear()
        found: Assets = {}
        for part in _slices(missing):
            found |= await read_candidates(self._database, tenant, part, group[0].wanted, kept.earlier)
        if len(kept.earlier.lags) > 1:  # it began or ceased to lag between two queries
            return Known({**kept.known.facts, **found}, next(_generations))
        kept.add(tenant, found, lagging=True in kept.earlier.lags)
        return kept.known

    def _kept_for(self, tenant: str, wanted: tuple[object, ...]) -> _Kept:
        kept = self._kept.get(tenant)
        if kept is None or kept.wanted != wanted or len(kept.earlier) > 2 * MAX_ASSETS:
            if kept is None and len(self._kept) >= MAX_TENANTS:
                del self._kept[next(iter(self._kept))]
            kept = self._kept[tenant] = _Kept(wanted)
        return kept


def _slices(names: Collection[str]) -> Iterator[list[str]]:
    listed = list(names)
    return (listed[start : start + SLICE] for start in range(0, len(listed), SLICE))


def _serve_all(waiting: list[_Waiting], known: Known) -> None:
    for one in waiting:
        if not one.done.done():  # its request may have been cancelled
            one.done.set_result(known)


def _key(wanted: Wanted) -> tuple[object, ...]:
    rules = wanted.rules
    return (rules.protective_array, rules.propagating_array, rules.cut_deleted, wanted.protective, wanted.attributes)
