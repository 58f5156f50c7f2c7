"""A real identity provider on loopback."""

from collections.abc import Iterator

import pytest

from tests.identity_provider import IdentityProvider, identity_provider


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as found:
        yield found
