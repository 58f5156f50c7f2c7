"""What has to be judged again: after changes of assets, and after a day has become complete."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from psycopg import Connection

from lily.quality.policies import CHANGE_DRIVEN
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query


def concerned(connection: Connection[Any], tenant: str, assets: Collection[str]) -> list[str]:
    """Those of the changed assets that have open findings, or that a policy about changes watches."""
    parameters = {"tenant": tenant, "ids": id_array(sorted(assets)), "types": list(CHANGE_DRIVEN)}
    return [asset for (asset,) in connection.execute(query("quality/concerned"), parameters)]


def due_policies(connection: Connection[Any], now: datetime) -> list[tuple[str, str]]:
    """Tenant and key of the policies whose assets are to be judged again, because a day is complete now."""
    return connection.execute(query("quality/due"), {"now": now}).fetchall()
