"""Pauses of tenants whose run failed: the longer, the more often it failed in a row."""

import time

PAUSES = (5, 15, 60, 300)  # seconds


class TenantPauses:
    """Kept in memory: what has to be done again is in the database, and a new process may try at once."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}
        self._until: dict[str, float] = {}

    def failed(self, tenant: str) -> int:
        """Returns the seconds of the pause that begins now."""
        count = self._failures[tenant] = self._failures.get(tenant, 0) + 1
        seconds = PAUSES[min(count, len(PAUSES)) - 1]
        self._until[tenant] = time.monotonic() + seconds
        return seconds

    def succeeded(self, tenant: str) -> None:
        self._failures.pop(tenant, None)
        self._until.pop(tenant, None)

    def paused(self) -> list[str]:
        now = time.monotonic()
        return [tenant for tenant, until in self._until.items() if until > now]
