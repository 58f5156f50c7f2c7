"""The event that requests a refresh of a data source, as scrapers read it."""

from typing import Final

from lily.model.schemas import Schema, event_schema, name_schema, object_schema, published

REFRESH_REQUESTED = "lily.refresh.requested"
REASONS = ("schedule", "catch-up", "manual")

_TIME: Final[Schema] = {"type": "string", "format": "date-time"}

SCHEMAS: Final[dict[str, Schema]] = published(
    {
        "refresh-event": event_schema(
            REFRESH_REQUESTED,
            object_schema(
                ["run_id", "data_source", "requested_at", "due_at", "timeout", "reason"],
                {
                    "run_id": {"type": "string", "format": "uuid"},
                    "data_source": name_schema(),
                    "requested_at": _TIME,
                    "due_at": _TIME,
                    "timeout": {"type": "string", "description": "how long the run may take, such as 4h or 1h30m"},
                    "reason": {"enum": list(REASONS)},
                },
            ),
        )
    }
)
