"""Replays the recorded events of an asset: to its state at a time, and to its history."""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import orjson

from lily.model.columns import events_of, read_asset_record
from lily.model.errors import Refused
from lily.model.events import AssetEvent
from lily.model.states import AssetState
from lily.store.lake.scans import LakeEvent


class ReplayedChange(NamedTuple):
    """An event that changed a layer, and the layer's values before and after."""

    position: int  # counted from 1, in the order of the log
    version: int
    event: AssetEvent
    received: str
    before: dict[str, Any] | None
    after: dict[str, Any]


class ReplayedHistory(NamedTuple):
    changes: list[ReplayedChange]  # oldest first
    positions: dict[str, int]  # by the id of each event, also of those that changed nothing


class PastState(NamedTuple):
    state: AssetState
    events: int


def state_at(
    tenant: str, asset_id: str, events: Iterable[LakeEvent], recorded: Callable[[LakeEvent], bool], skew: timedelta
) -> PastState | None:
    """The state made of the events that were recorded by then; None if there were none."""
    state: AssetState | None = None
    count = 0
    for _, _, event in _valid(tenant, asset_id, filter(recorded, events), skew):
        count += 1
        if state is None:
            state = AssetState.of(event)
        else:
            state.merge(AssetState.of(event))
    return None if state is None else PastState(state, count)


def replay_history(
    tenant: str,
    asset_id: str,
    events: Iterable[LakeEvent],
    skew: timedelta,
    leaving_out: Collection[str] = (),
) -> ReplayedHistory:
    """Without the changes that the events with these ids made."""
    history = ReplayedHistory([], {})
    state: AssetState | None = None
    for position, record, event in _valid(tenant, asset_id, events, skew):
        name = event.statement.layer
        known = state.layers.get(name) if state else None
        if state is None:
            state = AssetState.of(event)
        else:
            state.merge(AssetState.of(event))
        before, after = known.fields if known else None, state.layers[name].fields
        history.positions.setdefault(event.id, position)
        if before != after and event.id not in leaving_out:
            version = len(history.changes) + 1
            history.changes.append(ReplayedChange(position, version, event, record.received, before, after))
    return history


def _valid(
    tenant: str, asset_id: str, events: Iterable[LakeEvent], skew: timedelta
) -> Iterator[tuple[int, LakeEvent, AssetEvent]]:
    """Leaves out what the pipeline refused, with the same validation. An event that concerns another asset than its
    record's key was refused as well, so it must not count here."""
    position = 0
    for record in events:
        try:
            stated = read_asset_record(orjson.loads(record.event), received=record.received, skew=skew)
        except (Refused, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
            continue
        for event in events_of(stated, {(tenant, asset_id)}):
            position += 1
            yield position, record, event
