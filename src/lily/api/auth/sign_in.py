"""Sign-in: the principals of bearer tokens of both kinds, API tokens and access tokens of OpenID Connect issuers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import httpx
import structlog

from lily.api import background
from lily.api.auth.oidc.bearer import looks_like_jwt
from lily.api.auth.oidc.discovery import fetch_keys
from lily.api.auth.oidc.errors import InvalidToken, TenantMissing
from lily.api.auth.oidc.keys import IssuerKeys, Refreshes
from lily.api.auth.oidc.verifier import IssuerVerifier, Verifier
from lily.api.auth.principals import Principals
from lily.api.auth.strangers import Strangers
from lily.api.auth.token_uses import TokenUses
from lily.api.metrics import ApiMetrics
from lily.issuers import Issuer, Oidc
from lily.model.access import Principal
from lily.store.postgres.access import tokens
from lily.store.postgres.access.administration import is_token, token_hash
from lily.store.postgres.access.users import user_state
from lily.store.postgres.sessions import Database

log = structlog.get_logger()


@asynccontextmanager
async def signing_in(
    oidc: Oidc,
    database: Database,
    metrics: ApiMetrics,
    *,
    uses: TokenUses,
    strangers: Strangers,
    would_be_notified: Callable[[], bool],
) -> AsyncIterator[Principals]:
    """The principals of this process; `Principals` describes `would_be_notified`. Meanwhile the keys of the issuers are
    kept fresh. An issuer that does not respond does not keep the API from starting."""
    async with httpx.AsyncClient() as client:

        async def look_up(token: str) -> Principal | None:
            if verifier and looks_like_jwt(token):
                return await verifier.principal_of(token)
            principal = await _api_token_principal(database, token)
            if principal is not None:
                uses.note(principal.token_id)
            return principal

        def issuer_verifier(index: int, issuer: Issuer) -> IssuerVerifier:
            refreshes = Refreshes(metrics.oidc_key_refreshes, str(index))
            # A cached principal may have been verified with a key that is gone.
            keys = IssuerKeys(issuer, partial(fetch_keys, client, issuer), refreshes, principals.invalidate)
            return IssuerVerifier(str(index), issuer, keys)

        principals = Principals(look_up, would_be_notified, strangers)
        verifiers = {issuer.issuer: issuer_verifier(index, issuer) for index, issuer in enumerate(oidc.issuers)}
        verifier = Verifier(verifiers, metrics.oidc_logins, partial(admit, database))
        refreshing = asyncio.create_task(verifier.run())
        refreshing.add_done_callback(_log_failure)
        try:
            yield principals
        finally:
            await background.end(refreshing)


def _log_failure(refreshing: "asyncio.Task[None]") -> None:
    if not refreshing.cancelled() and refreshing.exception() is not None:
        log.error("oidc.refreshing_ended", error=repr(refreshing.exception()))


async def admit(database: Database, principal: Principal) -> None:
    """Raises InvalidToken if the user is disabled, TenantMissing if the issuer's tenant does not exist."""
    state = await user_state(database, principal.tenant, principal.user)
    if not state.tenant_exists:
        raise TenantMissing(
            f"The tenant {principal.tenant!r} of this issuer does not exist. Create it with "
            f"`lily tenant create {principal.tenant}`."
        )
    if state.disabled:
        raise InvalidToken("disabled", "the user is disabled in Lily; `lily user enable` lifts that")


async def _api_token_principal(database: Database, token: str) -> Principal | None:
    return await tokens.principal_of(database, token_hash(token)) if is_token(token) else None
