"""Access tokens: verified with the keys of a real provider on loopback, refused with the reason."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey

from lily.api.auth.oidc.bearer import MAX_LENGTH
from lily.api.auth.oidc.discovery import fetch_keys
from lily.api.auth.oidc.errors import InvalidToken, ProviderUnavailable
from lily.api.auth.oidc.keys import PAUSE_SECONDS, IssuerKeys, Refreshes
from lily.api.auth.oidc.verifier import IssuerVerifier, Verifier
from lily.api.http.errors import Declined
from lily.api.metrics import ApiMetrics
from lily.issuers import Issuer
from lily.model.access import Principal
from tests.identity_provider import IdentityProvider, identity_provider, signing_key

SKEW = 60


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as found:
        yield found


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


@pytest.mark.parametrize(
    ("kid", "alg"), [("rsa-1", "RS256"), ("rsa-1", "PS256"), ("ec-1", "ES256"), ("ed-1", "EdDSA"), ("ed-1", "Ed25519")]
)
def test_each_accepted_algorithm_verifies(provider: IdentityProvider, kid: str, alg: str) -> None:
    async def story() -> None:
        provider.published = ["rsa-1", "ec-1", "ed-1"]
        token = provider.token(kid=kid, alg="Ed25519" if alg == "EdDSA" else alg)
        if alg == "EdDSA":  # signed by hand: the library warns whoever signs with the older name
            private: Any = signing_key(kid).private_key
            token = signed({"alg": "EdDSA", "kid": kid}, provider.claims(), private.sign)
        async with site(provider, algorithms=[alg]) as verify:
            assert (await verify(token)).user == "ada"

    run(story)


def part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(header: Any, claims: Any, sign: Callable[[bytes], bytes]) -> str:
    text = f"{part(header)}.{part(claims)}"
    return f"{text}.{part(sign(text.encode()))}"


def by_public_key(provider: IdentityProvider, key: bytes) -> str:
    return signed(
        {"alg": "HS256", "kid": "rsa-1"}, provider.claims(), lambda text: hmac.digest(key, text, hashlib.sha256)
    )


def test_unsigned_and_symmetrically_signed_tokens_are_refused(provider: IdentityProvider) -> None:
    async def story() -> None:
        key = signing_key("rsa-1")
        assert isinstance(key, RSAKey)
        async with site(provider) as verify:
            for none in ("none", "None", "NONE"):
                token = signed({"alg": none, "kid": "rsa-1"}, provider.claims(), lambda _: b"")
                assert await verify.cause(token) == "algorithm"
            for public in (key.as_pem(private=False), key.as_der(private=False), key.dict_value["n"].encode()):  # type: ignore[union-attr]
                assert await verify.cause(by_public_key(provider, public)) == "algorithm"
            assert await verify.cause(provider.token(kid="rsa-1", alg="RS512")) == "algorithm"

    run(story)


def test_a_symmetric_key_that_the_provider_publishes_is_not_used(provider: IdentityProvider) -> None:
    async def story() -> None:
        provider.other_keys = [{"kty": "oct", "kid": "oct-1", "k": part(b"secret" * 8)}]
        async with site(provider) as verify:
            token = signed({"alg": "RS256", "kid": "oct-1"}, provider.claims(), lambda _: b"x" * 256)
            assert await verify.cause(token) == "key"

    run(story)


def test_a_forged_signature_is_refused(provider: IdentityProvider) -> None:
    async def story() -> None:
        good = provider.token()
        header, payload, signature = good.split(".")
        changed = part(provider.claims(preferred_username="root"))
        async with site(provider) as verify:
            assert await verify.cause(f"{header}.{changed}.{signature}") == "signature"
            assert await verify.cause(f"{header}.{payload}.") == "signature"
            assert await verify.cause(f"{header}.{payload}.{signature[:-4]}AAAA") == "signature"
            impostor = signed({"alg": "ES256", "kid": "rsa-1"}, provider.claims(), lambda _: b"x" * 64)
            assert await verify.cause(impostor) == "malformed"  # the key is none of this algorithm
            own_key = signing_key("rsa-evil").as_dict(private=False)
            injected = provider.token(kid="rsa-evil", header={"kid": "rsa-1", "jwk": own_key})
            assert await verify.cause(injected) == "signature"
            assert (await verify(good)).user == "ada"

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


@pytest.mark.parametrize(
    ("header", "cause"),
    [
        ({"typ": "logout+jwt"}, "type"),
        ({"typ": "dpop+jwt"}, "type"),
        ({"typ": 5}, "type"),
        ({"crit": ["exp"]}, "type"),
        ({"b64": False}, "type"),
        ({"kid": 5}, "malformed"),
        ({"kid": "rsa-9"}, "key"),
        ({"alg": ["RS256"]}, "malformed"),
        ({"alg": None}, "malformed"),
    ],
)
def test_headers_that_are_not_right_are_refused(provider: IdentityProvider, header: dict[str, Any], cause: str) -> None:
    async def story() -> None:
        fields = {k: v for k, v in ({"alg": "RS256", "kid": "rsa-1"} | header).items() if v is not None}
        async with site(provider) as verify:
            assert await verify.cause(signed(fields, provider.claims(), lambda _: b"x" * 256)) == cause

    run(story)


@pytest.mark.parametrize("kind", ["JWT", "at+jwt", "AT+JWT", "application/at+jwt", None])
def test_types_of_access_tokens_are_accepted(provider: IdentityProvider, kind: str | None) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            assert await verify(provider.token(header={"typ": kind} if kind else {}))

    run(story)


@pytest.mark.parametrize(
    "token",
    [
        "..",
        "a.b.c",
        "{}.{}.{}",
        f"{part([])}.{part({})}.x",
        f"{part('alg')}.{part({'iss': 'x'})}.x",
        f"{part(b'[' * 3000)}.{part({})}.x",
        f"{part({'alg': 'RS256'})}.{part(b'[' * 3000)}.x",
        f"{part({'alg': 'RS256'})}.{part(b'nan')}.x",
        "x" * MAX_LENGTH + "..",
    ],
)
def test_what_is_no_token_is_refused(provider: IdentityProvider, token: str) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            assert await verify.cause(token) == "malformed"
        assert provider.key_requests == 0

    run(story)


def test_a_token_of_the_largest_size_is_accepted(provider: IdentityProvider) -> None:
    async def story() -> None:
        token = provider.token(padding="x" * 5400)
        assert MAX_LENGTH - 500 < len(token) <= MAX_LENGTH
        async with site(provider) as verify:
            assert await verify(token)

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


def test_a_new_key_is_fetched_when_a_token_names_it(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            assert await verify(provider.token())
            provider.published = ["rsa-1", "rsa-2"]
            verify.now += PAUSE_SECONDS
            assert await verify(provider.token(kid="rsa-2"))
            assert await verify(provider.token())
            assert (provider.key_requests, verify.withdrawn) == (2, [])

    run(story)


def test_keys_that_rotate_in_the_middle_of_a_fetch_are_found_at_the_next(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            provider.before_keys = lambda: provider.published.__setitem__(0, f"rsa-{provider.key_requests}")
            assert await verify(provider.token(kid="rsa-1"))
            verify.now += PAUSE_SECONDS
            assert await verify(provider.token(kid="rsa-2"))
            assert await verify.cause(provider.token(kid="rsa-1")) == "key"

    run(story)


def test_a_withdrawn_key_is_not_accepted_after_the_refresh(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            old = provider.token()
            assert await verify(old)
            provider.published = ["rsa-2"]
            verify.now += PAUSE_SECONDS
            assert await verify(provider.token(kid="rsa-2"))
            assert verify.withdrawn == [True]
            assert await verify.cause(old) == "key"

    run(story)


def test_the_background_refresh_notices_a_withdrawn_key(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider, key_refresh_seconds=1) as verify:
            refreshing = asyncio.create_task(verify.verifier.run())
            assert await verify(provider.token())
            provider.published = ["rsa-2"]
            await asyncio.wait_for(verify.withdrawal.wait(), 30)
            refreshing.cancel()
            assert await verify.cause(provider.token()) == "key"

    run(story)


def test_random_key_ids_cause_one_refresh(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            assert await verify(provider.token())
            verify.now += PAUSE_SECONDS
            flood = [provider.token(header={"kid": f"random-{number}"}) for number in range(100)]
            assert set(await asyncio.gather(*(verify.cause(token) for token in flood))) == {"key"}
            assert provider.key_requests == 2
            verify.now += PAUSE_SECONDS - 1
            assert set(await asyncio.gather(*(verify.cause(token) for token in flood))) == {"key"}
            assert provider.key_requests == 2

    run(story)


def test_the_first_requests_share_one_fetch(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider) as verify:
            token = provider.token()
            assert all(await asyncio.gather(*(verify(token) for _ in range(50))))
            assert provider.key_requests == 1

    run(story)


def test_a_stopped_provider_is_survived_until_the_keys_are_too_old(provider: IdentityProvider) -> None:
    async def story() -> None:
        async with site(provider, key_max_age_seconds=3600) as verify:
            token = provider.token()
            assert await verify(token)
            provider.stop()
            verify.now += 3600
            assert await verify(token)
            with pytest.raises(ProviderUnavailable, match="API tokens"):  # it may be new: nobody can tell
                await verify(provider.token(header={"kid": "rsa-2"}))
            verify.now += 1
            with pytest.raises(ProviderUnavailable):
                await verify(token)
            provider.start()
            with pytest.raises(ProviderUnavailable):
                await verify(token)
            verify.now += PAUSE_SECONDS
            assert await verify(token)

    run(story)


def test_a_provider_that_was_never_reached_is_unavailable_and_not_a_wrong_token(provider: IdentityProvider) -> None:
    async def story() -> None:
        provider.stop()
        async with site(provider) as verify:
            with pytest.raises(ProviderUnavailable) as refused:
                await verify(provider.token())
            assert provider.issuer not in str(refused.value)

    run(story)


@pytest.mark.parametrize("broken", ["issuer", "no keys", "weak key", "encryption key", "not json"])
def test_a_provider_that_cannot_be_relied_on_is_unavailable(provider: IdentityProvider, broken: str) -> None:
    async def story() -> None:
        public = signing_key("rsa-1").as_dict(private=False)
        if broken == "issuer":
            provider.stated_issuer = "https://evil.example.com"
        else:
            provider.published = []
            provider.other_keys = {
                "no keys": [],
                "weak key": [public | {"n": public["n"][:170]}],
                "encryption key": [public | {"use": "enc"}],
                "not json": ["x", 5, {"kty": "RSA"}],
            }[broken]  # type: ignore[assignment]
        async with site(provider) as verify:
            with pytest.raises(ProviderUnavailable):
                await verify(provider.token())

    run(story)


def test_unknown_kinds_of_keys_do_not_hide_the_others(provider: IdentityProvider) -> None:
    async def story() -> None:
        provider.other_keys = [{"kty": "PQ", "kid": "pq"}, {"kty": "EC", "crv": "P-0", "x": "A", "y": "A"}]
        async with site(provider) as verify:
            assert await verify(provider.token())

    run(story)
