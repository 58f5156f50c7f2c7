"""What a tenant may send to one process of the API."""

from dataclasses import dataclass, fields
from typing import Literal

Quota = Literal["requests_per_second", "decisions_per_second", "events_per_second", "bytes_per_second"]


@dataclass(frozen=True, slots=True)
class TenantLimits:
    """None where nothing is stated; 0 for no limit."""

    requests_per_second: int | None = None
    decisions_per_second: int | None = None
    events_per_second: int | None = None
    bytes_per_second: int | None = None
    connections: int | None = None

    def over(self, others: "TenantLimits") -> "TenantLimits":
        """These limits, and the others where nothing is stated."""
        stated = {field.name: getattr(self, field.name) for field in fields(self)}
        return TenantLimits(
            **{name: getattr(others, name) if value is None else value for name, value in stated.items()}
        )
