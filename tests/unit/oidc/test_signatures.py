"""Access tokens are verified with the keys of a real provider on loopback: algorithms, signatures, headers."""

import hashlib
import hmac
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from lily.api.auth.oidc.bearer import MAX_LENGTH
from tests.identity_provider import IdentityProvider, signing_key
from tests.unit.oidc.signing import part, signed
from tests.unit.oidc.site import run, site


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
