"""The claims of an access token: who it is, in which groups and with which scopes, and why one is refused."""

import time
from typing import Any

import pytest

from lily.api.http.errors import Declined
from tests.identity_provider import IdentityProvider
from tests.unit.oidc.site import SKEW, run, site


def test_an_access_token_gives_user_groups_scopes_and_the_issuers_tenant(provider: IdentityProvider) -> None:
    async def story() -> None:
        options = {"scopes": ["metadata:read"], "group_scopes": {"stewards": ["policy:write"], "others": ["admin"]}}
        async with site(provider, **options) as verify:
            principal = await verify(provider.token(groups=["stewards", "staff"]))
        assert (principal.user, principal.name, principal.tenant) == ("ada", "ada", "acme")
        assert principal.groups == {"stewards", "staff"}
        assert principal.scopes == {"metadata:read", "policy:write"}
        assert principal.issuer == provider.issuer
        assert principal.expires_at is not None
        assert principal.expires_at > time.time() + 7000

    run(story)


NOW = 1e9  # stands for the time at which a test runs: parameters are made when tests are collected


def at_run_time(claims: dict[str, Any]) -> dict[str, Any]:
    offset = time.time() - NOW
    return {
        name: value + offset if isinstance(value, float) and abs(value - NOW) < 1_000 else value
        for name, value in claims.items()
    }


@pytest.mark.parametrize(
    ("claims", "cause"),
    [
        ({"aud": "other"}, "audience"),
        ({"aud": ["other", "lilyx"]}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": {"lily": 1}}, "audience"),
        ({"iss": "https://elsewhere.example.com"}, "issuer"),
        ({"iss": None}, "malformed"),
        ({"iss": 5}, "malformed"),
        ({"exp": NOW - SKEW - 10}, "expired"),
        ({"exp": None}, "claims"),
        ({"exp": "soon"}, "claims"),
        ({"exp": True}, "claims"),
        ({"exp": 1e300}, "claims"),
        ({"nbf": NOW + SKEW + 100}, "not_yet_valid"),
        ({"nbf": "later"}, "claims"),
        ({"iat": NOW + SKEW + 100}, "not_yet_valid"),
        ({"preferred_username": None}, "claims"),
        ({"preferred_username": ""}, "claims"),
        ({"preferred_username": 7}, "claims"),
        ({"preferred_username": "a\x00b"}, "claims"),
        ({"groups": 7}, "claims"),
        ({"groups": ["a", 7]}, "claims"),
        ({"groups": ["a\x00"]}, "claims"),
        ({"groups": {"a": 1}}, "claims"),
        ({"_claim_names": {"groups": "src1"}}, "claims"),
        ({"at_hash": "x"}, "type"),
        ({"typ": "ID"}, "type"),
        ({"typ": "Refresh"}, "type"),
        ({"events": {}}, "type"),
        ({"cnf": {"jkt": "x"}}, "type"),
    ],
)
def test_claims_that_are_not_right_are_refused(provider: IdentityProvider, claims: dict[str, Any], cause: str) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            assert await verify.cause(provider.token(**at_run_time(claims))) == cause
            (sample,) = verify.metrics.oidc_logins.collect()
            counted = {(s.labels["issuer"], s.labels["outcome"]): s.value for s in sample.samples if s.value == 1}
            assert (("none" if cause in {"issuer", "malformed"} else "0"), cause) in counted

    run(story)


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": NOW - SKEW + 40},
        {"nbf": NOW + SKEW - 20},
        {"iat": NOW + SKEW - 20},
        {"iat": None},
        {"aud": ["account", "lily"]},
        {"typ": "Bearer"},
        {"groups": None},
        {"groups": "alone"},
        {"tenant": "other", "tenant_id": "other"},
    ],
)
def test_claims_within_the_limits_are_accepted(provider: IdentityProvider, claims: dict[str, Any]) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            assert (await verify(provider.token(**at_run_time(claims)))).tenant == "acme"

    run(story)


def test_the_missing_claim_and_the_wanted_audience_are_named(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider, user_claim="email") as verify:
            with pytest.raises(Declined, match="no claim email"):
                await verify(provider.token())
            with pytest.raises(Declined, match="aud must contain lily"):
                await verify(provider.token(aud="billing"))

    run(story)


def test_nested_groups_and_names_with_dots(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider, groups_claim="realm_access.roles") as verify:
            assert (await verify(provider.token(realm_access={"roles": ["a", "b"]}))).groups == {"a", "b"}
            assert (await verify(provider.token(realm_access="none"))).groups == set()
            assert (await verify(provider.token())).groups == set()
        async with site(provider, groups_claim="https://acme.example/groups") as verify:
            named: dict[str, Any] = {"https://acme.example/groups": ["c"]}
            assert (await verify(provider.token(**named))).groups == {"c"}

    run(story)


def test_names_are_not_ascii_only(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            principal = await verify(provider.token(preferred_username="Zoë Åström", groups=["Größe"]))
            assert (principal.user, principal.groups) == ("Zoë Åström", frozenset({"Größe"}))

    run(story)


def test_the_scope_claim_counts_only_where_it_is_trusted_and_is_lilys(provider: IdentityProvider) -> None:
    async def story() -> None:
        token = provider.token(scope="openid metadata:read admin:all lineage:read")
        async with site(provider) as verify:
            assert (await verify(token)).scopes == set()
        async with site(provider, trust_scope_claim=True) as verify:
            assert (await verify(token)).scopes == {"metadata:read", "lineage:read"}

    run(story)


def test_only_the_named_clients_are_accepted(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider, client_ids=["web"]) as verify:
            assert await verify(provider.token(azp="web"))
            assert await verify(provider.token(client_id="web"))
            refused: list[dict[str, Any]] = [{"azp": "cli"}, {"azp": "cli", "client_id": "web"}, {}]
            for claims in refused:
                assert await verify.cause(provider.token(**claims)) == "client"

    run(story)
