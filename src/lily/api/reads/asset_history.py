"""The changes of an asset, newest first: those in PostgreSQL, and then those that the events in the lake make.

The lake shows what happened to a column before it came to PostgreSQL, and what has left PostgreSQL by age. Every event
is shown by one of the two: those of the changes that PostgreSQL still has are left out of the other.
"""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Any, NamedTuple

from lily.bus import topics
from lily.model import changes, clock
from lily.model.assets import entity_type
from lily.model.causes import cause_of
from lily.model.lanes import BULK_TYPES
from lily.store.assets import StoredAsset
from lily.store.lake.event_replay import ReplayedChange, ReplayedHistory, replay_history
from lily.store.lake.reader import LakeReader
from lily.store.lake.scans import LakeEvent
from lily.store.postgres.catalogue.history import Archived, archived_changes, changes_of
from lily.store.postgres.dead_letters.refused_records import without_refused
from lily.store.postgres.lake.snapshot import newest_batch_before_promotion
from lily.store.postgres.outbox.batches import Change
from lily.store.postgres.sessions import Database

CLOCKS_APART = timedelta(minutes=5)  # the log's clock may be ahead of PostgreSQL's

Item = dict[str, Any]


class HistoryPosition(NamedTuple):
    """Where the next page begins: below a position of the change log, or of the lake's events. `shown` is an event of
    the last change from PostgreSQL: if that leaves PostgreSQL before the next page is read, it is not shown again."""

    below: int | None = None
    in_lake: bool = False
    shown: str | None = None


BEGINNING = HistoryPosition()


class AssetHistory:
    def __init__(self, database: Database, lake: LakeReader, tenant: str, asset: StoredAsset, skew: timedelta) -> None:
        self._database, self._lake, self._tenant, self._id, self._skew = database, lake, tenant, asset.id, skew
        self._may_be_promoted = entity_type(asset.layers) in BULK_TYPES

    async def page(self, position: HistoryPosition, limit: int) -> tuple[list[Item], HistoryPosition | None]:
        """Raises LakeUnavailable if the page needs the lake and it cannot be read."""
        promoted = await self._before_promotion() if self._may_be_promoted else []
        items: list[Item] = []
        if not position.in_lake:
            items, position, is_last = await self._stored(position, limit, self._replayed(promoted).positions.keys())
            if not is_last:
                return items, position
        # Read after PostgreSQL's part, so nothing is missing.
        archived = await archived_changes(self._database, self._tenant, self._id)
        if archived is None:
            older, more = _in_lake(self._replayed(promoted), position, limit - len(items))
        else:
            steps = await self._with_archived(promoted, archived)
            # If the last change that was shown has left PostgreSQL since, the lake has it and those that followed it.
            end = None if position.shown in archived.later_events else steps.positions.get(position.shown or "")
            older, more = _in_lake(steps, position, limit - len(items), end)
        return items + older, more

    async def _stored(
        self, position: HistoryPosition, limit: int, promoted: AbstractSet[str]
    ) -> tuple[list[Item], HistoryPosition, bool]:
        """Without the changes that promotion made: the lake reports them at their own time. And whether this is all."""
        found = await changes_of(self._database, self._tenant, self._id, below=position.below, limit=limit + 1)
        page = found[:limit]
        items = [_item(change) for change in page if not promoted >= set(_events(change))]
        shown = next((event for change in reversed(page) for event in _events(change)), position.shown)
        if len(found) > limit:
            return items, HistoryPosition(page[-1].position, shown=shown), False
        return items, HistoryPosition(in_lake=True, shown=shown), True

    async def _before_promotion(self) -> list[LakeEvent]:
        """The events of the bulk lane until the asset came to PostgreSQL."""
        until = await newest_batch_before_promotion(self._database, self._tenant, self._id)
        events = await self._events()
        return [
            event for event in events if event.topic == topics.ASSETS_BULK and (until is None or event.batch <= until)
        ]

    async def _events(self) -> list[LakeEvent]:
        recorded = await self._lake.events(self._tenant, self._id)
        return await without_refused(self._database, self._tenant, recorded)

    async def _with_archived(self, promoted: Collection[LakeEvent], archived: Archived) -> ReplayedHistory:
        until, early = clock.stamp(archived.until + CLOCKS_APART), set(promoted)
        events = [event for event in await self._events() if event in early or event.received <= until]
        later = archived.later_events - self._replayed(promoted).positions.keys()
        return self._replayed(events, later)

    def _replayed(self, events: Collection[LakeEvent], later: Collection[str] = ()) -> ReplayedHistory:
        """Without the changes that PostgreSQL shows."""
        return replay_history(self._tenant, self._id, events, self._skew, leaving_out=later)


def _in_lake(
    history: ReplayedHistory, position: HistoryPosition, limit: int, end: int | None = None
) -> tuple[list[Item], HistoryPosition | None]:
    """Below the position, and before the event at `end`."""
    ends = [one for one in (position.below, end) if one is not None]
    below = [step for step in reversed(history.changes) if all(step.position < one for one in ends)]
    if not limit and below:
        return [], position
    page = below[:limit]
    more = HistoryPosition(page[-1].position, in_lake=True) if len(below) > limit else None
    return [_step(step) for step in page], more


def _events(change: Change) -> list[str]:
    return [cause["id"] for cause in change.causes]


def _item(change: Change) -> Item:
    return {
        "position": change.position,
        "version": change.version,
        "layer": change.layer,
        "change": changes.kind(change.before, change.after),
        "what": changes.differences(change.before, change.after),
        "causes": change.causes,
        "at": clock.stamp(change.committed_at),
    }


def _step(step: ReplayedChange) -> Item:
    return {
        "position": step.position,
        "version": step.version,
        "layer": step.event.statement.layer,
        "change": changes.kind(step.before, step.after),
        "what": changes.differences(step.before, step.after),
        "causes": [cause_of(step.event)],
        "at": step.received,
    }
