"""Which addresses are public, whatever form they are written in."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_TEREDO = IPv6Network("2001::/32")
# Public by their numbers, at least in some versions of Python: services of cloud providers for their virtual machines,
# relays of 6to4, addresses of a site (which older networks still have), and those of documentation.
_SPECIAL = (
    IPv4Network("168.63.129.16/32"),
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),
    IPv6Network("fec0::/10"),
    IPv6Network("3fff::/20"),
)


def address_of(text: str) -> Address:
    """The address, as IPv4 if it is one inside IPv6. A zone (`%eth0`) is left out. Raises ValueError."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def is_permitted(address: Address, allowed: Iterable[Network]) -> bool:
    """Whether Lily may connect to it: it is public, or the operator allows its network."""
    return is_allowed(address, allowed) or all(map(_is_public, _reached(address)))


def is_allowed(address: Address, allowed: Iterable[Network]) -> bool:
    """Whether one of the networks has it."""
    return any(address in network for network in allowed if network.version == address.version)


def _reached(address: Address) -> list[Address]:
    """The address, and the IPv4 address that a gateway would translate it to."""
    if isinstance(address, IPv4Address):
        return [address]
    found: list[Address] = [address]
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if any(address in network for network in _NAT64):
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return found


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address in _TEREDO:
        return False  # a tunnel to an address that it hides
    special = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    return address.is_global and not special and not is_allowed(address, _SPECIAL)
