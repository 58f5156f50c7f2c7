"""Incidents without what policies deny to the caller.

An asset that the caller may not read is left out, and so is an incident all of whose assets are. If some of them are,
the incident is shown without its words, which may name them.
"""

from collections.abc import Sequence
from typing import Any

from lily.api.auth.authorisation import denied_references, raise_first
from lily.api.auth.restrictions import restrictions_of
from lily.api.calls import Call
from lily.api.http.errors import forbidden, not_found
from lily.model import ids
from lily.store.postgres.incidents import reader
from lily.store.postgres.incidents.queries import MAX_ASSETS
from lily.store.postgres.incidents.reader import LISTED_ASSETS, Place, Wanted

MAX_READS = 5  # of one page, where policies deny some of the incidents to the caller
_WORDS: dict[str, Any] = {"title": "", "description": "", "url": "", "unmatched": []}  # without them
_REVEALING = ("tables", "assets", "raw", "title", "description", "series")  # of a message: they may name hidden assets

Object = dict[str, Any]


async def visible_page(
    call: Call, wanted: Wanted, after: Place | None, limit: int
) -> tuple[list[Object], Place | None]:
    """A page, and the place after which the next one begins."""
    items: list[Object] = []
    # All assets of an incident decide whether its title is shown, not only those that are listed.
    is_restricted = await restrictions_of(call.services, call.principal, "READ") is not None
    assets = MAX_ASSETS if is_restricted else LISTED_ASSETS
    for _ in range(MAX_READS):
        room = limit - len(items)
        found = await reader.page(call.services.database, call.tenant, wanted, after, room + 1, assets=assets)
        items += await _visible(call, found[:room], searched=bool(wanted.q))
        after = (found[room - 1]["opened_at"], found[room - 1]["incident_id"]) if len(found) > room else None
        if after is None or len(items) == limit:
            break
    return [one | {"assets": one["assets"][:LISTED_ASSETS]} for one in items], after


async def find_visible(call: Call, incident_id: str) -> Object:
    """Raises Declined with 404 if there is none that the caller may see."""
    known = ids.looks_like_uuid(incident_id)
    found = await reader.find(call.services.database, call.tenant, incident_id.lower()) if known else None
    shown = await _visible(call, [found]) if found is not None else []
    if not shown:
        raise not_found(incident_id, "incident")
    return shown[0]


async def visible_incident(call: Call, incident_id: str) -> Object:
    """As `find_visible`, with its history and links."""
    found = await find_visible(call, incident_id)
    history = await reader.history(call.services.database, call.tenant, found["incident_id"])
    if await restrictions_of(call.services, call.principal, "READ") is not None:
        history = [one | {"change": _without(one["change"], _REVEALING)} for one in history]
    links = [{"name": found["source"], "url": found["url"]}] if found["url"] else []
    return found | {"history": history, "links": links}


async def changeable_incident(call: Call, incident_id: str) -> Object:
    """The incident as it is stored. Raises Declined: 404 if the caller may not see it, 403 if a policy denies WRITE on
    one of its assets, whether the caller may see that asset or not."""
    shown = await find_visible(call, incident_id)
    stored = await reader.find(call.services.database, call.tenant, shown["incident_id"]) or shown
    denied = await denied_references(call, "WRITE", {_reference(asset) for asset in stored["assets"]})
    raise_first({one: denied[one] for one in denied.keys() & {_reference(asset) for asset in shown["assets"]}})
    if denied:
        raise forbidden("a policy denies WRITE of an asset that the incident concerns", shown["incident_id"])
    return stored


async def _visible(call: Call, found: Sequence[Object], *, searched: bool = False) -> list[Object]:
    """Those that were found by words of the title are left out if the caller may not see their title."""
    references = {_reference(asset) for incident in found for asset in incident["assets"]}
    denied = await denied_references(call, "READ", references)
    if not denied:
        return list(found)
    shown = []
    for incident in found:
        assets = [asset for asset in incident["assets"] if _reference(asset) not in denied]
        if len(assets) == len(incident["assets"]):
            shown.append(incident)
        elif assets and not searched:
            shown.append(incident | _WORDS | {"assets": assets})
    return shown


def _reference(asset: Object) -> str:
    """By name: a column that only the lake has is known as one of its table's by its name alone."""
    return str(asset["qualified_name"] or asset["metadata_id"])


def _without(change: Object, names: Sequence[str]) -> Object:
    return {name: value for name, value in change.items() if name not in names}
