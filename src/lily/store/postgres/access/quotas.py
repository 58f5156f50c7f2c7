"""What an administrator permits a tenant to send."""

from dataclasses import asdict

import psycopg
from psycopg.rows import class_row

from lily.model.errors import Terminal
from lily.model.quotas import TenantLimits
from lily.store.postgres.access.changes import OWNER
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database


async def tenant_limits(database: Database, tenant: str) -> TenantLimits:
    """Raises StoreUnavailable."""
    rows = await database.fetch(tenant, query("access/tenant_quota"), {})
    return TenantLimits(*rows[0]) if rows else TenantLimits()


def read_limits(owner_url: str, tenant: str) -> TenantLimits:
    with psycopg.connect(owner_url) as connection, connection.cursor(row_factory=class_row(TenantLimits)) as cursor:
        return cursor.execute(query("access/tenant_quota"), {"tenant": tenant}).fetchone() or TenantLimits()


def set_limits(owner_url: str, tenant: str, limits: TenantLimits, by: str = OWNER) -> None:
    """Replaces what was set. Audits it and notifies every process of the API. `by` is who sets it. Raises Terminal if
    there is no such tenant."""
    values = {**asdict(limits), "tenant": tenant, "by": by, "action": "tenant.quota_set"}
    with psycopg.connect(owner_url) as connection:
        try:
            connection.execute(query("access/set_tenant_quota") + query("access/access_changed"), values)
        except psycopg.errors.ForeignKeyViolation as error:
            raise Terminal(f"There is no tenant {tenant!r}. `lily tenant list` shows the tenants.") from error
