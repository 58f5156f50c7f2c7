"""Marks what incidents put at risk, and clears it, around what changed: from committed state."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from psycopg import Connection

from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query

AT_RISK = "at_risk"  # the name of the reaction, and of the lock that allows one run per tenant at a time


@dataclass(slots=True)
class RiskMarks:
    """What changed in a tenant, by id: incidents, edges (from, to), and assets that have another parent. Incidents of
    `again` are computed from nothing, whatever is stored."""

    incidents: set[str] = field(default_factory=set)
    edges: set[tuple[str, str]] = field(default_factory=set)
    moved: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)

    @property
    def any(self) -> bool:
        return bool(self.incidents or self.edges or self.moved or self.again)


class SpreadResult(NamedTuple):
    """The number of assets, counted once for each incident."""

    came: int = 0
    went: int = 0


class TenantRisks:
    """Runs in the caller's transaction, which must be REPEATABLE READ. The caller takes the tenant's lock before the
    transaction begins. Idempotent: what was handled already changes nothing. Raises what the connection raises."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._connection.execute("set temp_buffers = '64MB'")
        self._connection.execute(query("at_risk/stage"))

    def concerns(self, tenant: str) -> bool:
        """Whether the tenant has incidents that are not resolved."""
        row = self._connection.execute(query("at_risk/is_concerned"), {"tenant": tenant}).fetchone()
        return bool(row and row[0])

    def spread(self, tenant: str, marks: RiskMarks) -> SpreadResult:
        """Updates what is at risk around the marks, and queues announcements of what changed."""
        parameters = {
            "tenant": tenant,
            "incidents": id_array(marks.incidents),
            "from": id_array(start for start, _ in marks.edges),
            "to": id_array(end for _, end in marks.edges),
            "moved": id_array(marks.moved),
            "again": id_array(marks.again),
        }
        row = self._connection.execute(query("at_risk/spread"), parameters).fetchone()
        result = SpreadResult(*row) if row else SpreadResult()
        if any(result):
            self._connection.execute("select pg_notify('lily_applied', '')")
        return result
