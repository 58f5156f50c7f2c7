"""The compiled policies of each tenant in this process.

A notification marks a tenant's policies as changed; the next decision reads the versions before it decides. The
listener confirms several times a second that no notification can be missing. While it does not, every decision compares
the version with a query first, and if PostgreSQL does not respond there is no decision at all (StoreUnavailable).
Decision 22 has the reasons.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Collection, Iterable

from lily.api.metrics import PolicyMetrics
from lily.api.policy.compiled import TenantPolicies, compiled
from lily.policy import Principal, User, fold
from lily.store.postgres.policies.snapshot import Version, read_snapshot, read_users, read_version
from lily.store.postgres.policies.stored_objects import stored_user
from lily.store.postgres.sessions import Database

TRUSTED_SECONDS = 1.0  # since the last confirmation; it comes every 0.4 s
MAX_USERS = 50_000  # kept per tenant
MAX_TENANTS = 1_000


class PolicyCache:
    """One compiled index per tenant. Raises StoreUnavailable if the version cannot be read where it must be."""

    def __init__(self, database: Database, metrics: PolicyMetrics) -> None:
        self._database, self._metrics = database, metrics
        self._current: dict[str, TenantPolicies] = {}
        self._fresh: set[str] = set()  # tenants without a change since their versions were read
        self._changes: defaultdict[str, int] = defaultdict(int)  # by tenant; under "" those of any tenant
        self._compiling: dict[str, asyncio.Task[TenantPolicies]] = {}
        self._refreshing: dict[str, asyncio.Task[TenantPolicies]] = {}
        self._confirmed_at = float("-inf")

    @property
    def is_trusted(self) -> bool:
        """Whether a change that was committed more than TRUSTED_SECONDS ago must have been notified."""
        return time.monotonic() - self._confirmed_at < TRUSTED_SECONDS

    @property
    def unconfirmed_seconds(self) -> float:
        return time.monotonic() - self._confirmed_at

    def confirmed(self, at: float) -> None:
        """Every change that was committed before `at`, a time of the monotonic clock, has been notified."""
        self._confirmed_at = max(at, self._confirmed_at)

    def lost(self) -> None:
        """Notifications may be missing from now on."""
        self._confirmed_at = float("-inf")
        self.changed()

    def changed(self, tenant: str = "") -> None:
        """The policies of a tenant, or of any tenant, have changed. Those that are in use are read again at once."""
        self._changes[tenant] += 1
        if not tenant:
            self._fresh.clear()
            return
        self._fresh.discard(tenant)
        if tenant in self._current:
            self._compile_again(tenant)

    def current(self, tenant: str) -> TenantPolicies | None:
        """The policies in force, if they are known without a query. None does not mean that there are none."""
        current = self._current.get(tenant)
        return current if current is not None and tenant in self._fresh and self.is_trusted else None

    async def get(self, tenant: str) -> TenantPolicies:
        """The policies in force."""
        return self.current(tenant) or await self._verified(tenant)

    async def users(self, policies: TenantPolicies, names: Collection[str]) -> dict[str, User | None]:
        """By folded name, the users of these names; None where the tenant has no such user and none is disabled."""
        known = policies.users
        missing = {key for key in map(fold, names) if key and key not in known}
        if missing:
            found = await read_users(self._database, policies.tenant, missing)
            if len(known) + len(missing) > MAX_USERS:
                known.clear()
            known |= {key: stored_user(key, *found[key]) if key in found else None for key in missing}
        return known

    async def principal(self, policies: TenantPolicies, user: str, groups: Iterable[str] = ()) -> Principal:
        """A caller as policies see it: with the groups and roles of the tenant's user of that name, and the groups that
        its identity provider states."""
        found = (await self.users(policies, [user])).get(fold(user)) if user else None
        if found is None:
            return Principal(user, groups)
        return Principal(user, (*groups, *found.groups), found.roles, disabled=found.disabled)

    async def _verified(self, tenant: str) -> TenantPolicies:
        """The policies of the version that is stored now. They are fresh unless a change came while this read."""
        before = self._changes[tenant], self._changes[""]
        policies = await self._at(tenant, await read_version(self._database, tenant))
        if before == (self._changes[tenant], self._changes[""]):
            self._fresh.add(tenant)
        return policies

    async def _at(self, tenant: str, version: Version) -> TenantPolicies:
        """At least the given version."""
        policies = self._current.get(tenant)
        while policies is None or policies.version.compiled < version.compiled:
            policies = await self._shared_compilation(tenant)
        if policies.version.number < version.number:
            policies = self._keep(policies.at(version))
        return policies

    async def _shared_compilation(self, tenant: str) -> TenantPolicies:
        if tenant not in self._compiling:
            self._compiling[tenant] = asyncio.create_task(self._compile(tenant))
        # Shielded: several requests may wait for it, and one that is cancelled must not cancel it.
        return await asyncio.shield(self._compiling[tenant])

    def _compile_again(self, tenant: str) -> None:
        """One at a time: what changes meanwhile has marked the tenant, so the next decision reads the version."""
        if tenant not in self._refreshing:
            task = self._refreshing[tenant] = asyncio.create_task(self._verified(tenant))
            task.add_done_callback(lambda done: self._refreshed(tenant, done))

    def _refreshed(self, tenant: str, done: "asyncio.Task[TenantPolicies]") -> None:
        self._refreshing.pop(tenant, None)
        if not done.cancelled():
            done.exception()  # the next request raises it to its caller

    async def _compile(self, tenant: str) -> TenantPolicies:
        began, previous = time.monotonic(), self._current.get(tenant)
        try:
            snapshot = await read_snapshot(self._database, tenant, previous.version.number if previous else -1)
            # In a thread: thousands of policies take a while, in which other requests are served.
            policies = await asyncio.to_thread(compiled, tenant, snapshot, previous)
            self._metrics.refreshes.observe(time.monotonic() - began)
            return self._keep(policies)
        finally:
            self._compiling.pop(tenant, None)

    def _keep(self, policies: TenantPolicies) -> TenantPolicies:
        if len(self._current) >= MAX_TENANTS and policies.tenant not in self._current:
            oldest = next(iter(self._current))
            del self._current[oldest]
            self._fresh.discard(oldest)
        current = self._current.get(policies.tenant)
        if current is None or current.version.number <= policies.version.number:
            self._current[policies.tenant] = policies
        return policies
