"""Why an access token is not accepted."""

from typing import Literal

from lily.api.http.errors import Declined
from lily.model.errors import Problem, Transient

Cause = Literal[
    "malformed", "issuer", "type", "algorithm", "key", "signature", "expired", "not_yet_valid", "audience", "client",
    "claims", "disabled",
]  # fmt: skip


class InvalidToken(Declined):
    """A response with 401. The description never contains the token, nor a claim of one that is not verified."""

    def __init__(self, cause: Cause, description: str) -> None:
        challenge = f'Bearer realm="lily", error="invalid_token", error_description="{_quotable(description)}"'
        super().__init__(401, Problem("UNAUTHENTICATED", description), {"WWW-Authenticate": challenge})
        self.cause = cause


class ProviderUnavailable(Transient):
    """The issuer's keys are not known, or too old to be relied on, and cannot be fetched at the moment."""


class TenantMissing(Transient):
    """The issuer is configured for a tenant that does not exist yet."""


def _quotable(text: str) -> str:
    """RFC 6750 allows printable ASCII without quotes and backslashes."""
    return "".join(letter if " " <= letter <= "~" and letter not in '"\\' else "'" for letter in text)
