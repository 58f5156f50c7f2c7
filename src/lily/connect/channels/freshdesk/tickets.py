"""Tickets of a Freshdesk site, over its API."""

from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from lily.connect.channels.sites import Site

API = "/api/v2"
PAGE = 100  # the most recent tickets of a requester among which a repeat is looked for

Json = dict[str, Any]


class Ticket(NamedTuple):
    id: str
    tags: frozenset[str]


class Tickets:
    """Raises what Site raises."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def check(self) -> None:
        await self._site.get(f"{API}/tickets?per_page=1", list)

    async def find(self, requester: str, tag: str) -> Ticket | None:
        """Among the requester's recent tickets. The search by tag would not do: its index is minutes late."""
        query = urlencode({"email": requester, "order_by": "created_at", "order_type": "desc", "per_page": PAGE})
        for one in await self._site.get(f"{API}/tickets?{query}", list):
            if isinstance(one, dict) and tag in (found := frozenset(one.get("tags") or ())):
                return Ticket(str(one["id"]), found)
        return None

    async def create(self, body: Json) -> str:
        return await self._site.create(f"{API}/tickets", body, "id")

    async def update(self, id_: str, body: Json) -> None:
        await self._site.put(f"{API}/tickets/{quote(id_, safe='')}", body)

    async def add_note(self, id_: str, html: str) -> None:
        await self._site.post(f"{API}/tickets/{quote(id_, safe='')}/notes", {"body": html, "private": True})
