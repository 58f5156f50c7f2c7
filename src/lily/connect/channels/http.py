"""Calls to a vendor's API: what it responds as Lily's errors, with the remedy and without secrets."""

import json
import ssl
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from lily.model.errors import LilyError, Terminal, Transient
from lily.outbound import Caller, Endpoint, Guard, Request, Response
from lily.outbound.responses import EXCERPT
from lily.plugins import DestinationGone, Surroundings

R = TypeVar("R")
GONE = 410
HIDDEN = "***"
Remedy = Callable[[Response], str]


class HttpConfig(BaseModel):
    """What the configuration of every channel with HTTP has."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    seconds: float = Field(10.0, gt=0, le=60, description="for one request, from the connection to the response")
    connections: int = Field(4, ge=1, le=32, description="requests at the same time")


class Vendor:
    """`remedy` is what to do about a response that refuses for good; `secrets` are kept out of every message."""

    def __init__(
        self,
        name: str,
        config: HttpConfig,
        remedy: Remedy,
        secrets: Iterable[str],
        identity: ssl.SSLContext | None = None,
    ) -> None:
        self._name, self._config, self._remedy, self._identity = name, config, remedy, identity
        self._secrets = sorted({one for one in secrets if one}, key=len, reverse=True)
        self._guard = Guard()
        self._caller: Caller | None = None

    def situate(self, surroundings: Surroundings, *listed: Endpoint) -> None:
        """Raises ForbiddenAddress if one of the addresses is not permitted."""
        self._guard = Guard(surroundings.allowed_networks)
        self._guard.permit(*listed)

    async def call(self, to: Endpoint, request: Request) -> Response:
        """A response of 2xx. Raises Transient, Terminal and DestinationGone."""
        response = await self.tried(to, request)
        if (error := self.refusal(response)) is not None:
            raise error
        return response

    async def tried(self, to: Endpoint, request: Request) -> Response:
        """Any response. Raises Transient and ForbiddenAddress."""
        return await self._shielded(self._opened().call(to, request))

    async def reach(self, to: Endpoint) -> None:
        """Connects and sends nothing. Raises as `tried`."""
        await self._shielded(self._opened().reach(to))

    def refusal(self, response: Response) -> LilyError | None:
        described = f"{self._name} responds {response.status}: {self._excerpt(response) or 'no text'}"
        if response.is_confirmed:
            return None
        if response.is_redirect:
            redirect = f"{self._name} responds with the redirect {response.status}, which is not followed"
            return Terminal(f"{redirect}. Correct the URL in the channel.")
        if response.status == GONE:
            return DestinationGone(f"{described}. It is not called again. {self._remedy(response)}")
        if response.is_passing:
            return Transient(f"{described}. It is tried again.", retry_after=response.retry_after)
        return Terminal(f"{described}. {self._remedy(response)}")

    def parsed(self, response: Response) -> Any:
        """The body as JSON. Raises Transient: whatever responded is not the vendor."""
        try:
            return json.loads(response.body)
        except ValueError as error:
            raise self.garbage(response) from error

    def garbage(self, response: Response) -> Transient:
        excerpt = self._excerpt(response)
        return Transient(f"what responds {response.status} is not {self._name}: {excerpt!r}. It is tried again.")

    async def close(self) -> None:
        caller, self._caller = self._caller, None
        if caller is not None:
            await caller.close()

    def _opened(self) -> Caller:
        if self._caller is None:
            self._caller = Caller(self._guard, self._config.seconds, self._config.connections, self._identity)
        return self._caller

    async def _shielded(self, call: Awaitable[R]) -> R:
        """Errors may quote what the other side sent, which may quote what it got."""
        try:
            return await call
        except LilyError as error:
            if (text := self._hidden(str(error))) == str(error):
                raise
            raise type(error)(text) from None

    def _excerpt(self, response: Response) -> str:
        """Cut after secrets are hidden: the first half of one would not be found."""
        return self._hidden(response.text)[:EXCERPT].strip()

    def _hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text
