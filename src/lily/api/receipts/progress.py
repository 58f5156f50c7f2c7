"""The progress of the log as stored in PostgreSQL, for the waiter."""

from collections.abc import Collection
from typing import NamedTuple

from lily.api.receipts.waiter import Applied, Positions
from lily.store.postgres.progress.applied import applied_offsets
from lily.store.postgres.progress.propagated import published_positions_of_decision, published_positions_of_writes
from lily.store.postgres.propagation.propagator import PROPAGATION
from lily.store.postgres.reactions.parking import is_parked
from lily.store.postgres.sessions import Database


class StoredProgress(NamedTuple):
    """Raises StoreUnavailable while PostgreSQL is unavailable."""

    database: Database

    async def applied(self) -> Applied:
        return await applied_offsets(self.database)

    async def published(self, writes: Collection[Positions]) -> dict[Positions, Positions]:
        requested = list(writes)
        published = await published_positions_of_writes(self.database, requested)
        return {
            write: tuple(positions)
            for write, positions in zip(requested, published, strict=True)
            if positions is not None
        }

    async def decisions_published(self, tenants: Collection[str]) -> dict[str, Positions]:
        # One query per tenant: row-level security shows one at a time, and requests of one tenant share the result.
        published = [(tenant, await published_positions_of_decision(self.database, tenant)) for tenant in tenants]
        return {tenant: tuple(positions) for tenant, positions in published if positions is not None}

    async def unparked(self, tenants: Collection[str]) -> dict[str, bool]:
        parked = [(tenant, await is_parked(self.database, tenant, PROPAGATION)) for tenant in tenants]
        return {tenant: True for tenant, has_parked in parked if not has_parked}
