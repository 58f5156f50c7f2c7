"""Incidents without what policies deny to the caller.

An asset that the caller may not read is left out, and so is an incident all of whose assets are: its title names them.
"""

from collections.abc import Sequence
from typing import Any

from lily.api.auth.authorisation import denied_references, raise_first
from lily.api.auth.restrictions import restrictions_of
from lily.api.calls import Call
from lily.api.http.errors import not_found
from lily.model import ids
from lily.store.postgres.incidents import reader
from lily.store.postgres.incidents.reader import Place, Wanted

MAX_READS = 5  # of one page, where policies deny some of the incidents to the caller
_REVEALING = ("tables", "assets", "raw", "title", "description", "series")  # of a message: they may name hidden assets

Object = dict[str, Any]


async def visible_page(
    call: Call, wanted: Wanted, after: Place | None, limit: int
) -> tuple[list[Object], Place | None]:
    """A page, and the place after which the next one begins."""
    items: list[Object] = []
    for _ in range(MAX_READS):
        room = limit - len(items)
        found = await reader.page(call.services.database, call.tenant, wanted, after, room + 1)
        items += await _visible(call, found[:room])
        after = (found[room - 1]["opened_at"], found[room - 1]["incident_id"]) if len(found) > room else None
        if after is None or len(items) == limit:
            break
    return items, after


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


async def authorise_change(call: Call, incident: Object) -> None:
    """Raises Declined with 403 if a policy denies WRITE on one of its assets."""
    raise_first(await denied_references(call, "WRITE", {_reference(asset) for asset in incident["assets"]}))


async def _visible(call: Call, found: Sequence[Object]) -> list[Object]:
    references = {_reference(asset) for incident in found for asset in incident["assets"]}
    denied = await denied_references(call, "READ", references)
    if not denied:
        return list(found)
    shown = []
    for incident in found:
        assets = [asset for asset in incident["assets"] if _reference(asset) not in denied]
        if assets or not incident["assets"]:
            shown.append(incident | {"assets": assets})
    return shown


def _reference(asset: Object) -> str:
    """By name: a column that only the lake has is known as one of its table's by its name alone."""
    return str(asset["qualified_name"] or asset["metadata_id"])


def _without(change: Object, names: Sequence[str]) -> Object:
    return {name: value for name, value in change.items() if name not in names}
