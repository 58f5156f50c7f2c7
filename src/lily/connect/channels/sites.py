"""The API of a vendor's site: JSON, with HTTP's basic authentication."""

import base64
from typing import Any, TypeVar

from pydantic import Field

from lily.connect.channels.http import HttpConfig, Remedy, Vendor
from lily.connect.channels.texts import encoded
from lily.connect.urls import SiteUrl
from lily.outbound import Endpoint, Request, Response, endpoint
from lily.plugins import Surroundings

S = TypeVar("S")


class SiteConfig(HttpConfig):
    site: SiteUrl = Field(description="the address of your site, without a path")


class Site:
    """Raises Transient, Terminal and DestinationGone."""

    def __init__(self, name: str, config: SiteConfig, user: str, password: str, remedy: Remedy) -> None:
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        secrets = [token, *(secret for secret in (user, password) if len(secret) > len("X"))]
        self._headers = {"authorization": f"Basic {token}", "accept": "application/json"}
        self._to: Endpoint = endpoint(config.site)
        self.vendor = Vendor(name, config, remedy, secrets)

    def situate(self, surroundings: Surroundings) -> None:
        self.vendor.situate(surroundings, self._to)

    async def get(self, target: str, shape: type[S]) -> S:
        """Raises Transient as well if the response is not JSON of that shape."""
        return self._read(await self._call(Request("GET", target, headers=self._headers)), shape)

    async def find(self, target: str, query: Any) -> dict[str, Any]:
        """A search with a body. Raises as `get`."""
        return self._read(await self._sent("POST", target, query, once=False), dict)

    async def create(self, target: str, body: Any, name: str) -> str:
        """Returns what the new thing is called, in the field `name`. Raises as `get`."""
        response = await self.post(target, body)
        if not (created := self._read(response, dict).get(name)):
            raise self.vendor.garbage(response)
        return str(created)

    async def post(self, target: str, body: Any, *, once: bool = True) -> Response:
        """`once` unless it can be repeated without another effect."""
        return await self._sent("POST", target, body, once=once)

    async def put(self, target: str, body: Any) -> Response:
        return await self._sent("PUT", target, body, once=False)

    async def close(self) -> None:
        await self.vendor.close()

    def _read(self, response: Response, shape: type[S]) -> S:
        found = self.vendor.parsed(response)
        if not isinstance(found, shape):
            raise self.vendor.garbage(response)
        return found

    async def _sent(self, method: str, target: str, body: Any, *, once: bool) -> Response:
        headers = self._headers | {"content-type": "application/json"}
        return await self._call(Request(method, target, encoded(body), headers, once))

    async def _call(self, request: Request) -> Response:
        return await self.vendor.call(self._to, request)
