"""Reads of the past, for callers whom policies may restrict: what an asset was and what it is must both be permitted.

What is shown are stated values. What decides are the tags in effect then, derived ones included: those that had reached
the asset along edges, and those that it inherited, also through parents that were held.
"""

from lily.api.auth.authorisation import authorise
from lily.api.auth.restrictions import restrictions_of
from lily.api.calls import Call
from lily.api.policy.past_assets import PastAsset, PastAssets, Undecidable
from lily.api.reads.as_of import read_time, rebuild_past
from lily.model.errors import Problem
from lily.store.assets import StoredAsset
from lily.store.postgres.definitions.past_tags import read_tag_rules_at
from lily.store.postgres.policies.history import ever_had_edges
from lily.store.postgres.propagation.history import history_start


async def find_past(call: Call, asset_id: str, reference: str, as_of: str) -> StoredAsset:
    """Raises Declined: 404 if the asset did not exist by then, 403 if a policy denies the asset as it was or as it is,
    422 if a policy depends on tags and what the asset derived then was not recorded; NotRecordedYet if the lake has not
    reached it."""
    result = await rebuild_past(call, asset_id, reference, as_of)
    restrictions = await restrictions_of(call.services, call.principal, "READ")
    if restrictions is not None:
        as_it_was = await _with_derived_tags(call, result, as_of) if restrictions.depend_on_tags else result
        await authorise(call, "READ", as_it_was)
        await _authorise_present(call, asset_id)
    return result


async def _authorise_present(call: Call, asset_id: str) -> None:
    """The past of an asset is as protected as its present."""
    present = await call.services.catalogue.find(call.tenant, asset_id)
    if present is not None:
        await authorise(call, "READ", present)


async def _with_derived_tags(call: Call, asset: StoredAsset, as_of: str) -> StoredAsset:
    time = read_time(as_of)
    rules = await read_tag_rules_at(call.services.database, call.tenant, time)
    past = await PastAssets(call, time, rules).find(asset.id)
    if past is None:
        return asset
    await _refuse_unrecorded(call, past, time)
    return asset.with_tag_rules(asset.rules, past.derived_names)


async def _refuse_unrecorded(call: Call, past: PastAsset, time: str) -> None:
    """Before the history of derived tags begins, what had reached the asset along edges is not known."""
    start = await history_start(call.services.database, call.tenant)
    family = [past.id, *(one.id for one in past.above), *past.held]
    if start is None or time >= start or not await ever_had_edges(call.services.database, call.tenant, family):
        return
    described = (
        f"which tags {past.reference} had by propagation at that time is not recorded, and a policy depends on tags; "
        f"the history of derived tags begins at {start}: send an as_of that is not earlier"
    )
    raise Undecidable(Problem("DERIVED_TAGS_NOT_RECORDED", described, "as_of"))
