"""`?as_of=`: an asset as it was at a time, rebuilt from the events that were recorded by then.

An event of the bulk lane is recorded when its batch is committed to the lake, one of the hot lane at the end of the
millisecond in which the log accepted it. Events are never deleted, so any time in the past can be read. Derived tags
are not part of the result: `POST /policy/check` reads their history.

Until the lake has reached the time, PostgreSQL's history shows what could be read then.
"""

from collections.abc import Mapping
from datetime import timedelta

from lily.api.calls import Call
from lily.api.http.errors import not_found
from lily.bus import topics
from lily.model import clock
from lily.model.assets import DELETED, LayerName
from lily.model.errors import Problem, Refused, Transient
from lily.model.layers import Layer
from lily.store.assets import StoredAsset
from lily.store.lake.event_replay import PastState, state_at
from lily.store.postgres.catalogue.history import LaterChanges, changes_after
from lily.store.postgres.dead_letters.refused_records import without_refused
from lily.store.postgres.lake.snapshot import newest_batch_at

RECORDED = (topics.ASSETS, topics.ASSETS_BULK)  # the topics whose events the lake keeps


class NotRecordedYet(Transient):
    """The lake has not reached the requested time, and PostgreSQL does not have all of what the asset was then."""


async def rebuild_past(call: Call, asset_id: str, reference: str, as_of: str) -> StoredAsset:
    """Whatever the caller may read: `past_reads` asks the policies. Raises Declined with 404 if the asset did not exist
    by then, NotRecordedYet if the lake has not reached it."""
    past = await _past(call, asset_id, reference, as_of)
    return past.with_tag_rules(await call.services.tag_rules.get(call.tenant))


async def _past(call: Call, asset_id: str, reference: str, as_of: str) -> StoredAsset:
    time = read_time(as_of)
    fresh_as_of = await call.services.lake.fresh_as_of()
    held = await call.services.reader.find(call.tenant, asset_id)
    if held is not None and (fresh_as_of is None or time > fresh_as_of):
        found = await _recent_past(call, held, time, fresh_as_of)
    else:
        # An asset that PostgreSQL lacks has events of the bulk lane only, whose batches carry their own time.
        found = await _from_lake(call, asset_id, time)
    if found is None:
        raise not_found(reference)
    return found


async def _from_lake(call: Call, asset_id: str, time: str, only: tuple[str, ...] = RECORDED) -> StoredAsset | None:
    past = await _recorded(call, asset_id, time, only)
    return None if past is None else StoredAsset.of_state(past.state, time, past.events)


async def _recent_past(call: Call, held: StoredAsset, time: str, fresh_as_of: str | None) -> StoredAsset | None:
    """The asset as it is now, without what has changed since."""
    later = await changes_after(call.services.database, call.tenant, held.id, time)
    if not (later.before or later.are_archived):
        past = await _recorded(call, held.id, time) if held.awaits_lake else None
        return held.merged_with(past.state if past else None, time)
    if later.version == 0 and not later.are_archived:
        # It came to PostgreSQL since, so what could be read of it were events of the bulk lane.
        return await _from_lake(call, held.id, time, (topics.ASSETS_BULK,))
    if (found := undone(held, later, time)) is not None:
        return found
    so_far = f"only until {fresh_as_of}" if fresh_as_of else "nothing yet"
    raise NotRecordedYet(f"The lake has recorded {so_far}. Try again later.")


def undone(asset: StoredAsset, later: LaterChanges, time: str) -> StoredAsset | None:
    """The asset without the later changes; None if PostgreSQL does not have all of what it was. The history has values
    and no clocks, so it must not depend on these which value was shown."""
    state = asset.state
    if asset.awaits_lake or later.are_archived or later.are_promoted or (later.first_event or "") <= state.first:
        return None
    then = {name: Layer(fields, "", {}) for name, fields in later.before.items() if fields is not None}
    state.layers = {name: layer for name, layer in state.layers.items() if name not in later.before} | then
    if _deletion_depends_on_clocks(state.layers):
        return None
    state.last = max(state.first, later.last_event or "")
    return StoredAsset.of_state(state, time, later.version or 1)


def _deletion_depends_on_clocks(layers: Mapping[LayerName, Layer]) -> bool:
    """Whether a person and the source disagree, so that the newer one decides."""
    source, user = (layers[name].fields if name in layers else {} for name in ("source", "user"))
    return source.get(DELETED) is True and DELETED in user


async def _recorded(call: Call, asset_id: str, time: str, only: tuple[str, ...] = RECORDED) -> PastState | None:
    # Read before the events, so that the events of this batch are in the lake.
    batch = await newest_batch_at(call.services.database, time)
    recorded = [event for event in await call.services.lake.events(call.tenant, asset_id) if event.topic in only]
    events = await without_refused(call.services.database, call.tenant, recorded)
    return state_at(
        call.tenant,
        asset_id,
        events,
        lambda event: (
            event.batch <= batch if event.topic == topics.ASSETS_BULK else _received_before(event.received, time)
        ),
        skew_of(call),
    )


def _received_before(received: str, time: str) -> bool:
    """The log truncates its times to milliseconds: an event of the same millisecond may be later than the time."""
    return clock.milliseconds(received) < clock.milliseconds(time)


def skew_of(call: Call) -> timedelta:
    return timedelta(seconds=call.services.settings.limits.future_skew_seconds)


def read_time(given: str) -> str:
    """A time of the past, normalised. Raises Refused for anything else."""
    try:
        time = clock.normalise_time(given)
    except ValueError as error:
        raise Refused(Problem("INVALID_TIME", f"as_of {given[:64]!r}: {error}", "as_of")) from error
    if time > clock.now():
        raise Refused(Problem("TIME_IN_FUTURE", "as_of is in the future; send a time in the past", "as_of"))
    return time
