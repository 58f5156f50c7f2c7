"""Sign-in with a real Keycloak: groups, audience, rotated keys, and users who are disabled there and here."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from lily.api.auth.oidc.bearer import parse_unverified
from lily.api.auth.oidc.discovery import fetch_keys
from lily.api.auth.oidc.keys import IssuerKeys, Refreshes
from lily.api.auth.oidc.verifier import IssuerVerifier
from lily.api.metrics import ApiMetrics
from lily.issuers import Issuer
from lily.model.access import Principal
from tests.engines.keycloak import Keycloak, keycloak, wait_for
from tests.extra_api import extra_api, until
from tests.shared_stack import Stack, lily

pytestmark = pytest.mark.engines


@dataclass(frozen=True)
class Site:
    keycloak: Keycloak
    stack: Stack
    issuer: Issuer

    def get(self, token: str, path: str = "/metadata") -> httpx.Response:
        return httpx.get(f"{self.stack.url}{path}", headers={"Authorization": f"Bearer {token}"}, timeout=30)

    def status(self, token: str) -> int:
        return self.get(token).status_code


@pytest.fixture(scope="module")
def site(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    logs = tmp_path_factory.mktemp("keycloak")
    with keycloak(logs / "keycloak.log") as provider:
        stack: Stack = request.getfixturevalue("stack")  # both start at the same time
        make_tenant: Callable[[], tuple[str, str]] = request.getfixturevalue("make_tenant")
        wait_for(provider, logs / "keycloak.log")
        issuer = Issuer(
            issuer=provider.issuer,
            audience="lily",
            tenant=make_tenant()[0],
            scopes=("metadata:read",),
            group_scopes={"stewards": ("metadata:write", "metrics:read")},
            clock_skew_seconds=0,
            key_refresh_seconds=2,
        )
        settings = {"LILY_OIDC__ISSUERS": json.dumps([issuer.model_dump()])}
        with extra_api(stack, logs / "api.log", **settings) as seen:
            yield Site(provider, seen, issuer)


def principal_of(issuer: Issuer, token: str) -> Principal:
    async def verified() -> Principal:
        async with httpx.AsyncClient() as client:
            refreshes = Refreshes(ApiMetrics().oidc_key_refreshes, "0")
            keys = IssuerKeys(issuer, lambda: fetch_keys(client, issuer), refreshes, lambda: None)
            return await IssuerVerifier("0", issuer, keys).principal_of(token, parse_unverified(token))

    return asyncio.run(verified())


def test_users_sign_in_and_their_groups_become_groups_and_scopes(site: Site) -> None:
    ada, grace = (str(site.keycloak.sign_in(user)["access_token"]) for user in ("ada", "grace"))
    principal = principal_of(site.issuer, ada)
    assert (principal.user, principal.tenant) == ("ada", site.issuer.tenant)
    assert principal.groups == {"stewards", "readers"}
    assert principal.scopes == {"metadata:read", "metadata:write", "metrics:read"}
    assert principal_of(site.issuer, grace).groups == {"readers"}
    assert (site.get(ada).status_code, site.get(ada, "/metrics").status_code) == (200, 200)
    assert (site.get(grace).status_code, site.get(grace, "/metrics").status_code) == (200, 403)
    assert "metrics:read" in site.get(grace, "/metrics").text


def test_a_token_for_another_audience_is_refused(site: Site) -> None:
    refused = site.get(str(site.keycloak.sign_in("ada", "billing")["access_token"]))
    assert refused.status_code == 401
    assert "aud must contain lily" in refused.text


def test_tokens_of_other_kinds_are_refused(site: Site) -> None:
    tokens = site.keycloak.sign_in("ada")
    for kind in ("id_token", "refresh_token"):
        refused = site.get(str(tokens[kind]))
        assert refused.status_code == 401
        assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    assert site.status(str(tokens["access_token"])) == 200


def test_an_id_token_is_recognised_even_with_the_audience(site: Site) -> None:
    """Keycloak's ID tokens are for the client: with that as audience they would pass for access tokens."""
    issuer = site.issuer.model_copy(update={"audience": "lily-web"})
    with pytest.raises(Exception, match="ID token"):
        principal_of(issuer, str(site.keycloak.sign_in("ada")["id_token"]))


def test_rotated_keys_are_taken_over_and_a_removed_key_is_no_longer_accepted(site: Site) -> None:
    old = str(site.keycloak.sign_in("ada")["access_token"])
    (old_key,) = site.keycloak.signing_keys()
    site.keycloak.add_signing_key()
    new = str(site.keycloak.sign_in("ada")["access_token"])
    assert parse_unverified(old).key_id != parse_unverified(new).key_id
    until(lambda: site.status(new) == 200, 30)
    assert site.status(old) == 200
    site.keycloak.admin("DELETE", f"/components/{old_key['id']}")
    until(lambda: site.status(old) == 401, 30)
    assert "key" in site.get(old).text
    assert site.status(new) == 200


def test_a_user_who_is_disabled_in_keycloak_is_out_when_the_token_expires(site: Site) -> None:
    tokens = site.keycloak.sign_in("grace", "lily-brief")
    assert site.keycloak.refresh(tokens, "lily-brief").status_code == 200
    site.keycloak.set_enabled("grace", enabled=False)
    try:
        assert site.keycloak.refresh(tokens, "lily-brief").status_code == 400
        until(lambda: site.status(str(tokens["access_token"])) == 401, 30)
        assert "expired" in site.get(str(tokens["access_token"])).text
    finally:
        site.keycloak.set_enabled("grace", enabled=True)


def test_a_user_who_is_disabled_in_lily_is_out_at_once(site: Site) -> None:
    token = str(site.keycloak.sign_in("grace")["access_token"])
    assert site.status(token) == 200
    words = ("GRACE", "--tenant", site.issuer.tenant)
    assert lily("user", "disable", *words, data_dir=site.stack.data_dir).returncode == 0
    until(lambda: site.status(token) == 401, 3)
    assert "disabled" in site.get(token).text
    assert lily("user", "enable", *words, data_dir=site.stack.data_dir).returncode == 0
    until(lambda: site.status(token) == 200, 30)
