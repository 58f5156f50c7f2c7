"""An API's verifier of access tokens, with a clock that only the test moves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
import pytest

from lily.api.auth.oidc.discovery import fetch_keys
from lily.api.auth.oidc.errors import InvalidToken
from lily.api.auth.oidc.keys import IssuerKeys, Refreshes
from lily.api.auth.oidc.verifier import IssuerVerifier, Verifier
from lily.api.metrics import ApiMetrics
from lily.issuers import Issuer
from lily.model.access import Principal
from tests.identity_provider import IdentityProvider

SKEW = 60


@dataclass
class Site:
    """An API's verifier, with a clock that only the test moves."""

    verifier: Verifier
    metrics: ApiMetrics
    now: float = 1000.0
    withdrawn: list[bool] = field(default_factory=list)
    withdrawal: asyncio.Event = field(default_factory=asyncio.Event)

    def withdraw(self) -> None:
        self.withdrawn.append(True)
        self.withdrawal.set()

    def __call__(self, token: str) -> Coroutine[Any, Any, Principal]:
        return self.verifier.principal_of(token)

    async def cause(self, token: str) -> str:
        """Why a token is refused. Whatever the cause, the response does not contain the token."""
        with pytest.raises(InvalidToken) as refused:
            await self(token)
        challenge, (problem,) = refused.value.headers["WWW-Authenticate"], refused.value.problems
        assert refused.value.status == 401
        assert challenge.startswith('Bearer realm="lily", error="invalid_token", error_description="')
        assert challenge.isascii()
        assert challenge.count('"') == 6
        assert not any(len(part) > 8 and part in challenge + problem.description for part in token.split("."))
        return refused.value.cause


@asynccontextmanager
async def site(provider: IdentityProvider, **options: Any) -> AsyncIterator[Site]:
    issuer = Issuer(**{"issuer": provider.issuer, "audience": "lily", "tenant": "acme"} | options)
    metrics = ApiMetrics()

    async def admit(_: Principal) -> None:
        """Everyone."""

    async with httpx.AsyncClient() as client:
        fetch, refreshes = partial(fetch_keys, client, issuer), Refreshes(metrics.oidc_key_refreshes, "0")
        keys = IssuerKeys(issuer, fetch, refreshes, lambda: made.withdraw(), lambda: made.now)  # noqa: PLW0108
        verifier = Verifier({issuer.issuer: IssuerVerifier("0", issuer, keys)}, metrics.oidc_logins, admit)
        made = Site(verifier, metrics)
        yield made
        await keys.close()


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())
