"""Incidents: statements and webhooks of `incident-events`, merged into PostgreSQL."""

from lily.reactions.incidents.names import look_for_names
from lily.reactions.incidents.reaction import Incidents

__all__ = ["Incidents", "look_for_names"]
