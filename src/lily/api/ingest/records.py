"""Events as records of the log: encoded, with the topic of their lane."""

from typing import NamedTuple

import orjson

from lily.bus import topics
from lily.incidents import IncidentEvent
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.events import AssetEvent
from lily.model.lanes import Lane, lane_of
from lily.model.statements import may_propagate


class Record(NamedTuple):
    topic: str
    lane: Lane
    key: bytes
    value: bytes
    propagates: bool  # what it states may propagate along lineage


def asset_record(event: AssetEvent, lane: Lane = "hot") -> Record:
    """A single write uses the hot lane, whatever its type."""
    return Record(
        topics.OF_LANE[lane], lane, event.key, orjson.dumps(event.as_cloudevent()), may_propagate(event.statement)
    )


def bulk_asset_record(event: AssetEvent) -> Record:
    """A row of a bulk body uses the lane of its type: plain columns can wait."""
    return asset_record(event, lane_of(event))


def lineage_record(event: EdgeEvent | ClaimsEvent) -> Record:
    return Record(topics.LINEAGE_INTAKE, "hot", event.key, orjson.dumps(event.as_cloudevent()), propagates=True)


def incident_record(event: IncidentEvent) -> tuple[str, bytes, bytes]:
    """For the log alone: nothing waits for it, because reactions report their progress under other names."""
    return topics.INCIDENTS, event.key, orjson.dumps(event.as_cloudevent())
