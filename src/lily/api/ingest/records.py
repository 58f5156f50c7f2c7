"""Events as records of the log: encoded, with the topic of their lane."""

from dataclasses import replace
from typing import NamedTuple

import orjson

from lily.bus import topics
from lily.incidents import IncidentEvent
from lily.model.columns import ColumnsEvent
from lily.model.edges import ClaimsEvent, EdgeEvent
from lily.model.events import AssetEvent
from lily.model.lanes import Lane, lane_of
from lily.model.statements import may_propagate

MAX_RECORD = 1 << 20  # bytes of the columns of a table: the log takes four times as much


class Record(NamedTuple):
    topic: str
    lane: Lane
    key: bytes
    value: bytes
    propagates: bool  # what it states may propagate along lineage
    has_authority: bool = False  # it has to be signed


def asset_record(event: AssetEvent, lane: Lane = "hot") -> Record:
    """A single write uses the hot lane, whatever its type."""
    value, propagates = orjson.dumps(event.as_cloudevent()), may_propagate(event.statement)
    return Record(topics.OF_LANE[lane], lane, event.key, value, propagates, event.has_authority)


def bulk_asset_record(event: AssetEvent) -> Record:
    """A row of a bulk body uses the lane of its type: plain columns can wait."""
    return asset_record(event, lane_of(event))


def columns_records(event: ColumnsEvent) -> list[Record]:
    """One record, or several if the columns are too long for one."""
    value = orjson.dumps(event.as_cloudevent())
    if len(value) <= MAX_RECORD or len(event.columns) == 1:
        return [Record(topics.ASSETS_BULK, "bulk", event.key, value, False, event.has_authority)]
    names = list(event.columns)
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    parts = ({name: event.columns[name] for name in half} for half in halves)
    return [record for part in parts for record in columns_records(replace(event, columns=part))]


def lineage_record(event: EdgeEvent | ClaimsEvent) -> Record:
    value = orjson.dumps(event.as_cloudevent())
    return Record(topics.LINEAGE_INTAKE, "hot", event.key, value, True, event.has_authority)


def incident_record(event: IncidentEvent) -> tuple[str, bytes, bytes]:
    """For the log alone: nothing waits for it, because reactions report their progress under other names."""
    return topics.INCIDENTS, event.key, orjson.dumps(event.as_cloudevent())
