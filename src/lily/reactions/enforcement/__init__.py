"""Enforcement: notices what concerns a target, and brings the target in line with the decisions."""

from lily.reactions.enforcement.reaction import enforcement_reaction
from lily.reactions.enforcement.task import Enforcing

__all__ = ["Enforcing", "enforcement_reaction"]
