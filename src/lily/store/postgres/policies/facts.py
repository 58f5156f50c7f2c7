"""What decisions need to know of assets, for many assets in one query. Nothing is cached."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import effective_tag_keys, merged_attributes
from lily.policy import Ancestor, AssetSet, Facts
from lily.policy.names_above import names_above
from lily.store.postgres.copying import id_array
from lily.store.postgres.policies.ancestors import Ancestors
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches, Row

# What has columns: a name directly below one of these is a column, which may be in the lake only.
TABLE_TYPES = ("table", "view", "materialized_view", "dataset", "file", "topic", "stream")
_NOTHING = "00000000-0000-0000-0000-000000000000"


class Wanted(NamedTuple):
    """What the policies of a tenant look at."""

    rules: TagRules
    protective: frozenset[str]  # tags that count in any layer: also those that only a proposed or past policy names
    attributes: bool  # whether a condition compares attributes of assets


class Earlier:
    """Facts of earlier reads. Where a row is the same again, so are its facts: making them takes longer than that.

    `lags` collects, of every read, whether propagation lagged."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Row, tuple[Ancestor, ...], Facts]] = {}
        self.lags: set[bool] = set()

    def __len__(self) -> int:
        return len(self._made)

    def facts(self, tenant: str, reference: str, row: Row, ancestors: Ancestors, wanted: Wanted) -> Facts:
        content, above = row[1:-1], ancestors.above(row[14])
        made = self._made.get(reference)
        if made is None or made[0] != content or made[1] != above:
            made = self._made[reference] = (content, above, _facts(tenant, reference, row, above, wanted))
        return made[2]


async def read_facts(
    database: Fetches, tenant: str, references: Collection[str], wanted: Wanted, earlier: Earlier | None = None
) -> dict[str, Facts | None]:
    """By reference (an id or a qualified name): what is known of the asset; None if it is not in the catalogue.
    `earlier` are reads of the same tenant for the same `wanted`."""
    places = [(ids.resolve(tenant, one), _id_above(tenant, one)) for one in references]
    return await _read(database, tenant, list(references), places, wanted, earlier)


async def read_facts_of_columns(
    database: Fetches, tenant: str, tables: Mapping[str, str], wanted: Wanted
) -> dict[str, Facts | None]:
    """By id: what is known of columns whose names nobody knows. `tables` has the id of the table of each."""
    return await _read(database, tenant, list(tables), list(tables.items()), wanted, None)


async def _read(  # noqa: PLR0917 - what is read, of what and for whom
    database: Fetches,
    tenant: str,
    requested: Sequence[str],
    places: Sequence[tuple[str, str]],
    wanted: Wanted,
    earlier: Earlier | None,
) -> dict[str, Facts | None]:
    """`places` has for each reference the id of the asset, and of the one whose column it may be."""
    rows = await database.fetch(
        tenant,
        query("policies/facts/of_assets"),
        {
            "ids": id_array(asset_id for asset_id, _ in places),
            "above": id_array(above for _, above in places),
            "attributes": wanted.attributes,
            "tables": list(TABLE_TYPES),
            "tags": wanted.rules.propagating_array,
            "cut": wanted.rules.cut_deleted,
        },
    )
    ancestors = Ancestors((row[1], row[4], row[14], None) for row in rows if row[0] is None)
    known = Earlier() if earlier is None else earlier
    known.lags.update({row[-1] for row in rows})
    found: dict[str, Facts | None] = dict.fromkeys(requested)
    for row in rows:
        if row[0] is not None and row[2]:
            reference = requested[row[0] - 1]
            found[reference] = known.facts(tenant, reference, row, ancestors, wanted)
    return found


def _id_above(tenant: str, reference: str) -> str:
    """The id of the asset whose column the name may be. Of an asset that is given by its id, that is not known here."""
    above = ids.name_prefix(reference)
    if ids.looks_like_uuid(reference):
        return "null"
    return _NOTHING if above == reference else ids.asset_id(tenant, above)


def _facts(tenant: str, reference: str, row: Row, ancestors: tuple[Ancestor, ...], wanted: Wanted) -> Facts:
    asset_id, _, stored, name, kind, source = row[1:7]
    stated, suppressed, fields = row[7:10], row[10], row[11:14]
    propagated, inherited = row[15:17]
    tags: Collection[str] = ()
    if propagated or inherited or any(stated):
        derived = (*(propagated or ()), *(inherited or ()))
        tags = effective_tag_keys(stated, derived, suppressed or (), wanted.protective)
    name = name or ("" if ids.looks_like_uuid(reference) else reference)
    return Facts(
        asset_id,
        name,
        kind or "",
        source or "",
        ancestors,
        tags,
        merged_attributes(*fields) if wanted.attributes and stored else None,
        names_above(tenant, name, ancestors),
    )


async def read_arriving(
    database: Fetches,
    tenant: str,
    parents: Mapping[str, str | None],
    rules: TagRules,
    held: Sequence[tuple[str, str]] = (),
) -> dict[str, frozenset[str]]:
    """While propagation lags, by id: the tags of assets from elsewhere, with those that will have arrived once it has
    caught up. Otherwise nothing. `parents` has the id of the parent of each, `held` pairs of an asset and a parent that
    is held."""
    rows = await database.fetch(
        tenant,
        query("policies/facts/arriving"),
        {
            "ids": id_array(parents),
            "parents": id_array(parent or "null" for parent in parents.values()),
            "held_ids": id_array(asset_id for asset_id, _ in held),
            "held_parents": id_array(parent for _, parent in held),
            "tags": rules.propagating_array,
            "cut": rules.cut_deleted,
        },
    )
    return {asset_id: frozenset((*propagated, *inherited)) for asset_id, propagated, inherited in rows}


async def named_assets(
    database: Fetches, tenant: str, asset_ids: Sequence[str], named: AssetSet, limit: int
) -> list[str]:
    """The ids of assets in the set, at most `limit` of them. Assets that are named themselves come with what is below
    them; plain columns, which only the lake has, are left out."""
    everything = named.everything or named.any_tag or named.any_data_source
    rows = await database.fetch(
        tenant,
        query("policies/facts/by_name"),
        {
            "ids": id_array(asset_ids),
            "tags": sorted(named.tags),
            "tag_keys": [f"{tenant}/{tag}" for tag in sorted(named.tags)],
            "types": sorted(named.entity_types),
            "sources": sorted(named.data_sources),
            "everything": everything,
            "limit": limit,
        },
    )
    return [asset_id for (asset_id,) in rows]
