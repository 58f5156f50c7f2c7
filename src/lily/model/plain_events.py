"""A plain event: a source states an asset with plain texts, as nearly every record of the hot topic does.

It is read without the objects of the full way (`lily.pipeline.plain_records`), and is stored without them unless
something else is stated of the same asset.
"""

from typing import Any, NamedTuple

from lily.model import clock
from lily.model.assets import TYPE
from lily.model.events import AssetEvent
from lily.model.statements import Statement


class PlainEvent(NamedTuple):
    """What it states about the source layer of one asset. No text but those of `fields` needs escaping."""

    tenant: str
    asset_id: str
    qualified_name: str
    time: str
    id: str
    fields: dict[str, Any]  # of the layer
    by: str | None
    correlation: str | None
    trace: str | None

    @property
    def clock(self) -> str:
        return clock.clock(self.time, self.id)

    def in_full(self) -> AssetEvent:
        """The event as `read_event` returns it."""
        attributes = {key: value for key, value in self.fields.items() if not key.startswith("$")}
        statement = Statement(
            "source", "upsert", self.qualified_name, self.fields[TYPE], attributes, None, self.by or ""
        )
        correlation, trace = self.correlation or "", self.trace or ""
        return AssetEvent(self.id, self.time, self.tenant, statement, correlation=correlation, trace=trace)
