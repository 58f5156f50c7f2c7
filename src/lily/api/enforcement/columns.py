"""The columns of a table, as far as Lily knows them: in PostgreSQL, in the lake, in the graph, and in policies."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lily.api.calls import HttpCall
from lily.enforce.iceberg import Column, Field, catalogued_field
from lily.model import ids
from lily.model.assets import entity_type, shown_fields
from lily.model.errors import Problem, Refused
from lily.model.lanes import BULK_TYPES
from lily.policy import Facts, Policy, fold
from lily.policy.visibility import asset_set
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.search import SearchRequest
from lily.store.postgres.enforcement.catalogue import FoundTable
from lily.store.postgres.enforcement.unnamed import read_unnamed_columns
from lily.store.postgres.policies.any_case import columns_below
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.sessions import Fetches

PAGE = 1_000
MAX_COLUMNS = 20_000  # of one table


async def catalogued_columns(call: HttpCall, tables: Sequence[Facts], policies: Iterable[Policy]) -> list[Column]:
    """Every column that has an asset or lineage, or that one of the policies names. Raises LakeUnavailable if the lake
    cannot be read: plain columns are in the lake only."""
    found: list[Column] = []
    named = asset_set(policies).names
    for table in tables:
        assets = await _assets(call, table)
        known = {fold(asset.qualified_name) for asset in assets}
        found += [_column(table, asset) for asset in assets]
        others = {*await columns_below(call.services.database, call.tenant, [table.qualified_name]), *named}
        begin = fold(table.qualified_name) + "."
        missing = sorted(name for name in others if fold(name).startswith(begin) and fold(name) not in known)
        found += [Column(Field(fold(name)[len(begin) :]), (name,)) for name in missing]
    return found


async def unnamed_columns(
    database: Fetches, tenant: str, tables: Sequence[Facts], listed: Iterable[Column], wanted: Wanted
) -> list[Facts]:
    """What is known of columns that the tables may have and that are not listed, because only edges are about them."""
    known = {ids.asset_id(tenant, name) for column in listed for name in column.names}
    places = [FoundTable(one.id, one.qualified_name, one.entity_type, {}) for one in tables]
    found = await read_unnamed_columns(database, tenant, places, wanted)
    return [facts for several in found.values() for facts in several if facts.id not in known]


async def _assets(call: HttpCall, table: Facts) -> list[StoredAsset]:
    assets: list[StoredAsset] = []
    request = SearchRequest({"parent": table.id}, include_deleted=False, sort="name", order="asc", limit=PAGE)
    while len(assets) <= MAX_COLUMNS:
        page = await call.services.lister.page(call.tenant, request, None, table.qualified_name)
        assets += [asset for asset in page.assets if entity_type(asset.layers) in BULK_TYPES]
        if page.next is None or len(page.next) == 1:  # children of both stores are one list, without a rest in the lake
            return assets
        request = replace(request, after=page.next)
    described = f"the table has more than {MAX_COLUMNS} columns; state those of its schema as `field`"
    raise Refused(Problem("TOO_LARGE", described, table.qualified_name))


def _column(table: Facts, asset: StoredAsset) -> Column:
    """Its field has the name below the table, or the stated one where the qualified name is not below the table's."""
    attributes, begin = shown_fields(asset.layers), f"{table.qualified_name}."
    below = asset.qualified_name.startswith(begin)
    name = asset.qualified_name[len(begin) :] if below else str(attributes.get("name") or asset.qualified_name)
    names = (asset.qualified_name,) if below else (asset.qualified_name, begin + name)
    return Column(catalogued_field(name, attributes), names)
