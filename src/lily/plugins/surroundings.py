"""What the operator, and not the tenant, states about where an enforcer or a channel runs: an optional port."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Protocol, TypeVar, runtime_checkable

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`target` is the name of the enforcement target or of the channel. `since` is when it was added, which
    distinguishes it from an earlier one of its name."""

    tenant: str
    target: str
    since: datetime
    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()  # that it may reach although they are not public
    kafka_bootstrap: str = ""  # of Lily's own Kafka
    kafka_replication: int = 1
    # How to log in there, in the names of librdkafka: a secret of the operator, not of the tenant.
    kafka_options: Mapping[str, str] = field(default_factory=dict, repr=False)


@runtime_checkable
class Situated(Protocol):
    """An enforcer or channel that needs its surroundings has this method; others lack it."""

    def situate(self, surroundings: Surroundings) -> None:
        """Called once, before any other method, also when a target is only validated. Raises Terminal if the
        configuration is not permitted there."""
        ...


def situated(plugin: P, surroundings: Surroundings) -> P:
    """The plug-in, after it got what it needs to know. Raises what the plug-in raises."""
    if isinstance(plugin, Situated):
        plugin.situate(surroundings)
    return plugin
