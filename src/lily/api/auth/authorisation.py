"""Asks the policies (plane `metadata`) whether a call may do what it is about to do, over REST and gRPC alike.

The scope is checked before; here a policy can only deny. The door decides: the pipeline does not ask again.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from lily.api.auth.facts import facts_of_assets, facts_of_events, facts_of_references
from lily.api.auth.restrictions import PLANE, Denial, Restrictions, names_assets, restrictions_of
from lily.api.calls import Call
from lily.api.http.errors import forbidden
from lily.api.policy.decision_log import Decided
from lily.model import ids
from lily.model.edges import EdgeKey
from lily.model.events import AssetEvent
from lily.policy import Action, Context, Decision
from lily.store.assets import StoredAsset


async def authorise(call: Call, action: Action, asset: StoredAsset) -> None:
    """Raises Declined with 403 that names the policy and why, StoreUnavailable if the policies cannot be known."""
    raise_first(await denials(call, action, [asset]))


async def denials(call: Call, action: Action, assets: Sequence[StoredAsset]) -> dict[str, Denial]:
    """By id, the assets that the call may not read or change, and why."""
    restrictions = await restrictions_of(call.services, call.principal, action)
    if restrictions is None or not assets:
        return {}
    depends = restrictions.depends_on_ancestors(action)
    facts, context = await facts_of_assets(call.services, restrictions, assets, ancestors=depends), context_of(call)
    return _denied(call, restrictions, action, {one.id: restrictions.denial(action, one, context) for one in facts})


async def denied_references(call: Call, action: Action, references: Collection[str]) -> dict[str, Denial]:
    """As `denials`, for assets that were not read, by id or qualified name."""
    restrictions = await restrictions_of(call.services, call.principal, action)
    if restrictions is None or not references:
        return {}
    facts, context = await facts_of_references(call.services, restrictions, references), context_of(call)
    found = {reference: restrictions.denial(action, one, context) for reference, one in facts.items()}
    return _denied(call, restrictions, action, found)


async def denied_events(call: Call, events: Sequence[AssetEvent]) -> dict[int, Denial]:
    """By position, the events that the call may not write, and why: deleting is DELETE, everything else WRITE. Both the
    asset as it is and as it would become must be permitted."""
    restrictions = await restrictions_of(call.services, call.principal, "WRITE", "DELETE")
    if restrictions is None or not events:
        return {}
    context = context_of(call)
    found: dict[int, Denial] = {}
    decided: dict[Action, list[tuple[str, Denial | None]]] = {"WRITE": [], "DELETE": []}
    for place, states in enumerate(await facts_of_events(call.services, restrictions, events)):
        action: Action = "DELETE" if events[place].statement.operation == "delete" else "WRITE"
        refused = (denial for facts in states if (denial := restrictions.denial(action, facts, context)) is not None)
        if (denial := next(refused, None)) is not None:
            found[place] = denial
        decided[action].append((events[place].asset_id, denial))
    for action, pairs in decided.items():
        record_decisions(call, restrictions, action, pairs)
    return found


async def authorise_events(call: Call, events: Sequence[AssetEvent]) -> None:
    """Raises Declined with 403 if one of them may not be written: then none is."""
    denied = await denied_events(call, events)
    raise_first({events[place].statement.qualified_name: denial for place, denial in denied.items()})


async def authorise_edges(call: Call, keys: Iterable[EdgeKey], names: Iterable[str] = ()) -> None:
    """An edge is a statement about both of its ends: WRITE is needed on each. `names` are those by which the caller
    named them: policies cover what is below a name, whether it exists or not."""
    by_id = {ids.asset_id(call.tenant, name): name for name in names}
    await authorise_written(call, {by_id.get(end, end) for key in keys for end in (key.from_id, key.to_id)})


async def authorise_written(call: Call, assets: Collection[str]) -> None:
    """WRITE is needed on each of the assets, by id or qualified name."""
    if await restrictions_of(call.services, call.principal, "WRITE") is not None:
        raise_first(await denied_references(call, "WRITE", assets))


async def visible(call: Call, restrictions: Restrictions, assets: Sequence[StoredAsset]) -> list[StoredAsset]:
    """The assets of a page that the call may read, without a reason for the others."""
    visibility = restrictions.visibility(context_of(call))
    depends = names_assets(visibility.hidden) or any(names_assets(one.assets) for one in visibility.residuals)
    facts = await facts_of_assets(call.services, restrictions, assets, ancestors=depends)
    return [asset for asset, one in zip(assets, facts, strict=True) if not restrictions.hides(visibility, one)]


def record_decisions(
    call: Call, restrictions: Restrictions, action: Action, found: Collection[tuple[str, Denial | None]]
) -> None:
    """Counts denials, and logs decisions about assets, by id or name, as the tenant's settings choose. Nothing is
    decided for callers whom no policy restricts, so they pay nothing and are not logged."""
    call.services.metrics.policy.denials[action].inc(sum(denial is not None for _, denial in found))
    allowed = Decision("allow", None, f"no policy denies {action} of its metadata")
    name = call.principal.name
    decided = (
        Decided(name, action, PLANE, asset, allowed if denial is None else Decision("deny", *denial))
        for asset, denial in found
    )
    call.services.decision_log.record(restrictions.policies, name, decided, denials=True)


def _denied(
    call: Call, restrictions: Restrictions, action: Action, found: dict[str, Denial | None]
) -> dict[str, Denial]:
    record_decisions(call, restrictions, action, found.items())
    return {asset: denial for asset, denial in found.items() if denial is not None}


def raise_first(denied: dict[str, Denial]) -> None:
    for entity, denial in denied.items():
        raise forbidden(denial.reason, entity)


def context_of(call: Call) -> Context:
    """The purpose of a call is unknown, so a denial that depends on it applies."""
    return Context(now=datetime.now(UTC), address=call.address)
