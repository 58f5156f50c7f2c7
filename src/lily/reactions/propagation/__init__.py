"""Propagation: what changed travels along the lineage."""

from lily.reactions.propagation.reaction import Propagation

__all__ = ["Propagation"]
