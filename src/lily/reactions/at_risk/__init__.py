"""At risk: what an incident puts at risk travels along the lineage."""

from lily.reactions.at_risk.reaction import AtRisk

__all__ = ["AtRisk"]
