"""What decisions need to know of the assets that a request reads, names or states."""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from lily.api.auth.placeholders import facts_of_placeholders
from lily.api.auth.restrictions import Restrictions
from lily.api.policy.decisions import rules_in_force
from lily.api.services import Services
from lily.model import ids
from lily.model.assets import effective_tag_keys, entity_type, held_parents, shown_fields, stated_by_layer, suppressions
from lily.model.events import AssetEvent
from lily.model.lanes import BULK_TYPES
from lily.model.layers import TAGS
from lily.policy import Ancestor, Facts
from lily.policy.candidates import unknown_facts
from lily.policy.names_above import names_above
from lily.store.assets import StoredAsset
from lily.store.postgres.policies.ancestors import Ancestors, read_ancestors
from lily.store.postgres.policies.facts import read_arriving, read_facts

CHUNK = 2_000  # assets of one query


async def facts_of_assets(
    services: Services, restrictions: Restrictions, assets: Sequence[StoredAsset], *, ancestors: bool
) -> list[Facts]:
    """Facts of assets that were read in full, with at most one query for the ancestors of all of them, and one for tags
    that they will have once propagation has caught up. A column without a data source counts as of its table's, so it
    always needs its parent."""
    parents = {
        asset.parent
        for asset in assets
        if asset.parent is not None and (ancestors or entity_type(asset.layers) in BULK_TYPES)
    }
    tenant = restrictions.policies.tenant
    above = await read_ancestors(services.database, tenant, parents)
    arriving = await _arriving(services, tenant, assets) if restrictions.depend_on_tags else {}
    return [_facts(restrictions, asset, above, arriving.get(asset.id, frozenset())) for asset in assets]


async def _arriving(services: Services, tenant: str, assets: Sequence[StoredAsset]) -> dict[str, frozenset[str]]:
    if not assets:
        return {}
    rules = await rules_in_force(services, tenant)
    parents = {asset.id: asset.parent for asset in assets}
    held = [(asset.id, parent) for asset in assets for parent in held_parents(asset.layers)]
    return await read_arriving(services.database, tenant, parents, rules, held)


async def facts_of_references(
    services: Services, restrictions: Restrictions, references: Collection[str]
) -> dict[str, Facts]:
    """By id or qualified name. Columns that only the lake has are read from there. Of an asset that is not ingested yet
    its id and name are known, and what its name is below, if an edge has named it."""
    tenant, policies = restrictions.policies.tenant, restrictions.policies
    wanted = policies.wanted(await rules_in_force(services, tenant))
    found: dict[str, Facts | None] = {}
    waiting = iter(references)
    while some := list(islice(waiting, CHUNK)):
        found |= await read_facts(services.database, tenant, some, wanted)
    # The graph knows a column by its id alone until the lake was read for it: then its table is not known either.
    missing = {
        reference: ids.resolve(tenant, reference)
        for reference, facts in found.items()
        if facts is None or not facts.qualified_name
    }
    held = await services.catalogue.find_many(tenant, list(set(missing.values()))) if missing else {}
    of_lake = await facts_of_assets(services, restrictions, list(held.values()), ancestors=True)
    by_id = {facts.id: facts for facts in of_lake}
    unknown = set(missing.values()).difference(by_id)
    by_id |= await facts_of_placeholders(services.database, tenant, unknown, wanted) if unknown else {}
    return {
        reference: by_id.get(missing.get(reference, "")) or facts or unknown_facts(tenant, reference)
        for reference, facts in found.items()
    }


async def facts_of_events(
    services: Services, restrictions: Restrictions, events: Sequence[AssetEvent]
) -> list[tuple[Facts, ...]]:
    """Of each event: the asset as it is, if it exists or an edge has named it, and as it would become."""
    tenant, policies = restrictions.policies.tenant, restrictions.policies
    wanted = policies.wanted(await rules_in_force(services, tenant))
    parents = {parent for event in events if (parent := _parent(event)) is not None}
    names = {event.statement.qualified_name for event in events}
    known = await read_facts(services.database, tenant, names | parents, wanted)
    new = {event.asset_id for event in events if not _is_stated(known[event.statement.qualified_name])}
    named = await facts_of_placeholders(services.database, tenant, new, wanted) if new else {}
    return [_before_and_after(event, known, named.get(event.asset_id)) for event in events]


def _facts(restrictions: Restrictions, asset: StoredAsset, above: Ancestors, arriving: frozenset[str]) -> Facts:
    policies, layers = restrictions.policies, asset.layers
    shown, kind = shown_fields(layers), entity_type(layers)
    derived, protective = asset.derived_tags, asset.rules.protective | policies.named_tags
    tags = effective_tag_keys(
        stated_by_layer(layers), (*derived.propagated, *derived.inherited, *arriving), suppressions(layers), protective
    )
    ancestors = above.above(asset.parent)
    return Facts(
        asset.id,
        asset.qualified_name,
        kind,
        str(shown.get("data_source") or "") or (above.source_of(asset.parent) if kind in BULK_TYPES else ""),
        ancestors,
        tags,
        shown if policies.compares_attributes else None,
        names_above(policies.tenant, asset.qualified_name, ancestors),
    )


def _parent(event: AssetEvent) -> str | None:
    """As stated: an id or a qualified name."""
    parent = event.statement.attributes.get("parent")
    return parent if isinstance(parent, str) else None


def _before_and_after(
    event: AssetEvent, known: Mapping[str, Facts | None], placeholder: Facts | None
) -> tuple[Facts, ...]:
    statement = event.statement
    before = known[statement.qualified_name]
    if not _is_stated(before):
        before = placeholder or before
    source, attributes, parent = statement.attributes.get("data_source"), statement.attributes, _parent(event)
    parent_facts = known[parent] if parent is not None else None
    tags = {*(attributes.get(TAGS) or ()), *([statement.tag] if statement.operation == "tag" and statement.tag else ())}
    ancestors = (*_with_parent(event.tenant, parent, parent_facts), *(before.ancestors if before else ()))
    if parent_facts is not None:
        tags.update(parent_facts.tags)
    after = Facts(
        event.asset_id,
        statement.qualified_name,
        statement.entity_type or (before.entity_type if before else ""),
        source or _source(before, parent_facts),
        ancestors,
        tags | set(before.tags if before else ()),
        {**(before.attributes or {} if before else {}), **attributes},
        names_above(event.tenant, statement.qualified_name, ancestors),
    )
    return (after,) if before is None else (before, after)


def _is_stated(facts: Facts | None) -> bool:
    """What only edges have is in the graph without a type."""
    return facts is not None and bool(facts.entity_type)


def _source(before: Facts | None, parent: Facts | None) -> str:
    """An event that states no data source changes none; a new asset counts as of its parent's."""
    if before is not None and before.data_source:
        return before.data_source
    return parent.data_source if parent is not None and before is None else ""


def _with_parent(tenant: str, parent: str | None, facts: Facts | None) -> tuple[Ancestor, ...]:
    if parent is None:
        return ()
    name = facts.qualified_name if facts else "" if ids.looks_like_uuid(parent) else parent
    return (Ancestor(ids.resolve(tenant, parent), name), *(facts.ancestors if facts else ()))
