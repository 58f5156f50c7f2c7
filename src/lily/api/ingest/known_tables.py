"""Looks up the tables that an SQL script names: their spelling in the catalogue, and their columns in order."""

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any

from lily.api.auth.authorisation import denials, denied_references
from lily.api.calls import Call
from lily.api.reads.visible_pages import visible_page
from lily.intake.sql.column_order import column_name, in_order
from lily.intake.sql.dialects import spellings
from lily.intake.sql.process import Unreadable
from lily.intake.sql.protocol import KnownTable
from lily.model.assets import entity_type, is_cut, is_deleted, shown_fields
from lily.model.errors import Problem
from lily.model.lanes import BULK_TYPES
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.search import SearchRequest
from lily.store.postgres.queries import query
from lily.store.postgres.table_changes.columns import HeldColumn, held_columns_parameters

MAX_COLUMNS = 10_000  # of one table, and of one struct
PAGE = MAX_COLUMNS + 1  # each page of what only the lake has is another scan
SECONDS = 30  # for what all tables of a script have: it may be refused, and holds connections no longer
MAX_DEPTH = 8  # of nested fields
NAMES_PER_QUERY = 500
AT_A_TIME = 8  # reads of columns: a script names hundreds of tables, and other requests need connections too
Column = tuple[Mapping[str, Any], StoredAsset]  # with its attributes
_STRUCT = re.compile(r"\b(?:struct|record|row|object|map|nested|tuple|variant|json)\b", re.IGNORECASE)


async def known_tables(call: Call, tables: dict[str, str], dialect: str) -> dict[str, KnownTable]:
    """By name in lower case; `tables` has the script's spelling. Tables that a policy denies to the caller are left
    out, as if they were not ingested. Raises LakeUnavailable if columns cannot be read, and Unreadable if there are too
    many of them."""
    try:
        async with asyncio.timeout(SECONDS):
            return await _known_tables(call, tables, dialect)
    except TimeoutError as error:
        described = f"reading the columns of the tables took more than {SECONDS} seconds; split the script"
        raise Unreadable(Problem("TOO_COMPLEX", described, "sql")) from error


async def _known_tables(call: Call, tables: dict[str, str], dialect: str) -> dict[str, KnownTable]:
    assets = await _assets(call, tables, dialect)
    denied = await denials(call, "READ", list(assets.values()))
    assets = {key: asset for key, asset in assets.items() if asset.id not in denied}
    places = asyncio.Semaphore(AT_A_TIME)

    async def columns_of(table: StoredAsset) -> KnownTable:
        async with places:
            return await _columns(call, table)

    columns = await asyncio.gather(*(columns_of(asset) for asset in assets.values()))
    known = dict(zip(assets, columns, strict=True))
    return known | await _with_named(call, tables, known, dialect)


async def _with_named(
    call: Call, tables: Mapping[str, str], known: Mapping[str, KnownTable], dialect: str
) -> dict[str, KnownTable]:
    """The tables with columns that only edges have named, such as those of a view that only SQL has defined: they
    follow a rename. The table itself need not be an asset either."""
    keys = {spelling: key for key, written in tables.items() for spelling in spellings(dialect, key, written)}
    keys |= {table.qualified_name: key for key, table in known.items()}
    named = await _named(call, keys)
    found: dict[str, KnownTable] = {}
    for column in named:
        key = keys[column.table]
        table = found.get(key) or known.get(key) or KnownTable(key, is_asset=False)
        name = column.name.lower()
        if name not in table.columns and name not in table.deleted:
            found[key] = replace(table, deleted={**table.deleted, name: column.qualified_name})
    return found


async def _named(call: Call, names: Collection[str]) -> list[HeldColumn]:
    found: list[HeldColumn] = []
    for batch in _batches(list(names)):
        given = {**held_columns_parameters(call.tenant, batch), "most": MAX_COLUMNS + 1}
        rows = await call.services.database.fetch(call.tenant, query("table_changes/named"), given)
        found += starmap(HeldColumn, rows)
    for name, count in Counter(column.table for column in found).items():
        _require_all(name, count)
    denied = await denied_references(call, "READ", [column.id for column in found])
    return [column for column in found if column.id not in denied]


async def _assets(call: Call, tables: dict[str, str], dialect: str) -> dict[str, StoredAsset]:
    """If several assets differ only in case, the one that the dialect's rule for names means."""
    found = await _ids_in_any_case(call, list(tables))
    assets = await _read(call, sorted({asset_id for listed in found.values() for asset_id in listed}))
    meant: dict[str, StoredAsset] = {}
    for key, written in tables.items():
        listed = [assets[asset_id] for asset_id in found.get(key, ()) if asset_id in assets]
        live = [asset for asset in listed if not is_deleted(asset.layers)]
        candidates = {asset.qualified_name: asset for asset in live or listed}
        for spelling in [*spellings(dialect, key, written), *sorted(candidates)]:
            if spelling in candidates:
                meant[key] = candidates[spelling]
                break
    return meant


