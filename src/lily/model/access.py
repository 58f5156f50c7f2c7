"""The principal of a request: its user, its groups, its tenant and its scopes."""

from dataclasses import dataclass
from typing import Literal

Scope = Literal[
    "metadata:read",
    "metadata:write",
    "lineage:read",
    "lineage:write",
    "policy:read",
    "policy:write",
    "incidents:read",
    "incidents:write",
    "notifications:manage",
    "enforce:read",
    "metrics:read",
    "admin",
]


TOKEN_SECONDS = 90 * 86_400  # how long an API token is valid unless its creator says otherwise


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of an API token, or a user who signed in with an identity provider (`issuer`)."""

    token_id: str  # of an API token; otherwise empty
    tenant: str
    user: str
    scopes: frozenset[str]
    expires_at: float | None = None  # seconds since the epoch
    groups: frozenset[str] = frozenset()
    issuer: str = ""  # the URL of the identity provider; empty for an API token
    scraper_group: str = ""  # the token reads and writes only what the scraper policies of this group cover

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    @property
    def name(self) -> str:
        """What history and audit show: the user, or the token if it was issued without one."""
        return self.user or f"token:{self.token_id}"
