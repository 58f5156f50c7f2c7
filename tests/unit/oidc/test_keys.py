"""The keys of a provider: fetched when they are needed, refreshed, withdrawn, and kept while it is down."""

import asyncio

import pytest

from lily.api.auth.oidc.errors import ProviderUnavailable
from lily.api.auth.oidc.keys import PAUSE_SECONDS
from tests.identity_provider import IdentityProvider, signing_key
from tests.unit.oidc.site import run, site


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