async def _ids_in_any_case(call: Call, names: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for batch in _batches(names):
        rows = await call.services.database.fetch(call.tenant, query("policies/any_case/ids"), {"names": batch})
        for name, asset_id, _ in rows:
            found.setdefault(name, []).append(asset_id)
    return found


async def _read(call: Call, asset_ids: Sequence[str]) -> dict[str, StoredAsset]:
    found: dict[str, StoredAsset] = {}
    for batch in _batches(asset_ids):
        found |= await call.services.reader.find_many(call.tenant, batch)
    return found


def _batches(items: Sequence[str]) -> Iterable[list[str]]:
    return (list(items[at : at + NAMES_PER_QUERY]) for at in range(0, len(items), NAMES_PER_QUERY))


async def _columns(call: Call, table: StoredAsset) -> KnownTable:
    columns = await _children(call, table)
    live = [(fields, column) for fields, column in columns if not is_deleted(column.layers)]
    found, ordered = in_order(live)
    names = _by_name(table, found)
    gone = _by_name(table, [(fields, column) for fields, column in columns if is_deleted(column.layers)])
    nested: dict[str, str] = {}
    for fields, column in found:
        if _STRUCT.search(str(fields.get("data_type") or "")):
            await _add_fields(call, column, _name(table, fields, column), nested, MAX_DEPTH)
    return KnownTable(table.qualified_name, names, ordered, nested, gone)


def _by_name(table: StoredAsset, columns: Iterable[Column]) -> dict[str, str]:
    """Of several columns of one name, the one that is named below the table: no other displaces it."""
    names: dict[str, str] = {}
    for fields, column in columns:
        name = _name(table, fields, column)
        if name not in names or column.qualified_name.lower() == f"{table.qualified_name}.{name}".lower():
            names[name] = column.qualified_name
    return names


async def _add_fields(call: Call, column: StoredAsset, path: str, nested: dict[str, str], depth: int) -> None:
    """Adds the fields of a struct, which are the children of its column."""
    for fields, child in await _children(call, column):
        name = f"{path}.{_name(column, fields, child)}"
        if not is_deleted(child.layers):
            nested[name] = child.qualified_name
            _require_all(column.qualified_name, len(nested))
            if depth > 1 and _STRUCT.search(str(fields.get("data_type") or "")):
                await _add_fields(call, child, name, nested, depth - 1)


def _name(table: StoredAsset, fields: Mapping[str, Any], column: StoredAsset) -> str:
    return column_name(fields, column.qualified_name, table.qualified_name)


async def _children(call: Call, table: StoredAsset) -> list[Column]:
    """With their attributes, deleted ones too. Raises Unreadable if there are too many: one that is left out would lose
    its tags where the table is renamed or copied, and who fills a table with columns decides which. Those that ended
    with authority are left out before that."""
    listing = SearchRequest({"parent": table.id}, True, "id", "asc", PAGE)
    found: list[StoredAsset] = []
    ended: list[StoredAsset] = []
    while True:
        page = await visible_page(call, listing, None, table.qualified_name)
        for asset in page.assets:
            if entity_type(asset.layers) in BULK_TYPES:
                (ended if is_deleted(asset.layers) and is_cut(asset.layers) else found).append(asset)
        _require_all(table.qualified_name, len(found))
        if page.next is None or len(page.next) != 2:
            break
        listing = replace(listing, after=page.next)
    if len(found) + len(ended) <= MAX_COLUMNS:
        found += ended
    shown = {asset.id: (shown_fields(asset.layers), asset) for asset in found}
    return [*shown.values(), *await _held(call, table, {*shown, *(asset.id for asset in ended)})]


def _require_all(table: str, columns: int) -> None:
    if columns > MAX_COLUMNS:
        described = (
            f"{table} has more than {MAX_COLUMNS} columns, and SQL that names it cannot be followed: delete those that "
            "it does not have, with policy:write, or state its lineage as edges"
        )
        raise Unreadable(Problem("TOO_MANY_COLUMNS", described, "sql"))


async def _held(call: Call, table: StoredAsset, shown: Container[str]) -> list[Column]:
    """The columns that are not shown as such: stated to be something else, or moved away without authority."""
    given = held_columns_parameters(call.tenant, [table.qualified_name])
    rows = await call.services.database.fetch(call.tenant, query("table_changes/columns"), given)
    columns = {column.id: column for column in starmap(HeldColumn, rows) if column.id not in shown}
    assets: dict[str, StoredAsset] = {}
    if len(columns) > MAX_COLUMNS:
        columns = {column.id: column for column in columns.values() if not column.is_cut}
    _require_all(table.qualified_name, len(columns))
    for batch in _batches(list(columns)):
        assets |= await call.services.catalogue.find_many(call.tenant, batch)
    denied = await denials(call, "READ", list(assets.values()))
    return [
        ({**shown_fields(asset.layers), "name": columns[asset.id].name}, asset)
        for asset in assets.values()
        if asset.id not in denied
    ]
