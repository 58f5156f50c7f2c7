"""Finds the assets that a source means by names of tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import Connection

from lily.incidents import folded, is_bare, spellings
from lily.model.engine_names import EngineMapping, parse_engine_mapping, qualified_name
from lily.model.search_terms import search_terms
from lily.store.postgres.catalogue.words import named_with
from lily.store.postgres.policies.facts import TABLE_TYPES
from lily.store.postgres.queries import query


class GivenName(NamedTuple):
    """A name as a source writes it."""

    source: str
    name: str


Matches = dict[GivenName, list[str]]


def match_names(connection: Connection[Any], tenant: str, names: Iterable[GivenName]) -> Matches:
    """By name, the ids of the assets; without an entry for names that no asset has.

    The qualified name in any case and with any separators; else what the tenant's mapping rules for the source make of
    it; else, for the bare name of a table, the only table that has it.
    """
    wanted = list(dict.fromkeys(name for name in names if folded(name.name)))
    if not wanted:
        return {}
    found = _named(connection, tenant, {name: spellings(name.name) for name in wanted})
    missing = [name for name in wanted if name not in found]
    found |= _mapped(connection, tenant, missing)
    return found | _alone(connection, tenant, [name for name in missing if name not in found and is_bare(name.name)])


def _named(connection: Connection[Any], tenant: str, spelled: Mapping[GivenName, Sequence[str]]) -> Matches:
    pairs = [(place, spelling) for place, name in enumerate(spelled) for spelling in spelled[name]]
    places, names = [place for place, _ in pairs], [spelling for _, spelling in pairs]
    parameters = {"tenant": tenant, "places": places, "names": names}
    return _gathered(list(spelled), connection.execute(query("incidents/names/named"), parameters) if pairs else ())


def _mapped(connection: Connection[Any], tenant: str, names: Sequence[GivenName]) -> Matches:
    if not names:
        return {}
    parameters = {"tenant": tenant, "sources": sorted({name.source.lower() for name in names})}
    rows = connection.execute(query("incidents/names/engine_mappings"), parameters).fetchall()
    rules = [_rule(body) for (body,) in rows]
    rewritten = {name: mapped for name in names if (mapped := _rewritten(name, rules))} if rules else {}
    return _named(connection, tenant, rewritten)


def _rule(body: dict[str, Any]) -> EngineMapping:
    stated = {name: value for name, value in body.items() if name != "id"}
    return parse_engine_mapping(stated, mapping_id=str(body.get("id", "")))


def _rewritten(name: GivenName, rules: Sequence[EngineMapping]) -> list[str]:
    """Rules are compared with dots between the parts of a name."""
    spelled = [qualified_name(spelling, name.source, rules) for spelling in spellings(name.name)]
    return [mapped for mapped, given in zip(spelled, spellings(name.name), strict=True) if mapped != given]


def _alone(connection: Connection[Any], tenant: str, names: Sequence[GivenName]) -> Matches:
    words = {place: named_with(search_terms(folded(name.name))) for place, name in enumerate(names)}
    asked = [place for place, terms in words.items() if terms]
    parameters = {
        "tenant": tenant,
        "places": asked,
        "names": [folded(names[place].name) for place in asked],
        "words": [words[place] for place in asked],
        "types": list(TABLE_TYPES),
    }
    return _gathered(names, connection.execute(query("incidents/names/named_alone"), parameters) if asked else ())


def _gathered(names: Sequence[GivenName], rows: Iterable[tuple[int, str]]) -> Matches:
    found: Matches = {}
    for place, asset_id in rows:
        assets = found.setdefault(names[place], [])
        if asset_id not in assets:
            assets.append(asset_id)
    return found
