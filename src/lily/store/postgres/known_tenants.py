"""The tenants that exist, as the pipeline checks them: looked up again only for one that is not known."""

from typing import Any

from psycopg import Connection


class KnownTenants:
    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._names: set[str] = set()

    def __contains__(self, tenant: str) -> bool:
        if tenant not in self._names:
            self._names = {name for (name,) in self._connection.execute("select id from tenants")}
        return tenant in self._names
