"""The documents that Ranger plug-ins download, kept as long as nothing has changed on which decisions rest.

They are about everything, so making them costs more than an answer to one question. Whether something has changed is
found out as `fact_cache` does it. A plug-in downloads roles, policies and tags one after the other: within a second it
gets those of one moment, even if something was committed in between.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import NamedTuple

from lily.api.enforcement.estate import KnownEstate, read_estate
from lily.api.http.errors import Declined, not_found
from lily.api.metrics import ApiMetrics
from lily.api.policy.cache import PolicyCache
from lily.api.policy.compiled import TenantPolicies
from lily.enforce.ranger import Documents, Ruling, Subjects, documents
from lily.lineage.tag_rules import TagRules
from lily.model.errors import Problem, Terminal
from lily.policy import Context, Role, User, fold
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.enforcement.catalogue import read_disabled_users
from lily.store.postgres.policies.decision_state import Changes, State, changes_since
from lily.store.postgres.policies.snapshot import first_users
from lily.store.postgres.policies.stored_objects import stored_user
from lily.store.postgres.sessions import Database

EVERYTHING = "trino"  # the service that has the tables of all data sources
MAX_KEPT = 20  # services whose documents are kept, in bytes about as many as all their policies
MAX_USERS = 100_000
SAME_MOMENT_SECONDS = 1.0
OF_TIME = ("time", "weekdays")  # conditions whose outcome changes by itself


class TooManyUsers(Terminal):
    """More users than the roles of one service can list."""


class _Kept(NamedTuple):
    made_at: float
    state: State
    lagging: bool
    version: int
    depends_on_time: bool
    documents: Documents


class RangerDocuments:
    """Raises StoreUnavailable if PostgreSQL does not respond: then nothing that is kept is used."""

    def __init__(self, database: Database, policies: PolicyCache, metrics: ApiMetrics) -> None:
        self._database, self._policies, self._metrics = database, policies, metrics
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def get(self, tenant: str, service: str) -> Documents:
        """Raises Declined with 404 if the catalogue has no table of the service, with 503 if its policies cannot be
        translated without a doubt."""
        if "\0" in service:  # PostgreSQL has no such text; 503 would have the plug-in ask again and again
            raise not_found(service, "service")
        place = (tenant, service)
        async with self._locks.setdefault(place, asyncio.Lock()):  # concurrent downloads share one set of documents
            try:
                kept = await self._current(tenant, service, self._kept.pop(place, None))
            except Declined:
                raise
            except Terminal as error:
                raise Declined(503, Problem("CANNOT_TRANSLATE", str(error), service)) from error
            finally:
                self._make_room(place)
            self._kept[place] = kept
            return kept.documents

    async def _current(self, tenant: str, service: str, kept: _Kept | None) -> _Kept:
        began = time.monotonic()
        changes = await changes_since(self._database, tenant, kept.state if kept else State())
        policies = await self._policies.get(tenant)
        if kept is not None and self._is_current(kept, began, changes, policies):
            return kept
        rules = await read_tag_rules(self._database, tenant)
        known = await read_estate(
            self._database, policies, None if service == EVERYTHING else service, policies.wanted(rules)
        )
        if not known.estate.tables and service != EVERYTHING:
            raise _unknown(service)
        users = await self._users(tenant)
        made = await asyncio.to_thread(_made, service, policies, known, users, rules)
        self._metrics.ranger_seconds.observe(time.monotonic() - began)
        return _Kept(began, changes.now, changes.lags, policies.version.number, _depends_on_time(policies), made)

    @staticmethod
    def _is_current(kept: _Kept, now: float, changes: Changes, policies: TenantPolicies) -> bool:
        if now - kept.made_at < SAME_MOMENT_SECONDS:
            return True
        unchanged = changes.assets == () and kept.lagging == changes.lags
        return unchanged and kept.version == policies.version.number and not kept.depends_on_time

    async def _users(self, tenant: str) -> list[User]:
        bodies, count = await first_users(self._database, tenant, MAX_USERS)
        disabled = await read_disabled_users(self._database, tenant, MAX_USERS)
        if count > MAX_USERS or len(disabled) == MAX_USERS:
            described = f"the tenant has more than {MAX_USERS:,} users, the most that a Ranger plug-in can be given"
            raise TooManyUsers(f"{described}. Let roles have groups of the identity provider instead of users.")
        names = {fold(name) for name in disabled}
        found = {fold(str(body["name"])): body for body in bodies}
        return [stored_user(key, found.get(key), key in names) for key in sorted({*found, *names})]

    def _make_room(self, place: tuple[str, str]) -> None:
        while len(self._kept) >= MAX_KEPT:
            self._kept.pop(next(iter(self._kept)))
        for other in [one for one, lock in self._locks.items() if one not in self._kept and not lock.locked()]:
            if other != place:
                del self._locks[other]


def _made(service: str, policies: TenantPolicies, known: KnownEstate, users: list[User], rules: TagRules) -> Documents:
    """In a thread: a large estate takes seconds, in which other requests are served."""
    roles = [one for one in policies.objects.values() if isinstance(one, Role)]
    subjects = Subjects(policies.index.policies.values(), roles, users)
    # Neither addresses nor purposes are known. Times are those of now, and hold until the next download.
    context = Context(now=datetime.now(UTC))
    ruling = Ruling(policies.index, subjects, policies.trino_names, known.facts, context)
    return documents(service, known.estate, ruling, lambda tag: rules.name(tag, tag))


def _depends_on_time(policies: TenantPolicies) -> bool:
    conditions = (policy.conditions for policy in policies.index.policies.values())
    return any(circumstance.name in OF_TIME for one in conditions if one for circumstance in one.circumstances)


def _unknown(service: str) -> Declined:
    described = (
        f"no table of the catalogue has the data source {service}; set ranger.service.name to a data source, or to "
        f"{EVERYTHING} for the tables of all of them"
    )
    return Declined(404, Problem("NOT_FOUND", described, service))
