"""Aggregates the events of a batch to one row to stage per layer of an asset."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import orjson

from lily.model.causes import cause_of
from lily.model.changes import promotion
from lily.model.events import AssetEvent
from lily.model.plain_events import PlainEvent
from lily.model.states import AssetState
from lily.store.postgres.copying import NULL, escaped_json
from lily.store.postgres.staged_layers import StagedLayer

StagedRow = StagedLayer | PlainEvent  # a plain event is a row as it is, if nothing else states its asset's source layer


def aggregate(events: Iterable[AssetEvent | PlainEvent]) -> list[StagedRow]:
    rows: dict[tuple[str, str], StagedRow] = {}
    for event in events:
        if isinstance(event, PlainEvent) and rows.setdefault(("source", event.asset_id), event) is event:
            continue
        _add(rows, event.in_full() if isinstance(event, PlainEvent) else event)
    return list(rows.values())


def _add(rows: dict[tuple[str, str], StagedRow], event: AssetEvent) -> None:
    key = event.statement.layer, event.asset_id
    known = rows.get(key)
    if known is None:
        rows[key] = _staged(event)
        return
    if isinstance(known, PlainEvent):
        known = rows[key] = _staged(known.in_full())
    known.add(event.layer(), event.time, cause_of(event))


def _staged(event: AssetEvent) -> StagedLayer:
    layer, statement = event.layer(), event.statement
    identity = _identity(event.tenant, event.asset_id, statement.qualified_name)
    entity_type = statement.entity_type if statement.layer != "source" else None
    return StagedLayer(statement.layer, identity, layer, event.time, event.time, [cause_of(event)], entity_type)


def rows_of_state(state: AssetState) -> list[StagedLayer]:
    """The layers of an asset's state in the lake. The newest event of each layer is recorded as its cause."""
    identity = _identity(state.tenant, state.id, state.qualified_name)
    return [
        StagedLayer(name, identity, layer, state.first, state.last, [promotion(layer.at)])
        for name, layer in state.layers.items()
    ]


def count_layers(rows: Iterable[StagedRow]) -> Counter[str]:
    return Counter("source" if isinstance(row, PlainEvent) else row.name for row in rows)


def copy_rows(rows: Iterable[StagedRow]) -> list[str]:
    return [_plain_row(row) if isinstance(row, PlainEvent) else _row(row) for row in rows]


def _row(row: StagedLayer) -> str:
    return row.as_copy_row(_key_array(tuple(row.layer.fields)), f"\t{row.entity_type or NULL}")


def _plain_row(event: PlainEvent) -> str:
    """The same of an event whose texts need no escaping."""
    tenant, asset_id, qualified_name, time, event_id, fields, by, correlation, trace = event
    cause = f'{{"id":"{event_id}","time":"{time}"'
    if by is not None:
        cause += f',"by":"{by}"'
    if correlation is not None:
        cause += f',"correlation":"{correlation}"'
    if trace is not None:
        cause += f',"trace":"{trace}"'
    return (
        f"source\t{tenant}\t{asset_id}\t{qualified_name}\t{escaped_json(orjson.dumps(fields).decode())}"
        f"{_key_array(tuple(fields))}\t{time}/{event_id}\t{NULL}\t{time}\t{time}\t[{cause}}}]\t{NULL}\n"
    )


def _identity(tenant: str, asset_id: str, qualified_name: str) -> str:
    return f"{tenant}\t{asset_id}\t{escaped_json(qualified_name)}"


@lru_cache(maxsize=4096)
def _key_array(keys: tuple[str, ...]) -> str:
    """A column with a text[] literal. Assets of one type state the same fields, so the cache nearly always has it."""
    quoted = ('"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"' for key in keys)
    return "\t" + escaped_json("{" + ",".join(quoted) + "}")
