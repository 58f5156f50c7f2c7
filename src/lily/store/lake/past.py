"""What the recorded events of an asset tell: what it was at a time, and how it came to be so."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import orjson

from lily.model.errors import Refused
from lily.model.events import AssetEvent, read_event
from lily.model.states import AssetState
from lily.store.lake.scans import LakeEvent


class Step(NamedTuple):
    """One event that changed a layer: its values before and after."""

    position: int  # counted from 1, in the order in which the log took the events
    version: int
    event: AssetEvent
    received: str
    before: dict[str, Any] | None
    after: dict[str, Any]


class Story(NamedTuple):
    """The events that changed something, oldest first, and the ids of all there were."""

    steps: list[Step]
    events: set[str]


class Past(NamedTuple):
    state: AssetState
    events: int


def at_time(
    tenant: str, asset_id: str, events: Iterable[LakeEvent], recorded: Callable[[LakeEvent], bool], skew: timedelta
) -> Past | None:
    """The asset as the events that were recorded by then make it; None where there are none."""
    state: AssetState | None = None
    count = 0
    for _, _, event in _readable(tenant, asset_id, filter(recorded, events), skew):
        count += 1
        if state is None:
            state = AssetState.of(event)
        else:
            state.merge(AssetState.of(event))
    return None if state is None else Past(state, count)


def story(tenant: str, asset_id: str, events: Iterable[LakeEvent], skew: timedelta) -> Story:
    found = Story([], set())
    state: AssetState | None = None
    for position, record, event in _readable(tenant, asset_id, events, skew):
        name = event.statement.layer
        known = state.layers.get(name) if state else None
        if state is None:
            state = AssetState.of(event)
        else:
            state.merge(AssetState.of(event))
        before, after = known.fields if known else None, state.layers[name].fields
        found.events.add(event.id)
        if before != after:
            found.steps.append(Step(position, len(found.steps) + 1, event, record.received, before, after))
    return found


def _readable(
    tenant: str, asset_id: str, events: Iterable[LakeEvent], skew: timedelta
) -> Iterator[tuple[int, LakeEvent, AssetEvent]]:
    """The log holds what the pipeline refused, too: it is judged as it was then. A record's key says whom it concerns,
    and one whose event says otherwise was refused, so it must not pass for this asset's here."""
    for position, record in enumerate(events, start=1):
        try:
            event = read_event(orjson.loads(record.event), received=record.received, skew=skew)
        except (Refused, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
            continue
        if (event.tenant, event.asset_id) == (tenant, asset_id):
            yield position, record, event
