"""`?as_of=`: an asset as it was at a time, rebuilt from the events that were recorded by then.

An event of the bulk lane is recorded when its batch is committed to the lake, one of the hot lane at the end of the
millisecond in which the log accepted it. Events are never deleted, so any time in the past can be read. Derived tags
are not part of the result: `POST /policy/check` reads their history.
"""

from datetime import timedelta

from lily.api.calls import Call
from lily.api.http.errors import not_found
from lily.bus import topics
from lily.model import clock
from lily.model.errors import Problem, Refused, Transient
from lily.store.assets import StoredAsset
from lily.store.lake.event_replay import PastState, state_at
from lily.store.postgres.catalogue.history import changed_after
from lily.store.postgres.dead_letters.refused_records import without_refused
from lily.store.postgres.lake.snapshot import newest_batch_at


class NotRecordedYet(Transient):
    """The lake has not reached the requested time, and the asset has changed since."""


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
        return await _still_present(call, held, time, fresh_as_of)
    # An asset that PostgreSQL lacks has events of the bulk lane only, whose batches carry their own time.
    past = await _recorded(call, asset_id, time)
    if past is None:
        raise not_found(reference)
    return StoredAsset.of_state(past.state, time, past.events)


async def _still_present(call: Call, held: StoredAsset, time: str, fresh_as_of: str | None) -> StoredAsset:
    """The asset as it is now, if it has not changed since."""
    if await changed_after(call.services.database, call.tenant, held.id, time):
        so_far = f"only until {fresh_as_of}" if fresh_as_of else "nothing yet"
        raise NotRecordedYet(f"The lake has recorded {so_far}. Try again later.")
    past = await _recorded(call, held.id, time) if held.awaits_lake else None
    return held.merged_with(past.state if past else None, time)


async def _recorded(call: Call, asset_id: str, time: str) -> PastState | None:
    # Read before the events, so that the events of this batch are in the lake.
    batch = await newest_batch_at(call.services.database, time)
    recorded = await call.services.lake.events(call.tenant, asset_id)
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
