"""Calls to addresses that a tenant chose: which of them Lily may reach, and signed messages that it posts there.

A tenant's URL must not lead into the operator's network. `Guard` resolves a name once, refuses what is not public, and
the connection goes to the very address that was checked. Whatever posts to such a URL uses `Poster`.
"""

from lily.outbound.endpoints import Endpoint, endpoint
from lily.outbound.guard import ForbiddenAddress, Guard, UnresolvedName
from lily.outbound.networks import Network
from lily.outbound.posting import Poster, Response, Unreachable
from lily.outbound.signatures import Signer, checked_secret

__all__ = [
    "Endpoint",
    "ForbiddenAddress",
    "Guard",
    "Network",
    "Poster",
    "Response",
    "Signer",
    "Unreachable",
    "UnresolvedName",
    "checked_secret",
    "endpoint",
]
