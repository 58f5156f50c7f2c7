"""Resolves the host of a URL, and refuses addresses that a tenant must not reach."""

import socket
from collections.abc import Callable, Iterable, Sequence

from lily.model.errors import Terminal, Transient
from lily.outbound.endpoints import Endpoint
from lily.outbound.networks import Network, address_of, is_allowed, is_permitted

Resolver = Callable[[str, int], Sequence[str]]
REMEDY = "Use a public address, or let the operator allow its network with LILY_OUTBOUND__ALLOWED_NETWORKS"


class ForbiddenAddress(Terminal):
    """The URL leads to an address that is not public, or would send messages without encryption to one that is."""


class UnresolvedName(Transient):
    """The host's name cannot be resolved now."""


def resolved(host: str, port: int) -> list[str]:
    """Every address of a name, the preferred one first. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for _, _, _, _, address in found))


class Guard:
    """`allowed` are networks that the operator permits although they are not public. `resolver` is the system's, unless
    one is given."""

    def __init__(self, allowed: Iterable[Network] = (), resolver: Resolver | None = None) -> None:
        self._allowed, self._resolver = tuple(allowed), resolver or resolved

    def permit(self, *listed: Endpoint) -> None:
        """Refuses early what a connection would be refused to: when someone configures it, and not only when it is
        called. A name that cannot be resolved now is checked then. Raises ForbiddenAddress."""
        for to in listed:
            try:
                self.addresses(to)
            except UnresolvedName:
                continue

    def addresses(self, to: Endpoint) -> list[str]:
        """The addresses of the endpoint, all of which may be connected to; connect to these and resolve no more.

        Raises ForbiddenAddress if one of them may not: a name that has a public and a private address is an attempt to
        reach the latter. The message does not have the address, which names of the operator's network would leak by.
        Raises UnresolvedName."""
        try:
            found = list(self._resolver(to.host, to.port))
        except (OSError, UnicodeError) as error:
            raise UnresolvedName(f"the host {to.host} cannot be resolved: {error}. It is tried again.") from error
        if not found:
            raise UnresolvedName(f"the host {to.host} has no address. It is tried again.")
        for text in found:
            address = address_of(text)
            if not is_permitted(address, self._allowed):
                raise ForbiddenAddress(f"the host {to.host} is in a private or reserved network. {REMEDY}.")
            if not to.is_encrypted and not is_allowed(address, self._allowed):
                raise ForbiddenAddress(f"messages to {to.host} would not be encrypted. Use https://, or TLS for mail.")
        return found
