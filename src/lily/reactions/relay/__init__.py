"""The relay: what was committed leaves for the change log."""

from lily.reactions.relay.publisher import Relay

__all__ = ["Relay"]
