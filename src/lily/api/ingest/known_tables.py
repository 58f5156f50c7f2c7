"""Looks up the tables that an SQL script names: their spelling in the catalogue, and their columns in order."""

import asyncio
from dataclasses import replace

from lily.api.auth.authorisation import denials
from lily.api.calls import Call
from lily.api.reads.visible_pages import visible_page
from lily.intake.sql.protocol import KnownTable
from lily.model import ids
from lily.model.assets import entity_type, shown_fields
from lily.model.lanes import BULK_TYPES
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.search import SearchRequest

TABLE_TYPES = ("table", "view", "materialized_view")
PAGE = 1_000
MAX_COLUMNS = 10_000
CANDIDATES = 200  # assets with the same words in their names; one may differ only in case


async def known_tables(call: Call, tables: dict[str, str]) -> dict[str, KnownTable]:
    """By name in lower case; `tables` has the script's spelling. Tables that a policy denies to the caller are left
    out, as if they were not ingested. Raises LakeUnavailable if columns cannot be read."""
    assets = await _by_spelling(call, tables)
    for key in tables.keys() - assets.keys():
        if (asset := await _ignoring_case(call, key)) is not None:
            assets[key] = asset
    denied = await denials(call, "READ", list(assets.values()))
    assets = {key: asset for key, asset in assets.items() if asset.id not in denied}
    columns = await asyncio.gather(*(_columns(call, asset) for asset in assets.values()))
    return dict(zip(assets, columns, strict=True))


async def _by_spelling(call: Call, tables: dict[str, str]) -> dict[str, StoredAsset]:
    """Tables spelled as written, in lower case or in upper case: they are found by id, without a search."""
    spellings = {
        ids.asset_id(call.tenant, spelling): key
        for key, written in tables.items()
        for spelling in (key.upper(), written, key)
    }
    assets = await call.services.reader.find_many(call.tenant, list(spellings)) if spellings else {}
    return {spellings[asset_id]: asset for asset_id, asset in assets.items()}


async def _ignoring_case(call: Call, key: str) -> StoredAsset | None:
    for kind in TABLE_TYPES:  # not all types: columns would need a search of the lake
        listing = SearchRequest({"q": key, "entity_type": kind}, False, "qualified_name", "asc", CANDIDATES)
        page = await visible_page(call, listing, None, None)
        for asset in page.assets:
            if asset.qualified_name.lower() == key:
                return asset
    return None


async def _columns(call: Call, table: StoredAsset) -> KnownTable:
    columns = await _children(call, table)
    found = [(shown_fields(column.layers), column.qualified_name) for column in columns]
    positions = [fields.get("ordinal_position") for fields, _ in found]
    ordered = bool(found) and all(type(position) is int for position in positions)
    if ordered:
        found.sort(key=lambda entry: entry[0]["ordinal_position"])
    names = {str(fields.get("name") or name.rpartition(".")[2]).lower(): name for fields, name in found}
    return KnownTable(table.qualified_name, names, ordered)


async def _children(call: Call, table: StoredAsset) -> list[StoredAsset]:
    listing = SearchRequest({"parent": table.id}, False, "id", "asc", PAGE)
    found: list[StoredAsset] = []
    while len(found) < MAX_COLUMNS:
        page = await visible_page(call, listing, None, table.qualified_name)
        found += [asset for asset in page.assets if entity_type(asset.layers) in BULK_TYPES]
        if page.next is None or len(page.next) != 2:
            break
        listing = replace(listing, after=page.next)
    return found
