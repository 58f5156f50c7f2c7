"""The feed: what propagation did, for listeners on the WebSocket."""

from lily.reactions.feed.reaction import Feed

__all__ = ["Feed"]
