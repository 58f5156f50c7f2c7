"""Calls to addresses that a tenant chose: which of them Lily may reach, and signed messages that it posts there.

A tenant's URL must not lead into the operator's network. `Guard` resolves a name once, refuses what is not public, and
the connection goes to the very address that was checked. Whatever calls such a URL uses `Poster`, or `Caller` in a
coroutine.
"""

from lily.outbound.calling import Caller, Request
from lily.outbound.client_certificates import client_tls
from lily.outbound.endpoints import Endpoint, endpoint
from lily.outbound.guard import ForbiddenAddress, Guard, UnresolvedName
from lily.outbound.networks import Network
from lily.outbound.posting import Poster, Unreachable
from lily.outbound.responses import Response
from lily.outbound.signatures import Signer, checked_secret

__all__ = [
    "Caller",
    "Endpoint",
    "ForbiddenAddress",
    "Guard",
    "Network",
    "Poster",
    "Request",
    "Response",
    "Signer",
    "Unreachable",
    "UnresolvedName",
    "checked_secret",
    "client_tls",
    "endpoint",
]
